/** NSD and Knot DNS on a zone file, and what any of the servers says to a question with DO. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf } from '@dinodns-bench/test-support';
import { readRecords } from '../../src/wire/records.ts';
import { opt, sendTcp } from '../support/client.ts';
import { freePort, until } from '../support/server-process.ts';
import { query as encodeTestQuery } from '../table/ask.ts';
import { ZONE } from './signed-zone.ts';

export const REFERENCES = ['nsd', 'knotd'] as const;
export type Reference = (typeof REFERENCES)[number];

const CONFIGURATIONS: Record<Reference, (directory: string, port: number, file: string) => string> = {
  nsd: (directory, port, file) => `server:
  ip-address: 127.0.0.1@${port}
  port: ${port}
  username: ""
  chroot: ""
  zonesdir: "${directory}"
  xfrdir: "${directory}"
  database: ""
  zonelistfile: "${join(directory, 'nsd.list')}"
  xfrdfile: "${join(directory, 'nsd.state')}"
  pidfile: ""
  zonefiles-write: 0
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: "${ZONE}"
  zonefile: "${file}"
`,
  knotd: (directory, port, file) => `server:
    rundir: "${directory}"
    listen: 127.0.0.1@${port}
database:
    storage: "${directory}"
zone:
  - domain: ${ZONE}.
    file: "${file}"
`,
};

const ARGUMENTS: Record<Reference, (file: string) => string[]> = {
  nsd: (file) => ['-d', '-c', file],
  knotd: (file) => ['-c', file],
};

export interface RunningReference {
  readonly port: number;
  stop(): Promise<unknown>;
}

export async function startReference(
  name: Reference,
  directory: string,
  file: string,
): Promise<RunningReference> {
  const port = await freePort();
  const path = join(directory, `${name}.conf`);
  await writeFile(path, CONFIGURATIONS[name](directory, port, file));
  const child = spawn(pathOf(name), ARGUMENTS[name](path), { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (data) => {
    log += data;
  });
  const stop = () => {
    child.kill('SIGTERM');
    return exited;
  };
  const isReady = await until(async () => (await askOver(port, ZONE, 'SOA'))?.rcode === 0, 20);
  if (isReady) return { port, stop };
  await stop();
  throw new Error(`${name} did not start: ${log}`);
}

/** A reply's code, AA, and the records of its sections as text without order. */
export interface SignedView {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
}

export function signedQuery(name: string, type: string): Buffer {
  return encodeTestQuery(name, type, { flags: 0, additionals: [opt(65_535, { flags: 0x8000 })] });
}

export function viewOf(reply: Buffer, questionBytes: number): SignedView {
  const answers = readRecords(reply, questionBytes, reply.readUInt16BE(6));
  const authorities = readRecords(reply, answers.end, reply.readUInt16BE(8));
  const texts = (records: readonly object[]) =>
    records.map((record) => JSON.stringify(record).toLowerCase()).sort();
  const flags = reply.readUInt16BE(2);
  return {
    rcode: flags & 0xf,
    authoritative: (flags & 0x0400) !== 0,
    answers: texts(answers.records),
    authorities: texts(authorities.records),
  };
}

/** Over TCP, so that nothing is truncated. */
export async function askOver(port: number, name: string, type: string): Promise<SignedView | undefined> {
  const message = signedQuery(name, type);
  const reply = await sendTcp({ address: '127.0.0.1', port }, message);
  // Behind the question comes the OPT record, of eleven bytes.
  return reply === undefined ? undefined : viewOf(reply, message.length - 11);
}
