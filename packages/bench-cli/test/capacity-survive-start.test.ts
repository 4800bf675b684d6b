/** One start of `bench capacity survive`, with a CoreDNS and an API server of the test: which peak it reports, and how it ends. */
import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { defineCluster, serviceName } from '@dinodns-bench/cluster-objects';
import { decode, encode } from 'dns-packet';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BenchError, LateError } from '../src/errors.ts';
import { patienceSeconds } from '../src/experiments/capacity/survive/patience.ts';
import { type StartContext, startUnder } from '../src/experiments/capacity/survive/start.ts';
import { oneAtATime } from '../src/one-at-a-time.ts';
import type { World } from '../src/world.ts';

const CLUSTER = defineCluster({ services: 60, pods: 100, endpoints: 100 });
const RESOURCES = ['namespaces', 'services', 'endpointslices'];
const MEGABYTE = 1e6;
const OUTAGE_SECONDS = 3;

/** Ten seconds of it pass in one. */
const SPEED = 10;
const monotonicSeconds = () => (performance.now() / 1000) * SPEED;
const clock = {
  monotonicSeconds,
  sleep: (seconds: number, signal?: AbortSignal) => delay((seconds / SPEED) * 1000, undefined, { signal }),
  after: (seconds: number, action: () => void) => {
    const timer = setTimeout(action, (seconds / SPEED) * 1000);
    return () => clearTimeout(timer);
  },
} as unknown as World['clock'];

let dns: Socket;
let ready: Server;
/** What happened, and whether memory rose meanwhile. */
let events: string[];

beforeEach(async () => {
  events = [];
  dns = createSocket('udp4');
  const addresses = new Map(
    Array.from({ length: 60 }, (_, index) => CLUSTER.service(index)).map((service) => [
      serviceName(CLUSTER, service).replace(/\.$/, ''),
      service.addresses[0] ?? '',
    ]),
  );
  dns.on('message', (message, from) => {
    const { id = 0, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const data = addresses.get(name) ?? '10.9.9.9';
    const answers = [{ name, type: 'A', ttl: 5, data } as const];
    dns.send(encode({ type: 'response', id, questions, answers }), from.port, from.address);
  });
  await new Promise<void>((listening) => dns.bind(0, '127.0.0.1', listening));
  ready = createServer((_, response) => response.end('OK'));
  await new Promise<void>((listening) => ready.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  dns.close();
  await new Promise((closed) => ready.close(closed));
});

/** For this long, memory rises after an event: longer than anything but the wait for it takes. Then it is free again. */
const RISE_SECONDS = 6;

/** Megabytes between two events. */
const REST = 30;

/** Memory as the kernel tells it. */
function memory() {
  let riseFrom = monotonicSeconds();
  let target = 100;
  let highest = 0;
  let lookedAt = riseFrom;
  const elapsed = () => (monotonicSeconds() - riseFrom) / RISE_SECONDS;
  const now = () => (elapsed() > 1 ? REST : REST + (target - REST) * elapsed());
  const note = (text: string) =>
    events.push(`${text} ${elapsed() > 1 ? 'after' : 'during'} the rise to ${target} MB`);
  return {
    note,
    rise(megabytes: number): void {
      note(`${megabytes} MB`);
      [riseFrom, target] = [monotonicSeconds(), megabytes];
    },
    forget(): void {
      lookedAt = monotonicSeconds();
      highest = now();
    },
    status(): string {
      // The kernel also sees what nobody looks at: a busy machine may not look before the rise is over.
      const reached = lookedAt > riseFrom + RISE_SECONDS ? 0 : Math.min(1, elapsed());
      highest = Math.max(highest, REST + (target - REST) * reached);
      lookedAt = monotonicSeconds();
      const kilobytes = (value: number) => Math.round((value * MEGABYTE) / 1024);
      return [
        `VmHWM:\t${kilobytes(highest)} kB`,
        `VmRSS:\t${kilobytes(now())} kB`,
        `RssAnon:\t${kilobytes(now())} kB`,
        'RssFile:\t0 kB',
        'RssShmem:\t0 kB',
      ].join('\n');
    },
  };
}

function contextOf(
  changes: {
    status?: () => Promise<never>;
    announce?: () => Promise<{ name: string; address: string }>;
    kills?: number;
    /** Pages that were read again before CoreDNS starts, and later. */
    rereads?: readonly (number | null)[];
    gomemlimit?: string;
    /** The API server answers nothing any more from the relist on. */
    fallsSilent?: boolean;
  } = {},
  used = memory(),
): StartContext {
  const rereads = [...(changes.rereads ?? [7, 12_807])];
  let reads = 1;
  let isSilent = false;
  const never = new Promise<never>(() => undefined);
  const api = {
    status: async () =>
      isSilent
        ? never
        : {
            reads: Object.fromEntries(RESOURCES.map((name) => [name, reads])),
            lists: {},
            openWatches: RESOURCES.length,
          },
    announce: () => Promise.resolve({ name: 'new.example', address: '10.9.9.9' }),
    expire: async () => {
      isSilent = changes.fallsSilent === true;
      if (isSilent) await never;
      reads += 1;
      used.rise(80);
    },
    replace: async () => {
      used.rise(60);
      return [{ name: 'replaced.example', address: '10.9.9.9' }];
    },
    outage: async (seconds: number) => {
      void delay((seconds / SPEED) * 1000).then(() => {
        reads += 1;
        used.rise(70);
      });
    },
    ...changes,
  };
  const fs = {
    readFile: async () => used.status(),
    writeFile: async () => used.forget(),
  };
  const { port } = dns.address();
  return {
    ...{ limitBytes: 200 * MEGABYTE, outageSeconds: OUTAGE_SECONDS, signal: new AbortController().signal },
    usual: {},
    world: { clock, fs } as unknown as World,
    point: {
      key: 'case',
      configuration: 'nocache',
      objects: 160,
      cluster: CLUSTER.spec,
      gomemlimit: changes.gomemlimit ?? 'none',
    },
    group: {
      kills: () => Promise.resolve(changes.kills ?? 0),
      rereads: () => Promise.resolve((rereads.length > 1 ? rereads.shift() : rereads[0]) ?? null),
    },
    queries: { load: 'load.txt', fill: 'fill.txt', few: 'few.txt' },
    alone: oneAtATime(),
    prepare: () => Promise.resolve('/copy/of/coredns'),
    deploy: () =>
      Promise.resolve({
        deployment: { remove: () => Promise.resolve() },
        instance: { address: '127.0.0.1', port },
        running: {
          ...{ pid: 1, api, startedAtSeconds: monotonicSeconds(), died: new Promise<never>(() => undefined) },
          readyPort: (ready.address() as AddressInfo).port,
        },
      } as unknown as Awaited<ReturnType<StartContext['deploy']>>),
    load: async (_, { seconds, isPaced, onStarted, signal }) => {
      expect(isPaced).toBe(true);
      onStarted?.();
      await clock.sleep(seconds, signal);
      const result = { queriesSent: 100 * seconds, queriesLost: 1, responseCodes: {} };
      return { result } as unknown as Awaited<ReturnType<StartContext['load']>>;
    },
    onPhase: () => undefined,
  };
}

it('waits until memory rises no more in every scenario, and reports the largest peak of all', async () => {
  const used = memory();
  const { result, streamed } = await startUnder(contextOf({}, used));
  used.note('end');
  expect(result).toMatchObject({ outcome: 'survived', during: null });
  expect(result.scenarios.map(({ name }) => name)).toEqual([
    'cold start',
    'relist',
    'replaced endpoints',
    'API server outage',
  ]);
  expect(streamed).toEqual(RESOURCES);
  // Each scenario needs less than the cold start: without a new peak for each, it would be over at once.
  expect(events).toEqual([
    '80 MB after the rise to 100 MB',
    '60 MB after the rise to 80 MB',
    '70 MB after the rise to 60 MB',
    'end after the rise to 70 MB',
  ]);
  // That of the cold start: all later ones are smaller.
  expect(result.peakBytes).toBeCloseTo(100 * MEGABYTE, -4);
  for (const { name, queries } of result.scenarios)
    if (name !== 'cold start') expect(queries?.sent, name).toBeGreaterThan(0);
});

it('counts as stuck after ten times what a step took in a start that survived, and ends CoreDNS before another start begins', async () => {
  const begin = monotonicSeconds();
  let removedAt = 0;
  const context = contextOf({
    announce: () => Promise.resolve({ name: 'new.example', address: '10.0.0.1' }),
  });
  const start = startUnder({
    ...context,
    usual: { 'cold start': 8, relist: 2 },
    deploy: async (executable, signal) => ({
      ...(await context.deploy(executable, signal)),
      deployment: {
        remove: async () => {
          removedAt ||= monotonicSeconds();
        },
      } as unknown as Awaited<ReturnType<StartContext['deploy']>>['deployment'],
    }),
  });
  const nextAt = delay(100).then(() => context.alone(() => Promise.resolve(monotonicSeconds())));
  const { result, steps } = await start;
  expect(result).toMatchObject({ outcome: 'stuck', during: 'relist', peakBytes: null });
  expect(Object.keys(steps)).toEqual(['cold start', 'full cache']);
  const relistSeconds = removedAt - begin - (steps['cold start'] ?? 0);
  expect(relistSeconds).toBeGreaterThan(20);
  // Without such a start, it would be more than 90.
  expect(relistSeconds).toBeLessThan(80);
  expect(await nextAt).toBeGreaterThanOrEqual(removedAt);
});

it('counts as stuck while it is being deployed, and waits until nothing of that is left', async () => {
  let isClean = false;
  const { result } = await startUnder({
    ...contextOf(),
    usual: { 'cold start': 1 },
    deploy: async (_, signal) => {
      await clock.sleep(1000, signal).catch(() => undefined);
      await clock.sleep(5);
      isClean = true;
      throw signal.reason;
    },
  });
  expect(result).toMatchObject({ outcome: 'stuck', during: 'cold start', scenarios: [] });
  expect(isClean).toBe(true);
});

it('is patient by what a start has to do, and waits for an outage besides', () => {
  const cluster = { services: 1600, pods: 30_000, endpoints: 15_000 };
  expect(patienceSeconds('cold start', {}, cluster, 120)).toBeCloseTo(136.6);
  expect(patienceSeconds('cold start', { 'cold start': 3 }, cluster, 120)).toBe(55);
  expect(patienceSeconds('relist', { relist: 3 }, cluster, 120)).toBe(30);
  expect(patienceSeconds('cold start', { 'cold start': 0.5 }, cluster, 120)).toBe(55);
  expect(patienceSeconds('relist', { relist: 0.5 }, cluster, 120)).toBe(15);
  expect(patienceSeconds('cold start', { 'cold start': 20 }, cluster, 120)).toBeCloseTo(136.6);
  // Two waits of client-go, of at most a minute each.
  expect(patienceSeconds('API server outage', { relist: 3 }, cluster, 120)).toBe(150);
  expect(patienceSeconds('API server outage', { relist: 3 }, cluster, 10)).toBe(78);
});

it('is not stuck where fewer pages than its program has were read again: something else was slow', async () => {
  const announce = () => Promise.resolve({ name: 'new.example', address: '10.0.0.1' });
  const startWith = (changes: object) =>
    startUnder({ ...contextOf({ announce, rereads: [7, 12_806], ...changes }), usual: { relist: 1 } });
  await expect(startWith({})).rejects.toMatchObject({
    code: 'E_NO_ANSWER',
    message: 'relist: CoreDNS took too long, but not for want of memory',
  });
  // Collecting may take all its time, and an old kernel does not say.
  const stuck = { result: { outcome: 'stuck', during: 'relist' } };
  expect(await startWith({ gomemlimit: '80%' })).toMatchObject(stuck);
  expect(await startWith({ rereads: [null] })).toMatchObject(stuck);
});

it('is stuck where CoreDNS runs and does not answer, not where it cannot start; what was prepared takes none of its time', async () => {
  const prepared: string[] = [];
  const deployedBy = (error: Error) => {
    const context: StartContext = {
      ...contextOf(),
      prepare: async () => {
        await clock.sleep(20);
        return '/copy/of/coredns';
      },
      deploy: async (executable) => {
        prepared.push(executable);
        throw error;
      },
    };
    return startUnder(context);
  };
  const late = new LateError('E_SERVER_START', 'it did not answer within 90 seconds', { fix: '' });
  expect((await deployedBy(late)).result).toMatchObject({ outcome: 'stuck', during: 'cold start' });
  const broken = new BenchError('E_SERVER_START', 'no such program', { fix: '' });
  await expect(deployedBy(broken)).rejects.toBe(broken);
  expect(prepared).toEqual(['/copy/of/coredns', '/copy/of/coredns']);
  const { steps } = await startUnder({
    ...contextOf(),
    prepare: async () => {
      await clock.sleep(60);
      return '';
    },
  });
  expect(steps['cold start']).toBeLessThan(60);
});

it('fails where the API server of the measurement is silent from the beginning: CoreDNS cannot get ready then', async () => {
  const never = () => new Promise<never>(() => undefined);
  const start = startUnder({ ...contextOf({ status: never }), usual: { 'cold start': 0.1 } });
  await expect(start).rejects.toThrow('the API server of the measurement did not answer');
});

it('fails where the API server of the measurement falls silent: CoreDNS is not stuck then', async () => {
  const start = startUnder({ ...contextOf({ fallsSilent: true }), usual: { relist: 0.1 } });
  await expect(start).rejects.toThrow('the API server of the measurement did not answer');
});

it('fails where the API server of the measurement does not answer, and is killed only where the kernel says so', async () => {
  const status = () => Promise.reject(new BenchError('E_NO_ANSWER', 'the API server is silent', { fix: '' }));
  await expect(startUnder(contextOf({ status }))).rejects.toThrow('the API server is silent');
  expect((await startUnder(contextOf({ status, kills: 1 }))).result).toMatchObject({
    outcome: 'killed',
    during: 'cold start',
    peakBytes: null,
  });
});
