/** Measures one phase of a placement: CPU of the DNS containers, idle or under load. */
import type { LoadOutcome } from '../../loaders/loader.ts';
import { loadFor, loadTogether, observeLoad, SOCKETS_PER_INSTANCE } from '../../measure/load.ts';
import { mergeLoads } from '../../measure/merge-loads.ts';
import { describeLoaders, eachLoader } from '../../measure/several-loaders.ts';
import type { ObservationWindow } from '../../observe/window.ts';
import { openPodWindow } from '../../targets/kubernetes/deployment.ts';
import { lastingContainers } from '../../targets/kubernetes/dns-container.ts';
import type { Phase } from './evidence.ts';
import type { Measured, PhasesRequest } from './placed.ts';
import { demandShares } from './rate-held.ts';

export interface PhaseRequest extends PhasesRequest, Measured {
  readonly kind: Phase['kind'];
  readonly seconds: number;
  /** Of its raw output: `placement-3`. */
  readonly name: string;
  readonly signal: AbortSignal;
}

const TIMEOUT_SECONDS = 5;
/** As dnsperf's defaults: 100 queries in flight from each of its clients. */
const LOAD = { clients: 20, threads: 1, outstanding: 100 };

function openWindow({ run, workload, pods, seconds, signal }: PhaseRequest): Promise<ObservationWindow> {
  const places = pods.map((pod) => ({
    name: pod.metadata?.name ?? '',
    node: pod.spec?.nodeName ?? '',
    container: lastingContainers(pod).length > 1 ? workload.container : null,
  }));
  // Without a limit nothing is throttled, and the counters of that are the slowest to come.
  const loadSeconds = workload.cpuLimitCores === null ? 0 : seconds;
  return openPodWindow(run, workload.namespace, places, { loadSeconds }, signal);
}

/** The node of each loader; undefined where the settings and the scheduler place it. */
function placesOf({ pods, settings: { loadPerNode, loaders } }: PhaseRequest): (string | undefined)[] {
  const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
  const each = loadPerNode && nodes.length > 1 ? nodes : [undefined];
  return each.flatMap((node) => Array.from({ length: loaders }, () => node));
}

/** Whole queries a second, as dnsperf takes them, which add up to the rate. */
function shareOf(ratePerSecond: number, places: number, index: number): number {
  const whole = Math.floor(ratePerSecond / places);
  return index < ratePerSecond - whole * places ? whole + 1 : whole;
}

/** What each of `count` loaders has: together at least what one in front of all pods would have, and not that times `count`. */
export function loadOfEach(pods: number, count: number): ReturnType<typeof loadFor> {
  const clients = pods === 1 ? LOAD.clients : SOCKETS_PER_INSTANCE;
  return loadFor({ ...LOAD, clients }, { instances: Math.ceil(pods / count) });
}

/** Several loaders start together and share the rate, and all stop as soon as one fails. */
function sendAll(
  request: PhaseRequest,
  places: readonly (string | undefined)[],
  onStarted: () => void,
): Promise<LoadOutcome[]> {
  const { run, loader, settings, workload, pods, kind, seconds, signal } = request;
  const queryFile = request.queryFiles[kind === 'external' ? kind : 'internal'];
  const outputFile = `${request.rawDirectory}/${request.name}-${kind}`;
  const endpoint = { address: workload.service.address, port: 53 };
  const { length: count } = places;
  // With --load-per-node, as many times as there are nodes.
  demandShares(settings.rate, count);
  const together = { clock: run.client.clock, loader, count, isGated: count > 1, signal };
  return loadTogether({ ...together, runSeconds: seconds + TIMEOUT_SECONDS }, (index) => {
    const node = places[index];
    return {
      ...{ endpoint, queryFile, onStarted, transport: 'udp', source: null, dnssecOk: false },
      durationSeconds: seconds,
      ratePerSecond: shareOf(settings.rate, count, index),
      openLoop: loader.kind === 'builtin',
      ...loadOfEach(pods.length, count),
      timeoutSeconds: TIMEOUT_SECONDS,
      outputFile: `${outputFile}${count === 1 ? '' : `-${index + 1}`}.txt`,
      ...(node === undefined ? {} : { onNode: node }),
      onProgress: () => undefined,
    };
  });
}

type Senders = Pick<Phase, 'senders' | 'loaders'>;

/** @throws BenchError `E_LOADER_FAILED` if they sent together for too little of the time */
function sendersOf(outcomes: readonly LoadOutcome[], durationSeconds: number): Senders {
  // It has no other to wait for, nor to be compared with.
  if (outcomes.length === 1) return { loaders: { overlap: null, each: eachLoader(outcomes) } };
  return {
    ...describeLoaders(outcomes, { loaders: outcomes.length, durationSeconds }),
    senders: outcomes.map(({ node = '', result: { queriesSent, queriesCompleted, queriesLost } }) => ({
      ...{ node, queriesSent, queriesCompleted, queriesLost },
    })),
  };
}

const timeOf = ({ run }: PhaseRequest) => run.client.clock.now().toISOString();

/** With the sum of what all loaders sent. */
async function underLoad(request: PhaseRequest, window: ObservationWindow) {
  const { run, seconds: durationSeconds } = request;
  const places = placesOf(request);
  const of = { count: places.length, durationSeconds };
  const { outcomes, observation } = await observeLoad(run.client.clock, window, of, (onStarted) =>
    sendAll(request, places, onStarted),
  );
  const load = mergeLoads(outcomes.map(({ result }) => result));
  return { load, observation, endedAt: timeOf(request), ...sendersOf(outcomes, durationSeconds) };
}

async function idle(request: PhaseRequest, window: ObservationWindow) {
  await request.run.client.clock.sleep(request.seconds, request.signal);
  const endedAt = timeOf(request);
  return { load: null, endedAt, observation: await window.end() };
}

export async function measurePhase(request: PhaseRequest): Promise<Phase> {
  const { kind } = request;
  const window = await openWindow(request);
  const startedAt = timeOf(request);
  try {
    const measured = await (kind === 'idle' ? idle(request, window) : underLoad(request, window));
    const instances = window.instances?.() ?? null;
    return {
      ...{ kind, startedAt, ...measured },
      readSeconds: window.readSeconds?.() ?? null,
      instances: instances === null ? null : [...instances],
    };
  } finally {
    await window.end().catch(() => undefined);
  }
}
