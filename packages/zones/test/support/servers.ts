/** Runs the installed servers with generated configuration. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, pathOf } from '@dinodns-bench/test-support';
import type { RenderOptions, ZoneSet } from '../../src/index.ts';
import { findFormat, writeFiles } from '../../src/index.ts';
import { ask } from './dns.ts';

/** A server program, and how to start it with one of the formats. */
export interface ServerUnderTest {
  readonly name: string;
  readonly tool: Program;
  readonly format: string;
  /** Arguments, for files in `directory`. */
  readonly args: (directory: string, port: number) => readonly string[];
  readonly options?: RenderOptions;
}

const corednsArgs = (directory: string) => ['-conf', join(directory, 'Corefile')];

export const servers: readonly ServerUnderTest[] = [
  { name: 'CoreDNS, template', tool: 'coredns', format: 'corefile', args: corednsArgs },
  {
    name: 'CoreDNS, template, multisocket 2',
    tool: 'coredns',
    format: 'corefile',
    args: corednsArgs,
    options: { coredns: { multisocket: 2 } },
  },
  { name: 'CoreDNS, file', tool: 'coredns', format: 'corefile-file', args: corednsArgs },
  { name: 'CoreDNS, auto', tool: 'coredns', format: 'corefile-auto', args: corednsArgs },
  { name: 'NSD', tool: 'nsd', format: 'nsd', args: (directory) => ['-d', '-c', join(directory, 'nsd.conf')] },
  {
    name: 'Knot DNS',
    tool: 'knotd',
    format: 'knot',
    args: (directory) => ['-c', join(directory, 'knot.conf')],
  },
  {
    name: 'BIND',
    tool: 'named',
    format: 'bind',
    args: (directory) => ['-f', '-L', 'named.log', '-n', '1', '-c', join(directory, 'named.conf')],
  },
  {
    name: 'PowerDNS',
    tool: 'pdns_server',
    format: 'powerdns',
    args: (directory) => [`--config-dir=${directory}`],
  },
  {
    name: 'Unbound',
    tool: 'unbound',
    format: 'unbound',
    args: (directory) => ['-d', '-c', join(directory, 'unbound.conf')],
  },
  {
    name: 'dnsmasq',
    tool: 'dnsmasq',
    format: 'dnsmasq',
    args: (directory) => ['--keep-in-foreground', `--conf-file=${join(directory, 'dnsmasq.conf')}`],
  },
];

/** The hosts plugin of CoreDNS reads hosts files. */
export const hostsServer: ServerUnderTest = {
  name: 'CoreDNS, hosts',
  tool: 'coredns',
  format: 'corefile-hosts',
  args: corednsArgs,
};

/** A port that the OS has just assigned for both UDP and TCP. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export interface Running {
  readonly port: number;
  readonly directory: string;
  stop(): Promise<void>;
}

export function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'dinodns-zones-test-'));
}

/** Starts the server with the zone set and resolves once it answers for the first zone. */
export async function startServer(server: ServerUnderTest, zoneSet: ZoneSet): Promise<Running> {
  const tool = pathOf(server.tool);
  const port = await freePort();
  const directory = await temporaryDirectory();
  try {
    const options = { directory, port, ...server.options };
    await writeFiles(directory, findFormat(server.format).render(zoneSet, options));
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  return startProcess([tool, ...server.args(directory, port)], directory, port, zoneSet);
}

/** Starts a program that serves the zone set from `directory` on `port`. */
export async function startProcess(
  [file = '', ...args]: readonly string[],
  directory: string,
  port: number,
  zoneSet: ZoneSet,
): Promise<Running> {
  const child = spawn(file, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(String(data)));
  const stop = async () => {
    await stopProcess(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(child, port, zoneSet);
  } catch (error) {
    await stop();
    throw new Error(`${file} did not start: ${String(error)}\n${output.join('').slice(-3000)}`);
  }
  return { port, directory, stop };
}

async function waitUntilReady(child: ChildProcess, port: number, zoneSet: ZoneSet): Promise<void> {
  const [zone] = zoneSet.zones();
  const end = Date.now() + 50_000;
  while (Date.now() < end) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`exited with ${child.exitCode}`);
    const answer = await ask(port, zone?.name ?? '', 'A', { timeout: 250 }).catch(() => undefined);
    if (answer?.rcode === 'NOERROR') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no answer within 50 s');
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(timer);
}
