/** What the tests of the local target share: servers as scripts, and groups of a run of their own. */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ZoneSet } from '@dinodns-bench/zones';
import type { DnsQuery } from '../src/dns/client.ts';
import type { InstancePlan, Server } from '../src/servers/server.ts';
import { realWorld, type World } from '../src/world.ts';

/** A run id that no other test uses. */
export function uniqueRunId(): string {
  return `test-${randomBytes(4).toString('hex')}`;
}

/**
 * The paths of all control groups. Not by a recursive `readdir`, which fails when one goes away meanwhile: those of other tests and of
 * pods come and go all the time.
 */
export async function controlGroups(directory = '/sys/fs/cgroup'): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const own = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
  const below = await Promise.all(own.map((group) => controlGroups(group).catch(() => [])));
  return [...own, ...below.flat()];
}

/** The real world with some of its file system functions replaced. */
export function worldWithFs(changes: Partial<World['fs']>): World {
  const world = realWorld();
  return { ...world, fs: { ...world.fs, ...changes } };
}

/** An error as the kernel's, for faults that cannot be provoked as root. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: provoked by a test`), { code });
}

/** Servers in these tests are scripts that know their answers; nothing looks into the zone set. */
export const noZones = { size: 0 } as ZoneSet;
export const exampleQueries = (): readonly DnsQuery[] => [{ name: 'www.example.com', type: 'A' }];

/** Answers every query over UDP and TCP with NOERROR and no records: its own bytes with QR set. */
export const ECHO_SERVER = `
const answer = (query) => { const bytes = Buffer.from(query); bytes[2] |= 0x80; return bytes; };
const [address, port] = [process.argv[1], Number(process.argv[2])];
const udp = require('node:dgram').createSocket('udp4');
udp.on('message', (query, from) => udp.send(answer(query), from.port, from.address));
const tcp = require('node:net').createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', (data) => socket.write(Buffer.concat([data.subarray(0, 2), answer(data.subarray(2))])));
});
udp.bind(port, address, () => tcp.listen(port, address, () => {
  console.log(JSON.stringify({ ready: true, pid: process.pid, workers: 3 }));
}));
`;

/** A server kind that runs a Node.js script with the address and the port as arguments. */
export function scriptServer(
  script: string,
  changes: Partial<InstancePlan> = {},
  command?: (address: string, port: number) => readonly string[],
): Server {
  return {
    name: 'script',
    kind: 'script',
    variant: null,
    version: null,
    isVersionNamed: false,
    title: 'Script',
    program: null,
    image: null,
    answersUnknownZoneWith: 'REFUSED',
    unsupported: () => null,
    plan: ({ address, port, program }) => ({
      files: [],
      command: command?.(address, port) ?? [...program, '-e', script, address, String(port)],
      env: {},
      readiness: { kind: 'answer' },
      workers: null,
      ...changes,
    }),
    versionArguments: ['--version'],
    parseVersion: () => null,
  };
}
