/** Measures one phase of a placement: CPU of the DNS containers, idle or under load. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Loader, LoadOutcome } from '../../loaders/loader.ts';
import { loadFor, withWindows } from '../../measure/load.ts';
import { mergeLoads } from '../../measure/merge-loads.ts';
import { describeLoaders } from '../../measure/several-loaders.ts';
import { observeMetrics } from '../../observe/kubernetes/observe-metrics.ts';
import { observePods } from '../../observe/kubernetes/observe-pods.ts';
import { podSource } from '../../observe/kubernetes/pod-source.ts';
import type { ObservationWindow } from '../../observe/window.ts';
import type { LoadResult } from '../../results/record.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import type { DnsWorkload } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import type { Phase } from './evidence.ts';
import type { SwapSettings } from './settings.ts';

export interface PhaseRequest {
  readonly run: ClusterRun;
  readonly loader: Loader;
  readonly workload: DnsWorkload;
  readonly pods: readonly V1Pod[];
  readonly kind: Phase['kind'];
  readonly seconds: number;
  readonly ratePerSecond: number;
  readonly sending: Pick<SwapSettings, 'loadPerNode' | 'loaders'>;
  readonly queryFile: string;
  readonly outputFile: string;
  readonly signal: AbortSignal;
}

const TIMEOUT_SECONDS = 5;
/** As dnsperf's defaults: 100 queries in flight from each of its clients. */
const LOAD = { clients: 20, threads: 1, outstanding: 100 };

async function openWindow({
  run,
  workload,
  pods,
  seconds,
  signal,
}: PhaseRequest): Promise<ObservationWindow> {
  const { client, observation, clockOffsetSeconds } = run;
  const places = pods.map((pod) => ({
    name: pod.metadata?.name ?? '',
    node: pod.spec?.nodeName ?? '',
    container: (pod.spec?.containers.length ?? 0) > 1 ? workload.container : null,
  }));
  const source = podSource(client, workload.namespace, places, signal);
  const common = { clock: client.clock, pods: places, source, signal };
  // Without a limit nothing is throttled, and the counters of that are the slowest to come.
  const loadSeconds = workload.cpuLimitCores === null ? 0 : seconds;
  if (observation === 'summary') return observePods({ ...common, loadSeconds });
  if (observation === 'metrics') return observeMetrics({ ...common, clockOffsetSeconds });
  return { end: async () => null };
}

/** The node of each loader; undefined where the settings and the scheduler place it. */
function placesOf({ pods, sending: { loadPerNode, loaders } }: PhaseRequest): (string | undefined)[] {
  const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
  const each = loadPerNode && nodes.length > 1 ? nodes : [undefined];
  return each.flatMap((node) => Array.from({ length: loaders }, () => node));
}

/** Whole queries a second, as dnsperf takes them, which add up to the rate. */
function shareOf(ratePerSecond: number, places: number, index: number): number {
  const whole = Math.floor(ratePerSecond / places);
  return index < ratePerSecond - whole * places ? whole + 1 : whole;
}

/** Several loaders start together and share the rate, and all stop as soon as one fails. */
async function sendAll(request: PhaseRequest, onStarted: () => void): Promise<LoadOutcome[]> {
  const { loader, workload, pods, seconds, ratePerSecond, queryFile, outputFile } = request;
  const endpoint = { address: workload.service.address, port: 53, instances: pods.length };
  const places = placesOf(request);
  const failed = new AbortController();
  const signal = AbortSignal.any([request.signal, failed.signal]);
  let waiting = places.length;
  const gate =
    places.length === 1
      ? null
      : await loader.openGate({ loaders: places.length, runSeconds: seconds + TIMEOUT_SECONDS, signal });
  const loads = places.map((node, index) =>
    loader
      .load({
        endpoint,
        transport: 'udp',
        queryFile,
        source: null,
        dnssecOk: false,
        durationSeconds: seconds,
        ratePerSecond: shareOf(ratePerSecond, places.length, index),
        openLoop: loader.kind === 'builtin',
        ...loadFor(LOAD, endpoint),
        timeoutSeconds: TIMEOUT_SECONDS,
        outputFile: places.length === 1 ? outputFile : outputFile.replace(/\.txt$/, `-${index + 1}.txt`),
        ...(node === undefined ? {} : { onNode: node }),
        ...(gate === null ? {} : { gate: { address: gate.address, port: gate.port, index } }),
        onStarted: () => {
          waiting -= 1;
          if (waiting === 0) onStarted();
        },
        onProgress: () => undefined,
        signal,
      })
      .catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
  );
  try {
    await Promise.allSettled(loads);
    const outcomes = await Promise.all(loads);
    return gate === null ? outcomes : await withWindows(request.run.client.clock, gate, outcomes);
  } finally {
    await gate?.close();
  }
}

type Senders = Pick<Phase, 'senders' | 'loaders'>;

/** @throws BenchError `E_LOADER_FAILED` if they sent together for too little of the time */
function sendersOf(outcomes: readonly LoadOutcome[], durationSeconds: number): Senders {
  if (outcomes.length === 1) return {};
  return {
    ...describeLoaders(outcomes, { loaders: outcomes.length, durationSeconds }),
    senders: outcomes.map(({ node = '', result: { queriesSent, queriesCompleted, queriesLost } }) => ({
      ...{ node, queriesSent, queriesCompleted, queriesLost },
    })),
  };
}

async function underLoad(request: PhaseRequest, window: ObservationWindow): Promise<LoadOutcome[]> {
  const { run, seconds, signal } = request;
  const { clock } = run.client;
  const started = Promise.withResolvers<void>();
  const loading = sendAll(request, () => {
    window.started?.();
    started.resolve();
  });
  // The loader then waits for lost answers; that time is no part of the window.
  // Without figures of a kubelet, nobody waits for it.
  loading.catch(() => undefined);
  const over = started.promise.then(() => clock.sleep(seconds, signal));
  over.catch(() => undefined);
  await Promise.race([loading, over]);
  await window.end();
  return loading;
}

export async function measurePhase(request: PhaseRequest): Promise<Phase> {
  const { run, kind, seconds, signal } = request;
  const { clock } = run.client;
  const window = await openWindow(request);
  const startedAt = clock.now().toISOString();
  try {
    let load: LoadResult | null = null;
    let senders: Senders = {};
    if (kind === 'idle') {
      window.started?.();
      await clock.sleep(seconds, signal);
    } else {
      const outcomes = await underLoad(request, window);
      load = mergeLoads(outcomes.map(({ result }) => result));
      senders = sendersOf(outcomes, seconds);
    }
    const endedAt = clock.now().toISOString();
    const observation = await window.end();
    const instances = window.instances?.() ?? null;
    return {
      kind,
      startedAt,
      endedAt,
      load,
      observation,
      instances: instances === null ? null : [...instances],
      ...senders,
    };
  } finally {
    await window.end().catch(() => undefined);
  }
}
