/** CoreDNS as a cluster runs it, beside an API server and an upstream of ours. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathOf } from '@dinodns-bench/test-support';
import { type CorefileOptions, renderCorefile } from '../../src/index.ts';
import { ask } from './dns.ts';

/** The versions of the published experiments and the one that runs use. */
const VERSIONS = ['1.11.3', '1.13.1', '1.15.0'];

export interface Program {
  readonly version: string;
  readonly path: string;
}

/** Those that are in the cache beside the one that tests need. */
export function corednsVersions(): Program[] {
  const cache = dirname(dirname(pathOf('coredns')));
  return VERSIONS.map((version) => ({ version, path: join(cache, version, 'coredns') })).filter(({ path }) =>
    existsSync(path),
  );
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = await Promise.all(
    servers.map(async (server) => {
      await once(server, 'listening');
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    }),
  );
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

export interface RunningCoredns {
  readonly port: number;
  /** What it has written so far. */
  output(): string;
  /** Bytes: now, and the most so far. */
  memory(): { readonly rss: number; readonly peak: number };
  /** A value of its metrics; the sum of all with this name. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

/** `/ready` is true a moment before the sockets are open, so that both count. */
async function isReady(url: string, port: number): Promise<boolean> {
  const answer = await fetch(url).catch(() => null);
  if (answer?.ok !== true) return false;
  const question = { name: 'nothing.invalid', type: 'A' } as const;
  return ask(port, question, 100).then(
    () => true,
    () => false,
  );
}

async function untilReady(
  child: ChildProcess,
  ready: () => Promise<boolean>,
  output: () => string,
): Promise<void> {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error(`CoreDNS ended:\n${output()}`);
    if (await ready()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`CoreDNS was not ready within 60 s:\n${output()}`);
}

function memoryOf(pid: number | undefined): { rss: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return { rss: kilobytes('VmRSS') * 1024, peak: kilobytes('VmHWM') * 1024 };
}

async function metricOf(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Resolves once it is ready, which it is not before it has all objects. */
export async function startCoredns(program: string, options: CorefileOptions): Promise<RunningCoredns> {
  const [port = 0, health, ready = 0, metrics = 0] = await freePorts(4);
  const directory = await mkdtemp(join(tmpdir(), 'cluster-coredns-'));
  const local = { port, address: '127.0.0.1', lameduckSeconds: 0, health: `127.0.0.1:${health}` };
  const corefile = renderCorefile({
    ...local,
    ready: `127.0.0.1:${ready}`,
    metrics: `127.0.0.1:${metrics}`,
    ...options,
  });
  await writeFile(join(directory, 'Corefile'), corefile);
  const child = spawn(program, ['-conf', join(directory, 'Corefile')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => lines.push(String(data)));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await untilReady(
      child,
      () => isReady(`http://127.0.0.1:${ready}/ready`, port),
      () => lines.join(''),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    output: () => lines.join(''),
    memory: () => memoryOf(child.pid),
    metric: (name) => metricOf(metrics, name),
    stop,
  };
}
