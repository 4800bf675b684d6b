/** How long a new Service takes to resolve: the plan, the polls, the figures and the messages. */
import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type ControlStatus, defineCluster, type ServiceChange } from '@dinodns-bench/cluster-objects';
import type { V1Job } from '@kubernetes/client-node';
import { decode, encode } from 'dns-packet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import { createDnsClient, type DecodedAnswer, type DnsClient, type DnsQuery } from '../src/dns/client.ts';
import { BenchError } from '../src/errors.ts';
import { SERVICE_LABELS } from '../src/experiments/capacity/cluster/synthetic-objects.ts';
import { type CorednsContext, withCoredns } from '../src/experiments/capacity/deploy-coredns.ts';
import { figuresOf, measureLoad } from '../src/experiments/capacity/propagation/here.ts';
import { ESTIMANDS } from '../src/experiments/capacity/propagation/index.ts';
import { measureStart, readPropagation } from '../src/experiments/capacity/propagation/on-cluster.ts';
import { pollUntilRight } from '../src/experiments/capacity/propagation/poll.ts';
import { API_SERVER } from '../src/servers/coredns-cluster/definition.ts';
import { jobCluster } from './support/job-cluster.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

/** The plan of a dry run, without touching anything. */
async function planned(...flags: string[]): Promise<string> {
  expect(await world.bench('capacity', 'propagation', '--dry-run', ...flags), world.err()).toBe(0);
  return world.out();
}

describe('the plan', () => {
  it('has a case for each number of objects and each rate, of each version and configuration', async () => {
    const text = await planned('--objects', '0,15820', '--churn', '0,100', '--trials', '2');
    expect(text).toContain('coredns-cluster/no-denial/15820/churn=100  15,820 objects, 100 changes/s');
    expect(text).toContain('4 cases, 8 trials');
  });

  it('on a cluster creates no objects unless they are asked for', async () => {
    const text = await planned('--target', 'kubernetes', '--churn', '0,100', '--trials', '1');
    expect(text).toContain('coredns-cluster/no-denial/0/churn=100');
    expect(text).toContain('2 cases, 2 trials');
  });
});

describe('the polls', () => {
  let server: Socket;
  beforeEach(async () => {
    server = createSocket('udp4').bind(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.close();
  });

  /** NXDOMAIN so often, and from then on the address. Resolves with when each query came, on the monotonic clock. */
  function answerAfter(wrong: number): readonly number[] {
    const times: number[] = [];
    server.on('message', (message, { port, address }) => {
      times.push(world.clock.monotonicSeconds());
      const { id, questions } = decode(message);
      const isRight = times.length > wrong;
      const name = questions?.[0]?.name ?? '';
      const packet = encode({
        type: 'response',
        id,
        flags: isRight ? 0 : 3,
        questions,
        answers: isRight ? [{ type: 'A', name, ttl: 5, data: '10.96.1.0' }] : [],
      });
      server.send(packet, port, address);
    });
    return times;
  }

  const poll = (seconds: number, intervalSeconds = 0.0005) => {
    const client = createDnsClient({ address: '127.0.0.1', port: server.address().port }, 'udp', world.clock);
    const { clock } = world;
    const deadline = clock.monotonicSeconds() + seconds;
    const signal = new AbortController().signal;
    const service = { name: 'web-1.team-000.svc.cluster.local', address: '10.96.1.0' };
    return pollUntilRight(service, { client, clock, intervalSeconds, deadline, signal }).finally(() =>
      client.close(),
    );
  };

  it('enclose the moment from which the right answer comes', async () => {
    const times = answerAfter(20);
    const { clock } = world;
    const start = clock.monotonicSeconds();
    const { answeredAt, lastWrongSentAt, queries } = await poll(10);
    const [from = 0] = times.slice(20);
    expect(answeredAt).toBeGreaterThanOrEqual(from);
    expect(lastWrongSentAt).toBeLessThan(from);
    expect(queries).toBeGreaterThan(20);
    // However busy the machine is: never more than one every half a millisecond, and two at a time near that.
    expect(queries - 1).toBeLessThanOrEqual((clock.monotonicSeconds() - start) / 0.0005);
    expect(Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? 0)))).toBeLessThan(0.005);
  });

  it('end when the time is over, and do not take an answer with another address', async () => {
    server.on('message', (message, { port, address }) => {
      const { id, questions } = decode(message);
      const name = questions?.[0]?.name ?? '';
      const answers = [{ type: 'A', name, ttl: 5, data: '10.96.1.1' }] as const;
      server.send(encode({ type: 'response', id, questions, answers: [...answers] }), port, address);
    });
    const { answeredAt, lastWrongSentAt } = await poll(1, 0.005);
    expect(answeredAt).toBeNull();
    expect(lastWrongSentAt).not.toBeNull();
  });
});

describe('the figures', () => {
  const observed = (name: string, answeredAt: number | null, lastWrongSentAt: number | null) => ({
    name,
    answeredAt,
    lastWrongSentAt,
    queries: 7,
  });
  const created = (name: string, monotonicSeconds: number) =>
    ({ type: 'ADDED', name, address: '10.96.1.0', monotonicSeconds }) as const;

  it('count from the event; no delay is smaller than nothing, and no resolution larger than its delay', () => {
    const figures = figuresOf(
      [observed('a', 10.004, 10.003), observed('b', 20.001, 19.9), observed('c', null, 30.5)],
      [created('a', 10), created('b', 20), created('c', 30), created('other', 40)],
      2,
    );
    expect(figures.delaysSeconds.map((seconds) => Number(seconds.toFixed(6)))).toEqual([0.004, 0.001]);
    expect(figures.resolutionsSeconds.map((seconds) => Number(seconds.toFixed(6)))).toEqual([0.001, 0.001]);
    expect(figures).toMatchObject({ unresolved: 1, queries: 21, heldChurnPerSecond: 0.5 });
  });

  it('are those of all Services also where the API server has forgotten the first changes at the end', async () => {
    const KEPT = 200;
    let seconds = 0;
    let changes: ServiceChange[] = [];
    let resourceVersion = 0;
    const make = (type: ServiceChange['type'], name: string) => {
      resourceVersion += 1;
      const change = { type, name, address: '10.96.1.0', resourceVersion, atSeconds: 0 };
      changes = [...changes.slice(1 - KEPT), { ...change, monotonicSeconds: seconds }];
    };
    const pass = async (more: number) => {
      seconds += Math.max(more, 0.001);
      make('DELETED', 'other');
    };
    const clock = { ...world.clock, monotonicSeconds: () => seconds, sleep: pass, nap: pass };
    const api = {
      churn: async () => undefined,
      status: async () => ({ resourceVersion }) as ControlStatus,
      changesAfter: async (after: number) => changes.filter((change) => change.resourceVersion > after),
      async announce() {
        const name = `web-${resourceVersion}`;
        make('ADDED', name);
        for (let count = 0; count < KEPT / 4; count += 1) make('ADDED', 'other');
        await pass(2);
        return { name, address: '10.96.1.0' };
      },
    };
    const client = {
      ask: async ({ name, type }: DnsQuery) =>
        ({
          responseCode: 'NOERROR',
          answers: [{ name, type, data: '10.96.1.0' }],
        }) as unknown as DecodedAnswer,
    } as DnsClient;
    const settings = { services: 30, timeout: 30, poll: 1, target: 'local' } as const;
    const signal = new AbortController().signal;
    const asking = { world: { clock }, settings, api, client, signal, onPhase: () => undefined };
    const figures = await measureLoad(asking, 1000);
    expect(figures).toMatchObject({ unresolved: 0, queries: 30 });
    expect(figures.heldChurnPerSecond).toBeCloseTo(KEPT / 4 / 2, -1);
  });

  it('are missing where they fall on a Service that did not resolve', () => {
    const delaysSeconds = Array.from({ length: 20 }, (_, index) => index + 1);
    const figures = (unresolved: number) => {
      const rest = { resolutionsSeconds: [], queries: 9, heldChurnPerSecond: 0 };
      return Object.fromEntries(
        ESTIMANDS.map(({ name, of }) => [name, of({ ...rest, delaysSeconds, unresolved })]),
      );
    };
    expect(figures(0)).toMatchObject({ median: 10.5, p95: 19, largest: 20, unresolved: 0 });
    expect(figures(1)).toMatchObject({ median: 11, p95: 20, largest: null, unresolved: 1 });
    expect(figures(2)).toMatchObject({ median: 11.5, p95: null, largest: null });
    expect(figures(20)).toMatchObject({ median: null, p95: null });
  });
});

it.each([
  [['--objects', '-1'], '--objects: "-1" must be a list of whole numbers from 0'],
  [['--churn', '-5'], '--churn: "-5" must be a list of changes a second'],
  [['--configurations', 'default'], 'others keep negative answers'],
  [['--poll', '0'], '--poll: "0" must be milliseconds from 0.1'],
  [['--services', '0'], '--services: "0" must be a whole number from 1'],
])('%j is refused with its reason', async (flags, message) => {
  expect(await world.bench('capacity', 'propagation', ...flags)).toBe(2);
  expect(world.err()).toContain(message);
});

it.each([
  [['--churn', '101'], '--churn: "101" must be a list of changes a second, each from 0 to 100 on a cluster'],
  [['--poll', '0.5'], '--poll: "0.5" must be whole milliseconds from 1 to 1000 on a cluster'],
  [['--poll', '1.9'], '--poll: "1.9" must be whole milliseconds from 1 to 1000 on a cluster'],
  [['--objects', '30000'], '30,000 objects are more than --max-objects allows on a cluster (20,000)'],
  [['--max-objects', '0'], '--max-objects: "0" must be a whole number from 1'],
])('on a cluster, %j is refused with its reason', async (flags, message) => {
  expect(await world.bench('capacity', 'propagation', '--target', 'kubernetes', ...flags)).toBe(2);
  expect(world.err()).toContain(message);
});

describe('the lines of the program on a cluster', () => {
  const service = (delaySeconds: number) =>
    JSON.stringify({
      service: { delaySeconds, resolutionSeconds: 0.001, creationSeconds: delaySeconds / 2, queries: 9 },
    });

  it('become the figures of each rate; a Service that did not resolve has none', () => {
    const seen: number[] = [];
    const reader = readPropagation((done) => seen.push(done));
    for (const line of [
      '(node:7) Warning: something',
      service(0.01),
      '{"service":{"delaySeconds":null,"queries":900}}',
      '{"churn":10,"heldChurnPerSecond":9.5}',
      service(0.02),
      '{"churn":100,"heldChurnPerSecond":80}',
      '{"done":true}',
    ]) {
      reader.onLine(line);
    }
    expect(seen).toEqual([1, 2, 1]);
    expect(reader.figures()).toEqual([
      {
        delaysSeconds: [0.01],
        resolutionsSeconds: [0.001],
        creationSeconds: [0.005],
        unresolved: 1,
        queries: 909,
        heldChurnPerSecond: 9.5,
      },
      expect.objectContaining({ delaysSeconds: [0.02], heldChurnPerSecond: 80 }),
    ]);
  });

  it.each([
    ['{"slow":"99 % of the last 100 requests took up to 1.20 s, more than 1 s"}', 'E_CLUSTER_REFUSED'],
    ['{"ended":"CoreDNS has ended"}', 'E_SERVER_DIED'],
    ['{"failed":"the API server answered POST / with 403"}', 'E_LOADER_FAILED'],
    ['{"churn":0,"heldChurnPerSecond":0}', 'E_LOADER_FAILED'],
  ])('%s is %s', (line, code) => {
    const reader = readPropagation(() => undefined);
    reader.onLine(line);
    expect(() => reader.figures()).toThrow(expect.objectContaining({ code }));
  });
});

it('a start on this machine says first why it failed, and then that CoreDNS cannot be removed', async () => {
  const failing = (code: 'E_SERVER_DIED' | 'E_NO_ANSWER') =>
    new BenchError(code, code, { fix: 'See its log.' });
  const deployment = {
    ...{
      files: {},
      instances: [{ pid: 1 }],
      companionPorts: { [API_SERVER]: 1 },
      died: new Promise(() => undefined),
    },
    remove: () => Promise.reject(failing('E_NO_ANSWER')),
  };
  const context = {
    ...{ world, target: { deploy: async () => deployment }, programOf: () => [], onFiles: () => undefined },
    ...{ servers: new Map([['coredns', {}]]), signal: new AbortController().signal },
  } as unknown as CorednsContext;
  const cluster = defineCluster().spec;
  const request = {
    key: 'a',
    server: 'coredns',
    configuration: 'no-denial',
    cluster,
    directory: '',
  } as const;
  let until: AbortSignal | undefined;
  const start = withCoredns(context, request, (_deployed, signal) => {
    until = signal;
    return Promise.reject(failing('E_SERVER_DIED'));
  });
  await expect(start).rejects.toMatchObject({ code: 'E_SERVER_DIED', message: 'E_SERVER_DIED; E_NO_ANSWER' });
  expect(until?.aborted).toBe(true);
});

it('a start on a cluster leaves none of its Services to the next, also where its program fails', async () => {
  const { client, objects, print, end } = await jobCluster();
  const settings = kubernetesOf({});
  const run = { client, settings, namespace: 'n', runId: 'run', pullSecrets: [], jobs: 0 };
  const path = '/api/v1/namespaces/n/services';
  const made = () => [...objects.keys()].filter((each) => each.startsWith(path));
  const { signal } = new AbortController();
  await client.create(
    'Service',
    { metadata: { name: 'synthetic', namespace: 'n', labels: SERVICE_LABELS } },
    signal,
  );
  const request = {
    ...{ unit: 'trial-1', corednsImage: 'coredns:1', churn: 100, signal },
    configuration: 'no-denial',
    settings: { services: 100, timeout: 30, target: 'kubernetes' },
  } as const;
  const result = measureStart(run, request, { phase: () => undefined, files: () => undefined }, 'coredns');
  result.catch(() => undefined);
  const job = await vi.waitUntil(() => objects.get('/apis/batch/v1/namespaces/n/jobs/trial-1') as V1Job, {
    timeout: 30_000,
  });
  const { env = [] } = job.spec?.template.spec?.containers[1] ?? {};
  const settingOf = (wanted: string) => env.find(({ name }) => name === wanted)?.value ?? '';
  for (const name of ['0-17', 'churn-0-4']) {
    const metadata = { name: `${settingOf('PREFIX')}-${name}`, labels: JSON.parse(settingOf('LABELS')) };
    await client.create('Service', { metadata: { ...metadata, namespace: 'n' } }, signal);
  }
  expect(made()).toHaveLength(3);
  print('{"ended":"CoreDNS has ended"}\n');
  end({ exitCode: 1 });
  await expect(result).rejects.toThrow(expect.objectContaining({ code: 'E_SERVER_DIED' }));
  expect(made()).toEqual([`${path}/synthetic`]);
});

/** Services as an API server keeps them, and a DNS server that knows those that exist. */
async function smallCluster(delayMilliseconds = 0) {
  const services = new Map<string, string>();
  const seen = { created: 0, deleted: 0, largest: 0 };
  const api = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      setTimeout(() => {
        if (request.method === 'GET') {
          response.end('{}');
          return;
        }
        if (request.method === 'DELETE') {
          services.delete(request.url?.split('/').at(-1) ?? '');
          seen.deleted += 1;
          response.end('{}');
          return;
        }
        const { metadata, spec } = JSON.parse(Buffer.concat(chunks).toString());
        seen.created += 1;
        const clusterIP = spec.clusterIP ?? `10.96.0.${seen.created % 256}`;
        services.set(metadata.name, clusterIP);
        seen.largest = Math.max(seen.largest, services.size);
        response.end(JSON.stringify({ metadata, spec: { ...spec, clusterIP } }));
      }, delayMilliseconds);
    });
  });
  api.listen(0, '127.0.0.1');
  const dns = createSocket('udp4').bind(0, '127.0.0.1');
  await Promise.all([once(api, 'listening'), once(dns, 'listening')]);
  dns.on('message', (message, { port, address }) => {
    const { id, questions } = decode(message);
    const name = questions?.[0]?.name ?? '';
    const data = services.get(name.split('.')[0] ?? '');
    const answers = data === undefined ? [] : [{ type: 'A' as const, name, ttl: 5, data }];
    dns.send(
      encode({ type: 'response', id, flags: data === undefined ? 3 : 0, questions, answers }),
      port,
      address,
    );
  });
  const { port = 0 } = Object(api.address());
  return {
    seen,
    services,
    env: {
      API_SERVER: `http://127.0.0.1:${port}`,
      READY_URL: `http://127.0.0.1:${port}/ready`,
      DNS_PORT: String(dns.address().port),
      NAMESPACE: 'n',
      PREFIX: 'round-1',
    },
    close() {
      api.closeAllConnections();
      api.close();
      dns.close();
    },
  };
}

const PROGRAM = new URL('../src/experiments/capacity/beside/program/propagation.mjs', import.meta.url);

/** The lines of the program beside a process that stands for CoreDNS, and how both end. */
async function runProgram(env: Readonly<Record<string, string>>) {
  const coredns = spawn('sleep', ['60']);
  const program = spawn(process.execPath, [fileURLToPath(PROGRAM)], {
    env: { ...process.env, PID: String(coredns.pid), ...env },
  });
  const ended = once(coredns, 'exit');
  const output: Buffer[] = [];
  program.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const [status] = await once(program, 'close');
  const [, signal] = await ended;
  return { status, signal, lines: Buffer.concat(output).toString().trimEnd().split('\n') };
}

describe('the program in the pod', () => {
  it('creates Services, asks for each until it resolves, and deletes them, and its changes as well', async () => {
    const cluster = await smallCluster();
    try {
      const env = { ...cluster.env, CHURN: '0,100', SERVICES: '5', POLL_MS: '1', MAX_P99_SECONDS: '10' };
      const { status, signal, lines } = await runProgram(env);
      const reader = readPropagation(() => undefined);
      for (const line of lines) reader.onLine(line);
      expect([status, signal], lines.join('\n')).toEqual([0, 'SIGTERM']);
      const figures = reader.figures();
      expect(figures.map(({ delaysSeconds, unresolved }) => [delaysSeconds.length, unresolved])).toEqual([
        [5, 0],
        [5, 0],
      ]);
      const [still, busy] = figures;
      expect(still?.heldChurnPerSecond).toBe(0);
      // Below what was asked for on a busy machine, never above.
      expect(busy?.heldChurnPerSecond).toBeGreaterThan(0);
      expect(busy?.heldChurnPerSecond).toBeLessThan(110);
      expect(cluster.seen.created).toBe(cluster.seen.deleted);
      expect(cluster.services.size).toBe(0);
      // Twenty of the changes, those in flight, and one that is measured.
      expect(cluster.seen.largest).toBeLessThanOrEqual(25);
    } finally {
      cluster.close();
    }
  });

  it('stops when the API server gets slow', async () => {
    const cluster = await smallCluster(60);
    try {
      const env = { ...cluster.env, CHURN: '100', SERVICES: '50', MAX_P99_SECONDS: '0.05' };
      const { status, lines } = await runProgram(env);
      expect(status).toBe(1);
      expect(lines.at(-1)).toMatch(
        /"slow":"99 % of the last 20 requests took up to \d\.\d\d s, more than 0\.05 s"/,
      );
    } finally {
      cluster.close();
    }
  });
});
