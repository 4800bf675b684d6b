/** BIND, NSD and Knot DNS on zone files, and what any of the servers says to a question with DO. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf } from '@dinodns-bench/test-support';
import { readRecords } from '../../src/wire/rdata.ts';
import { opt, sendTcp } from '../support/client.ts';
import { freePort, until } from '../support/server-process.ts';
import { query as encodeTestQuery } from '../table/ask.ts';

export const REFERENCES = ['nsd', 'knotd'] as const;
export type Reference = (typeof REFERENCES)[number] | 'named';

export interface ReferenceZone {
  readonly zone: string;
  readonly file: string;
}

const CONFIGURATIONS: Record<Reference, (directory: string, port: number, zones: string) => string> = {
  nsd: (directory, port, zones) => `server:
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
  server-count: 1
remote-control:
  control-enable: no
${zones}`,
  knotd: (directory, port, zones) => `server:
    rundir: "${directory}"
    listen: 127.0.0.1@${port}
database:
    storage: "${directory}"
zone:
${zones}`,
  named: (directory, port, zones) => `options {
  directory "${directory}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; pid-file none; minimal-responses no;
};
controls { };
${zones}`,
};

const ZONES: Record<Reference, (zone: ReferenceZone) => string> = {
  nsd: ({ zone, file }) => `zone:\n  name: "${zone}"\n  zonefile: "${file}"\n`,
  knotd: ({ zone, file }) => `  - domain: ${zone}.\n    file: "${file}"\n    semantic-checks: off\n`,
  named: ({ zone, file }) => `zone "${zone}" { type primary; file "${file}"; check-integrity no; };\n`,
};

const ARGUMENTS: Record<Reference, (file: string) => string[]> = {
  nsd: (file) => ['-d', '-c', file],
  knotd: (file) => ['-c', file],
  named: (file) => ['-g', '-n', '1', '-c', file],
};

export interface RunningReference {
  readonly port: number;
  stop(): Promise<unknown>;
}

export async function startReference(
  name: Reference,
  directory: string,
  zones: readonly ReferenceZone[],
): Promise<RunningReference> {
  const port = await freePort();
  const path = join(directory, `${name}.conf`);
  await writeFile(path, CONFIGURATIONS[name](directory, port, zones.map(ZONES[name]).join('')));
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
  const isReady = await until(
    async () => (await askOver(port, zones[0]?.zone ?? '.', 'SOA'))?.rcode === 0,
    20,
  );
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
  readonly additionals: readonly string[];
}

export function signedQuery(name: string, type: string): Buffer {
  return encodeTestQuery(name, type, { flags: 0, additionals: [opt(65_535, { flags: 0x8000 })] });
}

export function viewOf(reply: Buffer, questionBytes: number): SignedView {
  const answers = readRecords(reply, questionBytes, reply.readUInt16BE(6));
  const authorities = readRecords(reply, answers.end, reply.readUInt16BE(8));
  // Without the OPT record, which all servers write last.
  const additionals = readRecords(reply, authorities.end, reply.readUInt16BE(10) - 1);
  const texts = (records: readonly object[]) =>
    records.map((record) => JSON.stringify(record).toLowerCase()).sort();
  const flags = reply.readUInt16BE(2);
  return {
    rcode: flags & 0xf,
    authoritative: (flags & 0x0400) !== 0,
    answers: texts(answers.records),
    authorities: texts(authorities.records),
    additionals: texts(additionals.records),
  };
}

/** Over TCP, so that nothing is truncated. */
export async function askOver(port: number, name: string, type: string): Promise<SignedView | undefined> {
  const message = signedQuery(name, type);
  const reply = await sendTcp({ address: '127.0.0.1', port }, message);
  // Behind the question comes the OPT record, of eleven bytes.
  return reply === undefined ? undefined : viewOf(reply, message.length - 11);
}
