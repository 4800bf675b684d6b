/** Where queries are lost, each place provoked between two network namespaces made for it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CannonInput } from '@dinodns-bench/load';
import { fileNeeds, namespaceName } from '@dinodns-bench/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { parseEvent } from '../src/loaders/builtin/events.ts';
import { loaderCountsOf, loadResultOf } from '../src/loaders/builtin/result.ts';
import type { LoaderCounts } from '../src/loaders/loader.ts';
import { explainLosses } from '../src/measure/explain-losses.ts';
import { openLossMeter } from '../src/measure/loss-meter.ts';
import { adviceFor, placesText } from '../src/report/losses.ts';
import type { Losses, LossPlace } from '../src/results/record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('ip', 'tc', 'iptables', 'cc', 'root');

const run = promisify(execFile);
const ip = (...args: string[]) => run('ip', args);
const [client, site] = [namespaceName('client'), namespaceName('site')];
const SITE = '10.98.0.2';
const serverProgram = fileURLToPath(new URL('support/losing-server.ts', import.meta.url));
const driver = fileURLToPath(import.meta.resolve('@dinodns-bench/load/driver'));

/** In a namespace, until the test ends. */
const running: ReturnType<typeof spawn>[] = [];
function start(namespace: string, ...command: string[]) {
  const child = spawn('ip', ['netns', 'exec', namespace, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  return child;
}
async function firstLine(child: ReturnType<typeof spawn>): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  const [data] = await once(child.stdout, 'data');
  return String(data).trim();
}

beforeAll(async () => {
  for (const name of [client, site]) {
    await ip('netns', 'add', name);
    await ip('-n', name, 'link', 'set', 'lo', 'up');
  }
  await ip('link', 'add', 'wire', 'netns', client, 'type', 'veth', 'peer', 'name', 'wire', 'netns', site);
  await ip('-n', client, 'addr', 'add', '10.98.0.1/24', 'dev', 'wire');
  await ip('-n', site, 'addr', 'add', `${SITE}/24`, 'dev', 'wire');
  for (const name of [client, site]) await ip('-n', name, 'link', 'set', 'wire', 'up');
});
afterAll(async () => {
  for (const name of [client, site]) await ip('netns', 'del', name);
});

let world: TestWorld;
let holder: ReturnType<typeof spawn>;
beforeEach(async () => {
  world = await testWorld();
  await writeFile(join(world.directory, 'queries.txt'), 'www.example1.com A\nwww.example3.com A\n');
  holder = start(client, 'sh', '-c', 'echo ready; exec sleep 60');
  await firstLine(holder);
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await world.remove();
});

interface Server {
  readonly pid: number;
  readonly port: number;
}

async function startServer(options: Readonly<Record<string, number>> = {}): Promise<Server> {
  const child = start(site, process.execPath, serverProgram, JSON.stringify({ address: SITE, ...options }));
  const port = Number(await firstLine(child));
  if (child.pid === undefined) throw new Error('not started');
  return { pid: child.pid, port };
}

interface Scene {
  readonly load?: Partial<CannonInput>;
  /** Where the load generator runs; on any CPU unless given. */
  readonly cpu?: number;
  /** Once the load has begun. */
  readonly meanwhile?: () => Promise<void>;
  /** What the load generator would not tell if it were another one. */
  readonly hide?: (counts: LoaderCounts) => LoaderCounts;
}

/** The losses of half a second of load, explained. */
async function losses(
  { pid, port }: Server,
  { load = {}, cpu, meanwhile, hide }: Scene = {},
): Promise<Losses> {
  if (holder.pid === undefined) throw new Error('not started');
  const meter = await openLossMeter(world, {
    endpoints: [{ address: SITE, port }],
    serverPid: pid,
    loaderPid: holder.pid,
  });
  const input: CannonInput = {
    server: `${SITE}:${port}`,
    workload: { kind: 'file', path: join(world.directory, 'queries.txt') },
    load: { kind: 'constant', rate: 4000 },
    durationSeconds: 0.5,
    timeoutSeconds: 0.5,
    clients: 4,
    ...load,
  };
  const before = await meter();
  const pin = cpu === undefined ? [] : ['taskset', '-c', String(cpu)];
  const sending = start(client, ...pin, process.execPath, driver, JSON.stringify(input));
  let output = '';
  sending.stdout?.on('data', (data) => {
    output += String(data);
  });
  await meanwhile?.();
  await once(sending, 'close');
  const after = await meter();
  const event = parseEvent(output.trimEnd().split('\n').at(-1) ?? '');
  if (event?.event !== 'result') throw new Error(output.slice(-500));
  const counts = loaderCountsOf(event.result);
  return explainLosses(loadResultOf(event.result, []), hide?.(counts) ?? counts, { before, after });
}

/** So slow a machine or so fast a load that the server's own buffer loses some besides. */
const BESIDES: readonly LossPlace[] = ['server-buffer'];

/** At least so many were lost, 99 % of them in these places, in each of them some, and in no other. */
function expectPlaces(found: Losses, places: readonly LossPlace[], atLeast = 100): void {
  const shown = `${found.lost} lost: ${placesText(found.places)}; ${JSON.stringify(found.counters)}`;
  const known = found.places.filter(({ place }) => place !== 'unknown');
  const explained = known.reduce((sum, { queries }) => sum + queries, 0);
  expect(found.lost, shown).toBeGreaterThanOrEqual(atLeast);
  expect(explained, shown).toBeGreaterThanOrEqual(found.lost * 0.99);
  const names = known.map(({ place }) => place);
  expect(names, shown).toEqual(expect.arrayContaining([...places]));
  expect([...places, ...BESIDES], shown).toEqual(expect.arrayContaining(names));
  expect(found.places.reduce((sum, { queries }) => sum + queries, 0)).toBe(found.lost);
  expect(found.unread).toEqual([]);
}

async function whileIn(
  namespace: string,
  add: readonly string[],
  remove: readonly string[],
  scene: () => Promise<void>,
) {
  await ip('netns', 'exec', namespace, ...add);
  try {
    await scene();
  } finally {
    await ip('netns', 'exec', namespace, ...remove);
  }
}

it('says nothing where nothing was lost', async () => {
  expect((await losses(await startServer(), { load: { load: { kind: 'constant', rate: 500 } } })).lost).toBe(
    0,
  );
});

it('finds what a stopped server lost in its socket buffer, and what still waits there', async () => {
  const server = await startServer({ bufferBytes: 100_000 });
  process.kill(server.pid, 'SIGSTOP');
  // On a busy machine, not all of the 2,000 queries are sent.
  expectPlaces(await losses(server), ['server-buffer', 'server-queue'], 500);
});

it('finds what a small socket buffer of the server lost', async () => {
  const server = await startServer({ bufferBytes: 2304 });
  const burst = { load: { kind: 'closed', outstanding: 2000 }, clients: 20 } as const;
  expectPlaces(await losses(server, { load: burst }), ['server-buffer']);
});

it("finds what the load generator's own socket buffers lost, also where it does not count that itself", async () => {
  const scene = {
    load: { load: { kind: 'closed', outstanding: 150 }, clients: 1, receiveBufferBytes: 4096 },
  } as const;
  const server = await startServer();
  expectPlaces(await losses(server, scene), ['loader-buffer']);
  const hide = (counts: LoaderCounts) => ({ ...counts, bufferDrops: null });
  expectPlaces(await losses(server, { ...scene, hide }), ['loader-buffer']);
});

/** Rules that nothing matches, so that every packet takes its time. */
const SLOW_RULES = [
  '*filter',
  ...Array.from({ length: 4000 }, (_, i) => `-A INPUT -s 192.0.2.${i % 250} -j DROP`),
  'COMMIT',
];

it('finds what found no room in the queue of received packets of a CPU', async () => {
  const server = await startServer();
  const rules = join(world.directory, 'rules');
  await writeFile(rules, `${SLOW_RULES.join('\n')}\n`);
  // Received packets of the site wait for the first CPU, whichever sent them.
  const steer = 'echo 1 > /sys/class/net/wire/queues/rx-0/rps_cpus';
  const slow = ['sh', '-c', `iptables-restore -w < ${rules} && ${steer}`];
  const flush = ['sh', '-c', 'iptables -w -F && echo 0 > /sys/class/net/wire/queues/rx-0/rps_cpus'];
  await whileIn(site, slow, flush, async () => {
    // A packet that waits takes room in the send buffer of its socket: a few sockets would be held back before the
    // queue is full, and so would a load generator on that CPU.
    const load = { load: { kind: 'constant', rate: 200_000 }, segmentation: 'off', clients: 50 } as const;
    expectPlaces(await losses(server, { load, cpu: 1 }), ['softnet']);
  });
});

it('finds what the queue of a network device dropped, of queries that are sent as one message, too', async () => {
  const server = await startServer();
  const queue = ['tc', 'qdisc', 'add', 'dev', 'wire', 'root', 'tbf'];
  const shape = ['rate', '1mbit', 'burst', '4kb', 'limit', '4kb'];
  await whileIn(client, [...queue, ...shape], ['tc', 'qdisc', 'del', 'dev', 'wire', 'root'], async () => {
    expectPlaces(await losses(server), ['qdisc'], 500);
    const burst = { load: { kind: 'closed', outstanding: 500 } } as const;
    expectPlaces(await losses(server, { load: burst }), ['qdisc']);
  });
});

it('finds what a firewall dropped on arrival, and what it refused to let out', async () => {
  const server = await startServer();
  const rule = (chain: string) => [
    ...[chain, '-p', 'udp', '--dport', String(server.port)],
    ...['-m', 'statistic', '--mode', 'random', '--probability', '0.1', '-j', 'DROP'],
  ];
  await whileIn(
    site,
    ['iptables', '-w', '-A', ...rule('INPUT')],
    ['iptables', '-w', '-D', ...rule('INPUT')],
    async () => {
      expectPlaces(await losses(server), ['firewall']);
    },
  );
  await whileIn(
    client,
    ['iptables', '-w', '-A', ...rule('OUTPUT')],
    ['iptables', '-w', '-D', ...rule('OUTPUT')],
    async () => {
      expectPlaces(await losses(server), ['not-sent']);
    },
  );
});

/** Fills the connection tracking table of a namespace but for a few entries. The limit is that of the machine. */
async function fillTable(namespace: string, left: number): Promise<void> {
  const program = join(world.directory, 'fill-conntrack');
  const source = fileURLToPath(new URL('support/fill-conntrack.c', import.meta.url));
  await run('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', program, source]);
  const max = (await readFile('/proc/sys/net/netfilter/nf_conntrack_max', 'utf8')).trim();
  await ip('netns', 'exec', namespace, program, max, String(left));
}

/** Without a rule that needs it, a namespace has no connection tracking. */
async function whileTracked(namespace: string, scene: () => Promise<void>): Promise<void> {
  const rule = (change: string) =>
    ['iptables', '-w', change, 'INPUT', '-m', 'conntrack', '--ctstate', 'NEW', '-j', 'ACCEPT'] as const;
  await whileIn(namespace, rule('-A'), rule('-D'), scene);
}

it('finds what the full table of connection tracking dropped on arrival, and tells how to avoid it', async () => {
  const server = await startServer();
  await whileTracked(site, async () => {
    await fillTable(site, 1);
    // Of four sockets, the first that sends gets the last entry.
    const found = await losses(server, { load: { segmentation: 'off' } });
    expectPlaces(found, ['conntrack'], 500);
    expect(found.lost).toBeLessThan(2000);
    expect(adviceFor(found.places)).toContain('nf_conntrack_max');
    const burst = { load: { kind: 'closed', outstanding: 500 } } as const;
    expectPlaces(await losses(server, { load: burst }), ['conntrack']);
  });
});

it('finds what the full table of connection tracking did not let out', async () => {
  const server = await startServer();
  await whileTracked(client, async () => {
    await fillTable(client, 1);
    expectPlaces(await losses(server), ['conntrack'], 500);
  });
});

it('finds the queries that the server read and ignored', async () => {
  expectPlaces(await losses(await startServer({ ignoreEvery: 10 })), ['server']);
});

it('finds the answers that came too late', async () => {
  const server = await startServer({ delaySeconds: 0.3 });
  // Those of the last 0.2 s come when nobody listens any more.
  const found = await losses(server, {
    load: { load: { kind: 'constant', rate: 1000 }, durationSeconds: 1, timeoutSeconds: 0.2 },
  });
  expectPlaces(found, ['late', 'server']);
  expect(found.places.find(({ place }) => place === 'late')?.queries).toBeGreaterThan(found.lost * 0.7);
});

it('says what cannot be known of a server that is elsewhere', async () => {
  const server = await startServer({ ignoreEvery: 10 });
  const meter = await openLossMeter(world, {
    endpoints: [{ address: SITE, port: server.port }],
    serverPid: null,
  });
  const reading = await meter();
  expect(reading.sockets).toBeNull();
  const found = explainLosses(
    { queriesSent: 10, queriesCompleted: 9, queriesLost: 1 },
    { bufferDrops: 0, sendErrors: 0, late: 0, strays: 0 },
    { before: reading, after: reading },
  );
  expect(found.places).toEqual([{ place: 'unknown', queries: 1 }]);
  expect(found.unread).toEqual([expect.stringContaining("the server's sockets are not on this machine")]);
});
