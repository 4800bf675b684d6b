/** The loaders of a trial: one per endpoint, all at once, and the server observed under their load. */
import type { RunConfiguration } from '../config/configuration.ts';
import { PUBLISHED_CPU } from '../config/kubernetes-settings.ts';
import type { Endpoint } from '../dns/endpoint.ts';
import { type Gate, windowOf } from '../loaders/gate/gate.ts';
import type { LaterRate, LoadDetail, Loader, LoadOutcome, LoadRequest } from '../loaders/loader.ts';
import type { ObservationWindow } from '../observe/window.ts';
import type { PlannedCase, PlannedTrial } from '../plan/plan.ts';
import { allOrAbort } from '../process.ts';
import { cpuQuantity } from '../quantity.ts';
import type { InstanceObservation, Losses, Observation } from '../results/record.ts';
import type { Deployment } from '../targets/target.ts';
import type { Clock } from '../world.ts';
import { addCounts, explainLosses, type LossEvidence } from './explain-losses.ts';
import { type LossMeter, openLossMeter } from './loss-meter.ts';
import { mergeLoads } from './merge-loads.ts';
import { rawFolderOf, type TrialContext, type TrialProgress, workloadOf } from './trial-context.ts';

/** How fast queries are sent. */
export type Pace = Pick<LoadRequest, 'ratePerSecond' | 'openLoop'>;

export interface LoadStage extends Pace {
  /** In the names of the loaders' raw output. */
  readonly stage: string;
  readonly durationSeconds: number;
  readonly progress: TrialProgress;
  /** In an open loop: another rate right after it. */
  readonly after?: LaterRate;
  /** As in `LoadRequest`. */
  readonly detail?: LoadDetail;
  /** Called by each loader when it begins to send. */
  readonly onStarted?: () => void;
}

/**
 * A load balancer sends all packets of one socket to one instance. With this many sockets per instance, the
 * busiest of four gets 9 % more than its share on average (binomial distribution); with dnsperf's usual total of 20
 * it would be 40 %, and one time in eighty an instance would get nothing.
 */
export const SOCKETS_PER_INSTANCE = 100;

/** Each instance behind a load balancer gets the load that its own loader would send. */
export function loadFor(
  { clients, threads, outstanding }: Pick<RunConfiguration, 'clients' | 'threads' | 'outstanding'>,
  { instances = 1 }: Partial<Endpoint>,
): Pick<LoadRequest, 'clients' | 'threads' | 'outstanding'> {
  return {
    clients: (instances === 1 ? clients : Math.max(clients, SOCKETS_PER_INSTANCE)) * instances,
    threads: threads * instances,
    outstanding: outstanding * instances,
  };
}

/** With less, one dnsperf could not exhaust several published pods. */
const PUBLISHED_SINGLE_CPU = '7';

/** The CPU request and limit of a case's loader on a cluster, as a quantity; undefined for no limit. */
export function loaderCpuFor(
  { kubernetes: { loaderCpu } }: Pick<RunConfiguration, 'kubernetes'>,
  { tier, mode }: Pick<PlannedCase, 'tier' | 'mode'>,
): string | undefined {
  if (loaderCpu !== PUBLISHED_CPU) return loaderCpu;
  return mode === 'single' ? PUBLISHED_SINGLE_CPU : cpuQuantity(tier);
}

/** How long the gate waits for the windows after the last result: the loaders have ended by then. */
const GATE_SECONDS = 2;

/** Adds when each loader sent, by the clock of the gate. Closes it. */
async function withWindows(
  clock: Pick<Clock, 'sleep'>,
  gate: Gate,
  outcomes: readonly LoadOutcome[],
): Promise<LoadOutcome[]> {
  await Promise.race([gate.times, clock.sleep(GATE_SECONDS)]);
  await gate.close();
  const times = await gate.times;
  return outcomes.map((outcome, index) => {
    const noted = times.get(index) ?? {};
    const window = windowOf(noted, outcome.result.runTimeSeconds);
    return {
      ...outcome,
      ...(window === null ? {} : { window }),
      ...(noted.clock === undefined ? {} : { clock: noted.clock }),
    };
  });
}

/** The loaders of a case: one per endpoint, or with `--loaders` several, which wait for each other. */
function placesOf({ configuration }: TrialContext, { endpoints }: Deployment): Endpoint[] {
  return endpoints.flatMap((endpoint) => new Array<Endpoint>(configuration.loaders).fill(endpoint));
}

/** What a load is. */
type LoadShape = Pick<
  LoadStage,
  'stage' | 'durationSeconds' | 'ratePerSecond' | 'openLoop' | 'after' | 'detail'
>;

/** The request for one of `count` loaders, which share the rate; `index` is its own number. */
export function requestFor(
  context: TrialContext,
  planned: PlannedTrial,
  endpoint: Endpoint,
  { stage, durationSeconds, ratePerSecond, openLoop, after, detail }: LoadShape,
  { index, count }: { readonly index: number; readonly count: number } = { index: 0, count: 1 },
): Omit<LoadRequest, 'onStarted' | 'onProgress' | 'signal'> {
  const { configuration, loader } = context;
  const { queryFile, workload } = workloadOf(context, planned);
  const cpu = loaderCpuFor(configuration, planned.case);
  return {
    endpoint,
    transport: planned.case.transport,
    queryFile,
    source: workload.builtin?.source ?? null,
    dnssecOk: configuration.dnssec,
    durationSeconds,
    ratePerSecond: ratePerSecond === null ? null : ratePerSecond / count,
    openLoop,
    ...(after === undefined ? {} : { after: { ...after, ratePerSecond: after.ratePerSecond / count } }),
    ...(detail === undefined ? {} : { detail }),
    ...loadFor(configuration, endpoint),
    ...(cpu === undefined ? {} : { cpu }),
    timeoutSeconds: configuration.timeoutSeconds,
    outputFile: `${rawFolderOf(context, planned)}/${loader.kind}-${stage}-${index + 1}.txt`,
  };
}

export interface Together {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly loader: Pick<Loader, 'load' | 'openGate'>;
  readonly count: number;
  /** Whether they wait for each other. */
  readonly isGated: boolean;
  readonly runSeconds: number;
  readonly signal: AbortSignal;
}

/** Runs the loads at once. Stops the others as soon as one fails. */
export async function loadTogether(
  { clock, loader, count, isGated, runSeconds, signal: outer }: Together,
  requestOf: (index: number) => Omit<LoadRequest, 'signal' | 'gate'>,
): Promise<LoadOutcome[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const gate = isGated ? await loader.openGate({ loaders: count, runSeconds, signal }) : null;
  const runs = Array.from({ length: count }, async (_, index) => {
    const gated = gate === null ? {} : { gate: { address: gate.address, port: gate.port, index } };
    return loader.load({ ...requestOf(index), ...gated, signal });
  });
  try {
    // A load that nothing stopped is complete, even if the run is stopped by now.
    const outcomes = await allOrAbort(runs, failed);
    return gate === null ? outcomes : await withWindows(clock, gate, outcomes);
  } finally {
    await gate?.close();
  }
}

/** Runs all loaders of a trial. */
export function runLoaders(
  context: TrialContext,
  planned: PlannedTrial,
  deployment: Deployment,
  stage: LoadStage,
): Promise<LoadOutcome[]> {
  const { configuration, loader, world } = context;
  const places = placesOf(context, deployment);
  const count = places.length;
  const rates = new Array<number>(count).fill(0);
  const dead = new AbortController();
  deployment.died.catch((error: unknown) => dead.abort(error));
  const together = {
    ...{ clock: world.clock, loader, count, isGated: configuration.loaders > 1 },
    runSeconds: stage.durationSeconds + configuration.timeoutSeconds,
    signal: AbortSignal.any([context.signal, dead.signal]),
  };
  return loadTogether(together, (index) => ({
    // There are as many.
    ...requestFor(context, planned, places[index] as Endpoint, stage, { index, count }),
    onStarted: stage.onStarted ?? (() => undefined),
    onProgress: (qps) => {
      rates[index] = qps;
      stage.progress.rate(rates.reduce((total, rate) => total + rate, 0));
    },
  }));
}

/**
 * The servers are observed from before the first query until the load ends; the window has started when all loaders send. In the end a
 * loader waits for lost answers, possibly for seconds; that time is not part of the load, nor of the window, which is closed in any case.
 * @param load Calls `onStarted` once for each of `count` loaders.
 */
export async function observeLoad(
  clock: Pick<Clock, 'sleep'>,
  window: ObservationWindow,
  { count, durationSeconds }: { readonly count: number; readonly durationSeconds: number },
  load: (onStarted: () => void) => Promise<LoadOutcome[]>,
): Promise<{ readonly outcomes: LoadOutcome[]; readonly observation: Observation | null }> {
  const ended = new AbortController();
  const started = Promise.withResolvers<void>();
  const over = started.promise.then(() => clock.sleep(durationSeconds, ended.signal)).catch(() => undefined);
  let waiting = count;
  const loading = load(() => {
    waiting -= 1;
    if (waiting > 0) return;
    window.started?.();
    started.resolve();
  });
  // It is awaited below; until then its rejection must not count as unhandled.
  loading.catch(() => undefined);
  try {
    await Promise.race([loading, over]);
    const observation = await window.end();
    return { outcomes: await loading, observation };
  } finally {
    ended.abort();
    await window.end().catch(() => undefined);
  }
}

/** Only UDP loses queries; the kernel's counters are read where the server runs on this machine. */
async function meterOf(
  { world, target }: TrialContext,
  planned: PlannedTrial,
  { endpoints, instances }: Deployment,
): Promise<LossMeter | null> {
  if (planned.case.transport !== 'udp' || target.kind !== 'local') return null;
  return openLossMeter(world, { endpoints, serverPid: instances[0]?.pid ?? null });
}

const ON_A_CLUSTER =
  "only what the load generator sees in its own pod is known: the counters of the server's pod and of the nodes cannot be read from there";

/** Where the lost queries of a load are; null if none were lost. Without evidence: on a cluster. */
export function lossesOf(
  planned: PlannedTrial,
  outcomes: readonly LoadOutcome[],
  evidence: LossEvidence | null,
): Losses | null {
  const load = mergeLoads(outcomes.map(({ result }) => result));
  if (planned.case.transport !== 'udp' || load.queriesLost === 0) return null;
  return explainLosses(load, addCounts(outcomes.map(({ counts }) => counts)), evidence, ON_A_CLUSTER);
}

/**
 * The load of a trial, with what the server did from the first loader's start on, and where lost queries are. Calls `onStarted` once, when
 * all loaders send.
 */
export async function loadAndObserve(
  context: TrialContext,
  planned: PlannedTrial,
  deployment: Deployment,
  stage: Omit<LoadStage, 'onStarted'>,
  onStarted: () => void = () => undefined,
): Promise<{
  outcomes: LoadOutcome[];
  observation: Observation | null;
  instances: readonly InstanceObservation[] | null;
  losses: Losses | null;
}> {
  const { clock } = context.world;
  const { durationSeconds } = stage;
  const meter = await meterOf(context, planned, deployment);
  const before = await meter?.();
  const window = await deployment.observe();
  const { length: count } = placesOf(context, deployment);
  let isLoaded = false;
  const { outcomes, observation } = await observeLoad(
    clock,
    { ...window, started: onStarted },
    { count, durationSeconds },
    (onEach) =>
      runLoaders(context, planned, deployment, {
        ...stage,
        onStarted: () => {
          if (!isLoaded) window.started?.();
          isLoaded = true;
          onEach();
        },
      }),
  );
  const evidence = meter === null || before === undefined ? null : { before, after: await meter() };
  const losses = lossesOf(planned, outcomes, evidence);
  return { outcomes, observation, instances: window.instances?.() ?? null, losses };
}
