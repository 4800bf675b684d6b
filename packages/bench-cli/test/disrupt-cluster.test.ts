/** Copies of a cluster's DNS that are disrupted, when their pods leave the Service, and the factors. */
import type { V1Container } from '@kubernetes/client-node';
import { describe, expect, it, test } from 'vitest';
import { demandRest } from '../src/cluster-changes/at-rest.ts';
import { readRights } from '../src/cluster-changes/copy-rights.ts';
import { faultRights, nodeToDrain } from '../src/cluster-changes/pod-faults.ts';
import { describeRight } from '../src/cluster-changes/rights.ts';
import { factorsSchema, pointsOf, showFactors } from '../src/engine/factors.ts';
import { commandOf } from '../src/engine/settings.ts';
import { FACTORS } from '../src/experiments/disrupt/factors.ts';
import { DISRUPT_SETTINGS } from '../src/experiments/disrupt/settings.ts';
import type { KubeClient } from '../src/kubernetes-api/client.ts';
import type { LoadOutcome } from '../src/loaders/loader.ts';
import { eventLosses, type LoadWithEvent, loadStart, loadWithEvent } from '../src/measure/load-with-event.ts';
import { loadServers } from '../src/servers/load.ts';
import type { ForwardOptions } from '../src/servers/server.ts';
import { memoryOfServers } from '../src/targets/kubernetes/dns-copy/beside.ts';
import { placementOf } from '../src/targets/kubernetes/dns-copy/carry-over.ts';
import type { DnsWorkload } from '../src/targets/kubernetes/dns-copy/find-workload.ts';
import type { CopyObjects } from '../src/targets/kubernetes/dns-copy/objects.ts';
import { type CopyPlan, planCopy } from '../src/targets/kubernetes/dns-copy/plan-copy.ts';
import {
  breakable,
  copyAt,
  graceSecondsOf,
  lameduckOf,
  withLameduck,
} from '../src/targets/kubernetes/dns-copy/variants.ts';
import { endpointTimes } from '../src/targets/kubernetes/endpoints.ts';
import { type Clock, realWorld } from '../src/world.ts';

import { answer, refusal, worldOfApi } from './support/api-server.ts';

const COREFILE = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
}
`;

describe('the lameduck of a Corefile', () => {
  it.each([
    [COREFILE, 5],
    ['. {\n  health\n}\n', 0],
    ['. {\n  health :8080 {\n    lameduck 500ms\n  }\n}\n', 0.5],
    ['. {\n  health {\n    lameduck 1m\n  }\n}\n', 60],
  ])('of %j is %d s', (corefile, seconds) => expect(lameduckOf(corefile)).toBe(seconds));

  it.each([
    [COREFILE, COREFILE.replace('5s', '30s')],
    ['. {\n    health\n    ready\n}\n', '. {\n    health {\n       lameduck 30s\n    }\n    ready\n}\n'],
    ['. {\n    health :8080\n}\n', '. {\n    health :8080 {\n       lameduck 30s\n    }\n}\n'],
  ])('is put into %j', (corefile, wanted) => {
    expect(withLameduck(corefile, 30)).toBe(wanted);
    expect(lameduckOf(withLameduck(corefile, 30))).toBe(30);
  });

  it('cannot be put where there is no health plugin', () => {
    expect(() => withLameduck('. {\n  healthy\n}\n', 5)).toThrow('the Corefile has no `health` plugin');
  });
});

const container: V1Container = { name: 'coredns', image: 'coredns:1.13.1' };
const copy = {
  spec: { containers: [container] },
  container,
  replicas: 2,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
  mounts: [{ mountPath: '/etc/coredns', configMap: 'coredns', items: null }],
  configMaps: new Map([['coredns', { data: { Corefile: COREFILE, other: 'x' } }]]),
  corefile: COREFILE,
} as unknown as CopyPlan;

describe('a copy at a point', () => {
  it('has the Corefile with the lameduck of the point, under a name of its own, and as many pods', () => {
    const at = copyAt(copy, { lameduck: 30, replicas: 1 });
    expect(at.replicas).toBe(1);
    expect([...at.configMaps.keys()]).toEqual(['lameduck-30-coredns']);
    expect(at.configMaps.get('lameduck-30-coredns')?.data).toEqual({
      Corefile: COREFILE.replace('5s', '30s'),
      other: 'x',
    });
    expect(at.mounts.map(({ configMap }) => configMap)).toEqual(['lameduck-30-coredns']);
    expect(copyAt(copy, {}).configMaps).toBe(copy.configMaps);
  });

  it('is updated as the DNS of the cluster, goes on until its lameduck is over, and has a program beside it', () => {
    const objects = {
      deployment: {
        spec: {
          replicas: 2,
          strategy: { type: 'Recreate' },
          template: { spec: { containers: [container] } },
        },
      },
    } as unknown as CopyObjects;
    const beside = {
      image: 'load',
      mount: { configMap: 'beside', items: { 'beside-program.mjs': 'beside-program.mjs' } },
    };
    const graceAt = (lameduck: number) =>
      breakable(objects, copyAt(copy, { lameduck }), beside).spec?.template.spec
        ?.terminationGracePeriodSeconds;
    const { spec } = breakable(objects, copyAt(copy, {}), beside);
    expect(spec?.strategy).toBe(copy.strategy);
    expect(spec?.template.spec?.shareProcessNamespace).toBe(true);
    expect(spec?.template.spec?.containers.map(({ name }) => name)).toEqual(['coredns', 'beside']);
    // 30 s are the default of Kubernetes.
    expect([5, 30, 120].map(graceAt)).toEqual([30, 35, 125]);
    // Their removal waits for as long.
    const graceOf = (lameduck: number) => graceSecondsOf(copyAt(copy, { lameduck }));
    expect([5, 30, 120].map(graceOf)).toEqual([30, 35, 125]);
  });

  it('runs where the DNS does, and on a node that was chosen', () => {
    const dns = {
      containers: [],
      nodeSelector: { os: 'linux' },
      tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
    };
    expect(placementOf({}, dns)).toEqual({ nodeSelector: dns.nodeSelector, tolerations: dns.tolerations });
    const spot = { key: 'spot', operator: 'Exists' };
    expect(placementOf({ nodeSelector: { pool: 'dns' }, tolerations: [spot] }, dns)).toEqual({
      nodeSelector: { pool: 'dns' },
      tolerations: [spot, ...dns.tolerations],
    });
  });
});

describe('the node that is drained', () => {
  const on = (...names: string[]) => names.map((nodeName) => ({ spec: { containers: [], nodeName } }));
  const guarded = ['/api/v1/nodes/a', '/api/v1/nodes/b'];

  it('is one that the guard may put back, and not that of all pods', () => {
    expect(nodeToDrain(on('control-plane', 'b', 'a'), guarded)).toBe('b');
    expect(nodeToDrain(on('a', 'a', 'b'), guarded)).toBe('a');
    expect(() => nodeToDrain(on('x', 'y'), guarded)).toThrow('no pod is on a node that may be drained: x, y');
    expect(() => nodeToDrain(on('a', 'a'), guarded)).toThrow('all 2 pods are on node a');
  });
});

describe('when pods leave the Service', () => {
  const at = (atSeconds: number, ...addresses: string[]) => ({ atSeconds, ready: new Set(addresses) });

  it.each([
    ['all stay', [at(0, 'a', 'b')], null, null],
    ['one goes and comes back', [at(0, 'a', 'b'), at(11, 'b'), at(14, 'a', 'b')], 1, 4],
    ['one goes for good', [at(0, 'a', 'b'), at(10.5, 'b')], 0.5, null],
    ['another one comes first', [at(0, 'a'), at(12, 'a', 'b'), at(12.5, 'b')], 2.5, 2.5],
    [
      'each of two is replaced by another one that comes first',
      [
        at(0, 'a', 'b'),
        at(11, 'a', 'b', 'c'),
        at(12, 'b', 'c'),
        at(14, 'b', 'c', 'd'),
        at(15, 'c', 'd'),
        at(17, 'c', 'd'),
      ],
      2,
      5,
    ],
    [
      'two are replaced, each after it went',
      [at(0, 'a', 'b'), at(11, 'b'), at(12, 'b', 'c'), at(13, 'c'), at(14, 'c', 'd')],
      1,
      4,
    ],
    ['it was another one before the fault', [at(0, 'a'), at(9, 'b'), at(11, 'b')], null, null],
  ])('%s', (_, readings, goneSeconds, backSeconds) => {
    expect(endpointTimes(readings, 10)).toEqual({ goneSeconds, backSeconds });
  });
});

describe('the start of a load', () => {
  const interval = (atSeconds: number) =>
    ({
      atSeconds,
      sent: 0,
      answered: 0,
      lost: 0,
      refused: 0,
      codes: {},
      slowestSeconds: null,
      goodSeconds: null,
    }) as const;

  it('is the earliest that what was heard of its intervals allows', () => {
    expect(loadStart([100.4, 100.3, 100.35], [interval(0.05), interval(0.1), interval(0.15)])).toBeCloseTo(
      100.2,
      9,
    );
    expect(loadStart([], [])).toBeNull();
  });
});

/** Two seconds after the first query, an event; the load ends with it. */
function eventAt(now: { seconds: number }, act: LoadWithEvent['act']): LoadWithEvent {
  const over = Promise.withResolvers<void>();
  const sleep = async (seconds: number) => {
    now.seconds += seconds;
  };
  return {
    clock: { monotonicSeconds: () => now.seconds, sleep } as unknown as Clock,
    on: { phase: () => undefined, rate: () => undefined },
    event: 'drain',
    afterSeconds: 2,
    signal: new AbortController().signal,
    async load({ onStarted }) {
      onStarted();
      await over.promise;
      const result = { responseCodes: {}, hdrHistogram: null, latencyPercentiles: null };
      return [{ result }] as unknown as LoadOutcome[];
    },
    async act(begun) {
      await act(begun);
      over.resolve();
    },
  };
}

describe('an event in a load', () => {
  it.each([
    ['when it is made', false, 2],
    ['when it says so, after what comes first', true, 5],
  ])('begins %s', async (_, isTold, begin) => {
    const now = { seconds: 0 };
    const act: LoadWithEvent['act'] = async ({ begins }) => {
      now.seconds += 3;
      if (isTold) begins();
      now.seconds += 1;
    };
    const { event } = await loadWithEvent(eventAt(now, act));
    expect(event).toEqual({ begin, end: 6 });
  });

  it('leaves the peak of the processes before it, where those after it had a lower one', async () => {
    const readings = [
      { bytes: 50, peakBytes: 90 },
      { bytes: 40, peakBytes: 60 },
    ];
    const { losses } = await eventLosses({
      ...eventAt({ seconds: 0 }, async () => undefined),
      ...{ expected: null, durationSeconds: 10, timeoutSeconds: 1 },
      memoryNow: async () => readings.shift() ?? null,
    });
    expect(losses.memory).toEqual({ before: 50, after: 40, peak: 90 });
  });
});

test('the memory of several servers is a sum, and so is its peak', async () => {
  const readings = [
    { bytes: 30, peakBytes: 40 },
    { bytes: 20, peakBytes: 50 },
  ];
  const client = { text: async () => JSON.stringify(readings.shift()) } as unknown as KubeClient;
  expect(await memoryOfServers(client, [{}, {}], new AbortController().signal)).toEqual({
    bytes: 50,
    peakBytes: 90,
  });
});

describe('factors', () => {
  const schema = factorsSchema(FACTORS);
  const text = 'lameduck=0,5;sockets=reused,fresh';

  it('are read and shown alike, and make every combination', () => {
    const factors = schema.parse(text);
    expect(factors).toEqual({ lameduck: [0, 5], sockets: ['reused', 'fresh'] });
    expect(showFactors(factors)).toBe(text);
    expect(schema.parse(factors)).toEqual(factors);
    expect(pointsOf(factors)).toEqual([
      { lameduck: 0, sockets: 'reused' },
      { lameduck: 0, sockets: 'fresh' },
      { lameduck: 5, sockets: 'reused' },
      { lameduck: 5, sockets: 'fresh' },
    ]);
    expect(pointsOf({})).toEqual([{}]);
    expect(schema.parse({})).toEqual({});
  });

  it.each([
    '',
    'lameduck',
    'lameduck=',
    'lameduck=-1',
    'lameduck=5,5',
    'replicas=0',
    'speed=1',
    'sockets=new',
    'lameduck=1;lameduck=2',
  ])('%j are none', (wrong) => expect(schema.safeParse(wrong).success).toBe(wrong === ''));
});

describe('servers that forward', () => {
  const upstream = { address: '127.0.0.1', port: 5300 };
  const request = { address: '127.0.0.1', port: 53, directory: '/d', program: ['x'], cpus: 1 };
  const fileOf = async (name: string, options?: ForwardOptions) => {
    const [server] = await loadServers(realWorld(), [name], { corednsVersion: '1.13.1' });
    const plan = server?.planForwarding?.(request as never, upstream, options);
    return [...(plan?.files ?? [])].flatMap(({ chunks }) => [...chunks]).join('');
  };

  it('have as many queries at once, and as long a cache, as a point says', async () => {
    expect(await fileOf('coredns')).toContain('    max_concurrent 1000\n    }\n    cache 30\n');
    expect(await fileOf('coredns', { maxConcurrent: 7, cacheSeconds: 1, serveStale: true })).toContain(
      '        max_concurrent 7\n    }\n    cache 1 {\n        serve_stale\n    }\n',
    );
    expect(await fileOf('coredns', { cacheSeconds: 0, serveStale: true })).not.toContain('cache');
    expect(await fileOf('unbound')).not.toMatch(/cache-max-ttl|serve-expired/);
    expect(await fileOf('unbound', { cacheSeconds: 1, serveStale: true })).toContain(
      '  cache-max-ttl: 1\n  serve-expired: yes\n  serve-expired-ttl: 3600\n  serve-expired-client-timeout: 0\n',
    );
  });
});

describe('a DNS without a Corefile', () => {
  const workload = {
    ...{ kind: 'Deployment', namespace: 'kube-system', name: 'dns', title: 'Deployment kube-system/dns' },
    ...{ containerIndex: 0, replicas: 2 },
  } as unknown as DnsWorkload;
  const client = {
    get: async () => ({ spec: { template: { spec: { containers: [container] } } } }),
  } as unknown as KubeClient;
  const plan = (instead: string | null) => planCopy(client, workload, instead, new AbortController().signal);

  it('cannot be copied, and can be measured in place', async () => {
    await expect(plan('--in-place')).rejects.toMatchObject({
      message: expect.stringContaining('has no Corefile in a ConfigMap'),
      problems: [{ fix: 'A copy beside it cannot be made; measure it in place: --in-place.' }],
    });
    expect(await plan(null)).toMatchObject({ corefile: '', replicas: 2 });
  });
});

describe('a DNS that is to be changed', () => {
  const workload = { title: 'Deployment kube-system/dns', path: '/apis/x', image: 'i', container: 'c' };
  const status = { replicas: 2, updatedReplicas: 1, availableReplicas: 2 };
  const object = { kind: 'Deployment', spec: { replicas: 2 }, status };
  const rest = (found: object) =>
    demandRest({
      client: {
        list: async () => ({ items: [{ spec: { containers: [{ name: 'c', image: 'i' }] } }] }),
      } as unknown as KubeClient,
      api: { send: async () => ({ status: 200, body: found }) },
      workload: workload as unknown as DnsWorkload,
      signal: new AbortController().signal,
    });

  it('has to be at rest', async () => {
    await expect(rest(object)).rejects.toThrow('is not at rest: 1 of 2 pods are updated');
    await expect(rest({ ...object, spec: { replicas: 2, paused: true } })).rejects.toThrow('is paused');
    await rest({ ...object, status: { ...status, updatedReplicas: 2 } });
  });
});

describe('the rights of faults', () => {
  it('in place, are those of what is read', () => {
    const dns = { path: '/apis/apps/v1/namespaces/kube-system/deployments/dns', namespace: 'kube-system' };
    expect(readRights(dns).map(describeRight)).toEqual([
      'get deployments.apps dns in namespace kube-system',
      'get configmaps in namespace kube-system',
      'list pods in namespace kube-system',
      'list services',
    ]);
  });

  it('are those in the namespace of the run that each takes', () => {
    expect(
      faultRights(['delete', 'drain'], 'run-1', { namespace: 'kube-system' }).map(describeRight),
    ).toEqual([
      'list endpointslices.discovery.k8s.io in namespace run-1',
      'watch endpointslices.discovery.k8s.io in namespace run-1',
      'get deployments.apps in namespace run-1',
      'get pods/proxy in namespace run-1',
      'delete pods in namespace run-1',
      'create pods/eviction in namespace run-1',
    ]);
    expect(faultRights(['rollout'], null, { namespace: 'kube-system' }).map(describeRight)).toEqual([
      'list endpointslices.discovery.k8s.io in namespace kube-system',
      'watch endpointslices.discovery.k8s.io in namespace kube-system',
    ]);
  });
});

test('the command that repeats a run has its factors', () => {
  const command = (factors: object) => commandOf('disrupt', DISRUPT_SETTINGS, { factors });
  expect(command({ lameduck: [0, 5], sockets: ['fresh'] })).toEqual([
    ...['pnpm', 'bench', 'disrupt', '--factors', 'lameduck=0,5;sockets=fresh'],
  ]);
  expect(command({})).toEqual(['pnpm', 'bench', 'disrupt']);
});

/** A cluster with a CoreDNS of one pod on one node, in which nobody may change anything. */
function worldOfOneNode(writes: string[]) {
  const labels = { 'k8s-app': 'kube-dns' };
  const containers = [
    {
      ...{ name: 'coredns', image: 'coredns/coredns:v1.13.1' },
      ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }],
      volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
      args: ['-conf', '/etc/coredns/Corefile'],
    },
  ];
  const volumes = [{ name: 'config', configMap: { name: 'coredns' } }];
  const template = { metadata: { labels }, spec: { containers, volumes } };
  const service = { selector: labels, clusterIP: '10.96.0.10', ports: [{ port: 53, protocol: 'UDP' }] };
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  const own = '/api/v1/namespaces/kube-system';
  const objects: Readonly<Record<string, unknown>> = {
    '/version': { gitVersion: 'v1.34.0' },
    '/apis/apps/v1/namespaces/kube-system/deployments/coredns': {
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
    [own]: { metadata: { labels: {} } },
    [`${own}/services`]: { items: [{ metadata: { name: 'kube-dns' }, spec: service }] },
    [`${own}/configmaps/coredns`]: { data: { Corefile: COREFILE } },
    '/api/v1/nodes': { items: [{ metadata: { name: 'node-1' }, spec: {}, status }] },
  };
  return worldOfApi((request, response) => {
    const { method = '', url = '' } = request;
    const path = url.split('?')[0] ?? '';
    if (path.endsWith('/selfsubjectaccessreviews'))
      return answer(response, 201, { status: { allowed: false } });
    if (method !== 'GET') {
      writes.push(`${method} ${path}`);
      return answer(response, 403, refusal(403, 'Forbidden', 'nothing may be changed'));
    }
    if (objects[path] === undefined) return answer(response, 404, refusal(404, 'NotFound', 'none'));
    answer(response, 200, objects[path]);
  });
}

describe('bench disrupt on a cluster', () => {
  it.each([
    [['--fault', 'drain'], '--fault drain needs 2 pods, and there is 1'],
    [['--fault', 'scale-down'], '--fault scale-down needs 2 pods, and there is 1'],
    [['--fault', 'drain', '--factors', 'replicas=2'], '--fault drain needs two nodes that take the pods'],
    [['--in-place', '--fault', 'kill'], '--fault kill is for copies of the DNS'],
    [['--in-place', '--factors', 'lameduck=0'], '--factors: lameduck is for copies of the DNS'],
    [['--duration', '11'], '--duration: 11 s is too short for a lameduck of 5 s'],
    [
      ['--duration', '36', '--factors', 'lameduck=30'],
      '--duration: 36 s is too short for a lameduck of 30 s',
    ],
    [['--in-place'], 'this replaces the pods of Deployment kube-system/coredns'],
    [[], 'patch deployments.apps in namespace dinodns-bench-'],
  ])('refuses %j with one message and the fix, and changes nothing', async (flags, message) => {
    const writes: string[] = [];
    const world = await worldOfOneNode(writes);
    expect(await world.bench('disrupt', '--target', 'kubernetes', ...flags)).toBeGreaterThan(0);
    expect(world.err()).toContain(message);
    expect(world.err().match(/error \[/g)).toHaveLength(1);
    expect(world.err()).toContain('fix: ');
    expect(writes).toEqual([]);
  });
});
