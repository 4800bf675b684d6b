/** Entries of the connection tracking beside the endpoints of a Service, and readers of them that are lost. */
import { describe, expect, it } from 'vitest';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import type { ClusterPlace } from '../src/experiments/disrupt/cluster/place.ts';
import { demandOften } from '../src/experiments/disrupt/cluster/plan.ts';
import { clusterTrial } from '../src/experiments/disrupt/cluster/trial.ts';
import { disruptEvidenceSchema } from '../src/experiments/disrupt/evidence.ts';
import type { LoadRequest } from '../src/loaders/loader.ts';
import type { ClusterRun } from '../src/targets/kubernetes/cluster-run.ts';
import {
  type ConntrackWatch,
  demandConntrack,
  entriesRead,
  nodesToRead,
  staleEntries,
  watchConntrack,
} from '../src/targets/kubernetes/conntrack.ts';
import { watchEndpoints } from '../src/targets/kubernetes/endpoints.ts';
import { jobCluster } from './support/job-cluster.ts';

describe('entries of the connection tracking', () => {
  const endpoints = [
    { atSeconds: 0, ready: new Set(['a', 'b']) },
    { atSeconds: 12, ready: new Set(['b']) },
    { atSeconds: 15, ready: new Set(['b', 'c']) },
  ];
  const reading = (
    atSeconds: number,
    used: Readonly<Record<string, number>>,
    fromSeconds = atSeconds - 1,
  ) => ({
    ...{ fromSeconds, atSeconds },
    pods: Object.fromEntries(
      Object.entries(used).map(([pod, count]) => [pod, { entries: count + 5, used: count }]),
    ),
  });

  it.each([
    ['that are not used any more', [reading(14, { a: 0, b: 9 })], { used: 9, stale: 0, lastSeconds: null }],
    // The second of the reading began when the pod was ready.
    [
      'that were used while it was ready',
      [reading(13, { a: 4, b: 5 })],
      { used: 9, stale: 0, lastSeconds: null },
    ],
    [
      'that were used while it was ready, on a node that was busy',
      [reading(14, { a: 4, b: 5 }, 11.9)],
      { used: 9, stale: 0, lastSeconds: null },
    ],
    [
      'that are used for three seconds',
      [
        reading(11, { a: 5, b: 5 }),
        reading(14, { a: 4, b: 5 }),
        reading(15, { a: 3, b: 5 }),
        reading(17, { c: 8 }),
      ],
      { used: 10, stale: 4, lastSeconds: 5 },
    ],
    [
      'to a pod that was ready for a moment',
      [reading(15.5, { c: 2 })],
      { used: 2, stale: 0, lastSeconds: null },
    ],
  ])('to a pod that is gone, %s', (_, readings, found) => {
    expect(staleEntries(readings, endpoints, 10)).toEqual(found);
  });

  it('are not stale before the fault, nor before the endpoints are known', () => {
    const throughout = [{ atSeconds: 10.2, ready: new Set(['a']) }];
    const conntrack = staleEntries(
      [9, 10.05, 11, 12].map((atSeconds) => reading(atSeconds, { a: 5 })),
      throughout,
      10,
    );
    expect(conntrack).toEqual({ used: 5, stale: 0, lastSeconds: null });
    expect(staleEntries([reading(9, { b: 5 })], endpoints, 10)).toMatchObject({
      stale: 0,
      lastSeconds: null,
    });
    expect(disruptEvidenceSchema.shape.conntrack.safeParse(conntrack).error).toBeUndefined();
  });

  it('are read on four nodes at most', () => {
    const loaderNodes = ['a', 'b', 'c', 'd'];
    expect(nodesToRead({ loaderNodes })).toEqual(loaderNodes);
    expect(() => nodesToRead({ loaderNodes: [...loaderNodes, 'e'] })).toThrow('the load may come from 5');
  });

  it.each([
    [40, 1, undefined, null],
    [39, 1, undefined, '--rate 40 or more'],
    [500, 2, undefined, null],
    [500, 3, ['fresh', 'reused'], '--rate 600 or more'],
    [10, 3, ['fresh'], null],
  ])('are told apart at %d queries a second, %d pods, sockets %j: %s', (rate, pods, sockets, fix) => {
    const factors = sockets === undefined ? {} : { sockets };
    const demand = (conntrack: boolean) => demandOften({ conntrack, rate, clients: 20, factors }, pods);
    expect(() => demand(false)).not.toThrow();
    if (fix === null) expect(() => demand(true)).not.toThrow();
    else
      expect(() => demand(true)).toThrow(
        expect.objectContaining({
          code: 'E_CONFIG',
          problems: [expect.objectContaining({ fix: expect.stringContaining(fix) })],
        }),
      );
  });
});

const { signal } = new AbortController();

describe('the reader of a node', () => {
  const line = (atSeconds: number) =>
    `${JSON.stringify({ fromSeconds: atSeconds - 1, atSeconds, pods: { '10.0.0.7': { entries: 3, used: 2 } } })}\n`;

  async function prepared() {
    const cluster = await jobCluster();
    const { world, client } = cluster;
    const run = {
      ...{
        world,
        client,
        runId: 'run',
        namespace: 'n',
        settings: kubernetesOf({}),
        pullSecrets: [],
        jobs: 0,
      },
      ...{ images: { checker: 'node:1' }, loaderNodes: ['worker'], architectures: new Map() },
    } as unknown as ClusterRun;
    return {
      ...cluster,
      run,
      opened: () => watchConntrack(run, { address: '10.96.0.10', runSeconds: 60, signal }),
    };
  }

  async function opened() {
    const cluster = await prepared();
    cluster.print(line(100));
    return { ...cluster, watch: await cluster.opened() };
  }

  /** What the record has of it, and what it is told to warn of. */
  function recorded(watch: ConntrackWatch) {
    const warnings: string[] = [];
    return { entries: entriesRead(watch, [], 0, (text) => warnings.push(text)), warnings };
  }

  it('that is lost costs its figures, with a warning, and a line that is cut short is not read', async () => {
    const { watch, print, end } = await opened();
    expect(recorded(watch)).toMatchObject({ entries: { used: 2 }, warnings: [] });
    print(line(101));
    print('{"atSeconds":102,"pods":{"10.0\n');
    print(line(103));
    await expect.poll(() => watch.readings().length).toBe(3);
    expect(watch.lost()).toEqual([]);
    end({ exitCode: 137, reason: 'Error' });
    await expect.poll(() => watch.lost().length).toBe(1);
    await watch[Symbol.asyncDispose]();
    const warnings = ['the reader of the connection tracking of worker has ended'];
    expect(recorded(watch)).toEqual({ entries: null, warnings });
  });

  it.each([
    [
      'may not read',
      '{"error":"EACCES"}\n',
      'the connection tracking of node worker cannot be read: its container runtime does not let root read /proc/net/nf_conntrack',
    ],
    ['does not start', '', 'the reader of the connection tracking of worker has ended'],
  ])(
    'that %s is an error before the first trial, and costs a later one its figures',
    async (_, says, reason) => {
      const { run, opened, print, end, objects } = await prepared();
      print(says);
      const watching = opened();
      const refused = expect(demandConntrack(run, '10.96.0.10', signal)).rejects.toThrow(reason);
      const pods = () => [...objects.keys()].filter((path) => path.includes('/pods/')).length;
      await expect.poll(pods, { timeout: 20_000 }).toBe(2);
      if (says === '') end({ exitCode: 1, reason: 'Error' });
      await refused;
      const watch = await watching;
      expect(recorded(watch)).toEqual({ entries: null, warnings: [reason] });
      await watch[Symbol.asyncDispose]();
    },
  );

  it('that is lost in a trial is a warning of the run, with the number of the trial', async () => {
    const { run, print } = await prepared();
    print('{"error":"EACCES"}\n');
    const clock = { ...run.world.clock, sleep: () => Promise.resolve() };
    const workload = {
      ...{ title: 'Deployment n/dns', path: '/apis/x', namespace: 'n', labels: { app: 'dns' } },
      service: { name: 'dns', address: '10.96.0.10' },
    };
    const result = { queriesSent: 0, queriesLost: 0, responseCodes: {}, hdrHistogram: null };
    const place = {
      ...{ run: { ...run, world: { ...run.world, clock } }, copy: { workload }, signal },
      settings: { conntrack: true, rate: 10, duration: 3, timeout: 1, clients: 1, readyTime: 5 },
      api: { send: async () => ({ status: 200, body: {} }) },
      // In place, so that no copy is made; a workload without queries, so that no answer is checked.
      ...{ roll: () => Promise.resolve(), workload: { queries: () => [] } },
      loader: {
        async load({ onStarted }: LoadRequest) {
          onStarted();
          return { result, timeline: [], wasTheLimit: false };
        },
      },
    } as unknown as ClusterPlace;
    const warnings: string[] = [];
    const on = {
      phase: () => undefined,
      rate: () => undefined,
      warning: (text: string) => warnings.push(text),
    };
    const planned = { order: 2, case: { subject: 'control', point: {} } };
    const evidence = await clusterTrial(place, planned as never, on as never);
    expect(evidence).toMatchObject({ queriesSent: 0, nodes: [] });
    expect(evidence.conntrack).toBeUndefined();
    expect(warnings).toEqual([
      expect.stringMatching(/^trial 3 has no figures .* of node worker cannot be read/),
    ]);
  });

  it('that was stopped is not lost', async () => {
    const { watch } = await opened();
    await watch[Symbol.asyncDispose]();
    expect(watch.lost()).toEqual([]);
  });
});

it('the endpoints of a Service are known as soon as they are watched', async () => {
  const { client, objects } = await jobCluster();
  objects.set('/apis/discovery.k8s.io/v1/namespaces/n/endpointslices/dns-1', {
    metadata: { name: 'dns-1', labels: { 'kubernetes.io/service-name': 'dns' } },
    ...{ endpoints: [{ addresses: ['10.0.0.7'], conditions: { ready: true } }] },
  });
  const watch = await watchEndpoints(client, { namespace: 'n', service: 'dns' }, signal);
  expect(watch.readings.map(({ ready }) => [...ready])).toEqual([['10.0.0.7']]);
  await watch[Symbol.asyncDispose]();
});
