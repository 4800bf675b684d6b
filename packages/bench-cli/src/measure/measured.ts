/** From the load and what was observed under it to what a trial records. */
import { BenchError } from '../errors.ts';
import type { LoadOutcome } from '../loaders/loader.ts';
import type { PlannedTrial } from '../plan/plan.ts';
import { parseQuantity } from '../quantity.ts';
import type {
  Counters,
  InstanceObservation,
  LimitedBy,
  LoadResult,
  Losses,
  MaxRate,
  NeighbourSecond,
  Observation,
  OkTrial,
  TrialMetrics,
} from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import { sum } from '../stats/intervals.ts';
import { examineSteadyState } from '../stats/steady-state.ts';
import type { Deployment } from '../targets/target.ts';
import { checkAnswers } from './answer-check.ts';
import { demandUseful } from './learned-answers.ts';
import {
  anyWasTheLimit,
  enforcedAllowance,
  limitingFactor,
  loaderAllowance,
  loaderCores,
} from './limiting-factor.ts';
import { loaderCpuFor, loadFor } from './load.ts';
import { mergeTogether, recordedLoads } from './merge-loads.ts';
import { addObservations } from './merge-observations.ts';
import { codesProblem } from './response-codes.ts';
import { describeLoaders } from './several-loaders.ts';
import { type TrialContext, workloadOf } from './trial-context.ts';

/** What a trial records of its measurement. */
export type Measured = Omit<
  OkTrial,
  'status' | 'key' | 'caseKey' | 'round' | 'order' | 'startedAt' | 'endedAt' | 'instances'
>;

/** A server under load, over one window or several. */
export interface Loaded {
  /** By loader. */
  readonly outcomes: readonly LoadOutcome[];
  readonly observation: Observation | null;
  readonly instances: readonly InstanceObservation[] | null;
  /** In each second of the load, where that was watched. */
  readonly neighbours?: NeighbourSecond[] | undefined;
  /** What the CPUs counted, where they do. */
  readonly counters?: Counters | undefined;
  /** Null where nothing was lost, or where losses are not explained. */
  readonly losses: Losses | null;
}

/** What is being measured. */
export interface Subject {
  readonly context: TrialContext;
  readonly planned: PlannedTrial;
  readonly server: Server;
  readonly deployment: Deployment;
}

/**
 * Everything that a trial records. `passes`: how often each loader began the workload anew.
 * Rejects if the load says nothing: no query answered, or with other codes than predicted.
 */
export async function measuredOf(
  subject: Subject,
  { outcomes, observation, instances, neighbours, counters, losses }: Loaded,
  checkedAnswers: number,
  maxRate: MaxRate | null,
  passes = 1,
): Promise<Measured> {
  const { context, planned } = subject;
  const loads = outcomes.map(({ result }) => result);
  const load = mergeTogether(outcomes, maxRate?.rate ?? planned.case.ratePerSecond);
  await refuseUselessLoad(load, subject, passes);
  return {
    loaderCommands: outcomes.map(({ command }) => [...command]),
    checkedAnswers,
    load,
    loads: recordedLoads(loads),
    server: observation,
    loader: addObservations(outcomes.map((outcome) => outcome.observation)),
    ...loaderNodesOf(outcomes),
    ...describeLoaders(outcomes, context.configuration),
    instanceObservations: instances === null ? null : [...instances],
    steadyState: examineSteadyState(load.intervals, planned.key),
    metrics: metricsOf(load, observation),
    ...(neighbours === undefined ? {} : { neighbours }),
    ...(counters === undefined ? {} : { counters }),
    ...(losses === null ? {} : { losses }),
    ...(maxRate === null ? {} : { maxRate }),
    limitedBy: limitOf(maxRate) ?? limitOfLoad(subject, outcomes, load, observation),
  };
}

/** CPUs in use while queries were sent: the time in which they were observed also holds the start and end of the loaders. */
export function coresUnderLoad(
  observed: Pick<Observation, 'cpuSeconds'> | null,
  { runTimeSeconds }: Pick<LoadResult, 'runTimeSeconds'>,
): number | null {
  return observed === null ? null : observed.cpuSeconds / runTimeSeconds;
}

/**
 * CPUs that a loader used. dnsperf is observed until it exits, and waits for lost answers before: its CPU time belongs to the time in
 * which it sent. The built-in loader, which says itself whether it was the limit, needs CPU before that too, to compile its code.
 */
export function coresOfLoader({ observation, result, wasTheLimit }: LoadOutcome): number | null {
  return wasTheLimit === null ? coresUnderLoad(observation, result) : (observation?.cpuCores ?? null);
}

/** What kept this load from being higher. */
export function limitOfLoad(
  { context, planned, server, deployment }: Subject,
  outcomes: readonly LoadOutcome[],
  load: LoadResult,
  observation: Observation | null,
): LimitedBy {
  const { configuration, target } = context;
  return limitingFactor({
    serverCores: coresUnderLoad(observation, load),
    serverAllowance: enforcedAllowance(
      // Where it runs, nobody set the run's limit.
      server.existing?.kind === 'address' ? 'none' : target.cpuLimits.method,
      deployment.instances.map(({ cpuAllowance }) => cpuAllowance),
      context.world.machine.availableCpus,
    ),
    loaderCores: loaderCores(outcomes.map(coresOfLoader)),
    loaderAllowance:
      configuration.loaders *
      loaderAllowance(
        configuration.threads * deployment.instances.length,
        target.kind === 'kubernetes' ? parseQuantity(loaderCpuFor(configuration, planned.case)) : null,
      ),
    loaderWasTheLimit: anyWasTheLimit(outcomes),
    qps: load.qps,
    ratePerSecond: planned.case.ratePerSecond,
    isTimed: workloadOf(context, planned).workload.builtin?.isTimed === true,
  });
}

/** Only loaders in a cluster have a node. */
function loaderNodesOf(outcomes: readonly LoadOutcome[]): Pick<Measured, 'loaderNodes'> {
  const nodes = outcomes.flatMap(({ node }) => node ?? []);
  return nodes.length === 0 ? {} : { loaderNodes: nodes };
}

/** What limited the search. */
function limitOf(maxRate: MaxRate | null): LimitedBy | null {
  if (maxRate === null) return null;
  return maxRate.generatorLimited ? 'loader' : 'server';
}

/**
 * Sends every distinct query once to every endpoint and resolves with how many were checked. Rejects if an answer is wrong.
 * An echo has only to be reached.
 */
export async function checkDeployment({ context, planned, server, deployment }: Subject): Promise<number> {
  if (server.answers === 'echo') {
    for (const endpoint of deployment.endpoints) await deployment.reached?.(endpoint);
    return 0;
  }
  const { zoneSet, signal } = context;
  const workload = context.answersOf(server, workloadOf(context, planned).workload);
  let checked = 0;
  for (const endpoint of deployment.endpoints) {
    const client = await deployment.openClient(endpoint, workload);
    try {
      checked += await checkAnswers({
        client,
        server,
        zoneSet,
        workload,
        dnssec: context.configuration.dnssec,
        signal,
      });
    } finally {
      client.close();
    }
  }
  if (context.configuration.answers === 'stable')
    demandUseful(server, context.predictedCodes(server, workload));
  return checked;
}

/** dnsperf exits with 0 whatever happens to its queries; here a load without useful results is a failure. */
async function refuseUselessLoad(
  load: LoadResult,
  { context, planned, server, deployment }: Subject,
  passes: number,
): Promise<void> {
  if (load.queriesCompleted === 0) {
    throw new BenchError('E_ALL_LOST', `${server.name} answered none of ${load.queriesSent} queries`, {
      evidence: (await deployment.lastLogLines()).slice(-10),
      fix: 'It answered before the load began: see its log in the run folder under raw/.',
    });
  }
  if (server.answers === 'echo') return;
  const workload = context.answersOf(server, workloadOf(context, planned).workload);
  const predicted = context.predictedCodes(server, workload);
  const problem = codesProblem(
    load,
    predicted,
    // Each thread of the built-in loader has a pass of its own.
    sum(deployment.endpoints.map((endpoint) => loadFor(context.configuration, endpoint).threads)) *
      context.configuration.loaders *
      passes,
    workload.codes ?? 'counted',
  );
  if (problem !== null) {
    throw new BenchError('E_RESPONSE_CODES', `${server.name} answers differently under load: ${problem}`, {
      evidence: (await deployment.lastLogLines()).slice(-10),
      fix: 'Its throughput is not comparable. See its log in the run folder under raw/, or lower --outstanding.',
    });
  }
}

/** The figures of a trial. */
export function metricsOf(load: LoadResult, server: Observation | null): TrialMetrics {
  return {
    qps: load.qps,
    latencySeconds: load.latencySeconds?.mean ?? null,
    lostRatio: load.queriesSent === 0 ? 0 : load.queriesLost / load.queriesSent,
    cpuSecondsPerQuery: server === null ? null : server.cpuSeconds / load.queriesCompleted,
    cpuCores: coresUnderLoad(server, load),
    memoryBytes: server?.memoryBytes?.mean ?? null,
    throttledSeconds: server?.throttling?.throttledSeconds ?? null,
    lookupsPerSecond: load.lookups?.perSecond ?? null,
    lookupLatencySeconds: load.lookups?.latencySeconds?.mean ?? null,
  };
}
