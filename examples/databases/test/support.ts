/** The application as a process, its zones, and questions to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import dnsPacket, { type DecodedPacket } from 'dns-packet';
import { afterEach, expect } from 'vitest';

const EXAMPLE = join(import.meta.dirname, '..');
const ANSWER_SECONDS = 5;

const cleanups: (() => unknown)[] = [];
/** Runs after the test, the last one first. */
export function afterwards(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'databases-'));
  afterwards(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface Zone {
  readonly name: string;
  readonly records: readonly { name: string; ttl: number; type: string; data: unknown }[];
}

/** A zone with an SOA record and further ones as `[prefix, type, data]`. */
export function zoneOf(name: string, ...records: readonly [string, string, unknown][]): Zone {
  const soa = { mname: `ns1.${name}`, rname: 'admin.example.net', serial: 7 };
  const times = { refresh: 7200, retry: 1800, expire: 1209600, minimum: 40 };
  return {
    name,
    records: [['', 'SOA', { ...soa, ...times }] as const, ['', 'NS', `ns1.${name}`] as const, ...records].map(
      ([prefix, type, data]) => ({ name: `${prefix}${name}`, ttl: 60, type, data }),
    ),
  };
}

/** `zone0.example`, `zone1.example`, …, each with one address. */
export function manyZones(count: number, address: string): Zone[] {
  return Array.from({ length: count }, (_none, index) => zoneOf(`zone${index}.example`, ['', 'A', address]));
}

export function writeZones(directory: string, zones: readonly Zone[]): string {
  const header = { format: 'dinodns-zones', version: 1, zones: zones.length };
  const file = join(directory, 'zones.ndjson');
  writeFileSync(file, [header, ...zones].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** A program, ended after the test; SIGCONT first, should the test have stopped it. */
export function start(command: readonly string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
  const [program = '', ...flags] = command;
  const child = spawn(program, flags, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  afterwards(() => stopped(child));
  return child;
}

export const FILL = [process.execPath, join(EXAMPLE, 'fill.ts')];

/** Fills in a process of its own: its exit status, and what it said. */
export async function fill(store: string, zones: string, before: readonly string[] = []) {
  const child = start([...before, ...FILL, '--store', store, '--zones', zones]);
  let said = '';
  child.stderr?.on('data', (text) => {
    said += text;
  });
  const [status] = await once(child, 'close');
  return { status, said };
}

/** What `bench servers --check` says of the server that a file of the example describes. */
export async function checkWithBench(name: string): Promise<string> {
  const bench = join(EXAMPLE, '../../packages/bench-cli/bin/bench.js');
  const child = start([process.execPath, bench, 'servers', '--check', `${name}=${EXAMPLE}/${name}.yaml`]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      said += text;
    });
  }
  await once(child, 'close');
  return said;
}

export interface App {
  readonly port: number;
  readonly pid: number;
  readonly said: () => string;
  /** The code and the answer section of the reply. */
  ask(name: string, type?: string): Promise<{ rcode: string; answers: string[]; packet: DecodedPacket }>;
  /** The status of `/ready` or `/health`. */
  status(path: string): Promise<number>;
  signal(name: NodeJS.Signals): void;
}

let id = 0;

/** The reply to one question over UDP. */
export async function question(port: number, name: string, type = 'A'): Promise<DecodedPacket> {
  const socket = createSocket('udp4');
  try {
    id = (id + 1) % 65536;
    socket.send(
      dnsPacket.encode({ type: 'query', id, questions: [{ name, type: type as 'A' }] }),
      port,
      '127.0.0.1',
    );
    const [message] = await once(socket, 'message', { signal: AbortSignal.timeout(ANSWER_SECONDS * 1000) });
    return dnsPacket.decode(message);
  } finally {
    socket.close();
  }
}

/** Starts the application and waits until it serves. */
export async function startApp(store: string, ...flags: readonly string[]): Promise<App> {
  const child = start([
    ...[process.execPath, join(EXAMPLE, 'app.ts'), '--store', store],
    ...['--port', '0', '--health-port', '0', ...flags],
  ]);
  let said = '';
  child.stderr?.on('data', (text) => {
    said += text;
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ended = once(child, 'close').then(([status]) =>
    Promise.reject(new Error(`status ${status}: ${said}`)),
  );
  const [line] = await Promise.race([once(lines, 'line'), ended]);
  ended.catch(() => undefined);
  const { port, healthPort } = JSON.parse(line);
  return {
    port,
    pid: child.pid as number,
    said: () => said,
    async ask(name, type) {
      const packet = await question(port, name, type);
      const { rcode = '' } = packet as { rcode?: string };
      const answers = (packet.answers ?? []).map((record) => String('data' in record ? record.data : ''));
      return { rcode, answers, packet };
    },
    async status(path) {
      return (await fetch(`http://127.0.0.1:${healthPort}${path}`)).status;
    },
    signal: (name) => child.kill(name),
  };
}

/** Asks again and again until `until` is aborted; the distinct answers, and the longest time that one took. */
export async function askAllTheTime(app: App, name: string, until: AbortSignal) {
  const seen = new Set<string>();
  let slowestSeconds = 0;
  while (!until.aborted) {
    const start = performance.now();
    const { rcode, answers } = await app.ask(name);
    slowestSeconds = Math.max(slowestSeconds, (performance.now() - start) / 1000);
    seen.add([rcode, ...answers].join(' '));
  }
  return { seen: [...seen].sort(), slowestSeconds };
}

const rcodeOf = async (app: App, name: string) => (await app.ask(name)).rcode;

/** Until the application answers this question so, for at most the seconds of `expect.poll`. */
export const expectRcode = (app: App, name: string, rcode: string) =>
  expect.poll(() => rcodeOf(app, name), { timeout: 15_000, interval: 100 }).toBe(rcode);
