/** One trial: deploy, check the answers, warm up, load and observe, remove. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { LoadOutcome } from '../loaders/loader.ts';
import type { PlannedTrial } from '../plan/plan.ts';
import { parseQuantity } from '../quantity.ts';
import type {
  FailedTrial,
  LimitedBy,
  LoadResult,
  MaxRate,
  Observation,
  OkTrial,
  Trial,
  TrialMetrics,
} from '../results/record.ts';
import type { Server } from '../servers/server.ts';
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
import { loadAndObserve, type Pace, runLoaders } from './load.ts';
import { findMaxRate } from './max-rate.ts';
import { mergeLoads } from './merge-loads.ts';
import { addObservations } from './merge-observations.ts';
import { codesProblem } from './response-codes.ts';
import { describeLoaders } from './several-loaders.ts';
import { rawFolderOf, type TrialContext, type TrialProgress, workloadOf } from './trial-context.ts';

/** The result of a trial besides its record. */
export interface TrialOutcome {
  readonly trial: Trial;
  /** Configuration files of the first instance, once it was deployed. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Runs one trial. A failure is a result: it resolves with a failed trial and its reason. It rejects only when
 * the run is interrupted. It always stops everything that it started.
 */
export async function runTrial(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  progress: TrialProgress,
): Promise<TrialOutcome> {
  const { world, signal } = context;
  const startedAt = world.clock.now().toISOString();
  const gaveUp = new AbortController();
  let deployment: Deployment | undefined;
  let measured: Promise<Measured> | undefined;
  const describe = () => ({
    key: planned.key,
    caseKey: planned.case.key,
    round: planned.round,
    order: planned.order,
    startedAt,
    endedAt: world.clock.now().toISOString(),
    instances: [...(deployment?.instances ?? [])],
  });
  try {
    progress.phase('starting');
    deployment = await context.target.deploy({
      server,
      program: context.programOf(server),
      zoneSet: context.zoneSet,
      mode: planned.case.mode,
      transport: planned.case.transport,
      allowances: planned.case.allowances,
      workers: context.configuration.kubernetes.workers,
      logDirectory: rawFolderOf(context, planned),
      signal,
    });
    const stoppable = { ...context, signal: AbortSignal.any([signal, gaveUp.signal]) };
    measured = measure(stoppable, planned, server, deployment, progress);
    const result = await Promise.race([measured, deployment.died]);
    return { trial: { ...describe(), status: 'ok', ...result }, files: deployment.files };
  } catch (error) {
    signal.throwIfAborted();
    return {
      trial: { ...describe(), status: 'failed', loaderCommands: [], failure: failureOf(error) },
      files: deployment?.files ?? {},
    };
  } finally {
    progress.phase('stopping');
    // When the server died, loaders may still be running: nothing of this trial may affect the next.
    gaveUp.abort();
    await measured?.catch(() => undefined);
    await deployment?.remove();
  }
}

function failureOf(error: unknown): FailedTrial['failure'] {
  if (error instanceof BenchError) {
    return { code: error.code, message: error.message, fix: error.fix, evidence: [...error.evidence] };
  }
  return {
    code: 'E_INTERNAL',
    message: messageOf(error),
    fix: 'This is a bug in bench: please report it with the record of this run.',
    evidence: error instanceof Error ? (error.stack ?? '').split('\n').slice(1, 6) : [],
  };
}

type Measured = Omit<
  OkTrial,
  'status' | 'key' | 'caseKey' | 'round' | 'order' | 'startedAt' | 'endedAt' | 'instances'
>;

async function measure(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  deployment: Deployment,
  progress: TrialProgress,
): Promise<Measured> {
  const { configuration } = context;
  progress.phase('checking answers');
  const checkedAnswers = await checkDeployment(context, planned, server, deployment);
  if (configuration.warmupSeconds > 0) {
    progress.phase('warming up');
    await runLoaders(context, planned, deployment, {
      stage: 'warm-up',
      ...paceOf(context, planned, null),
      durationSeconds: configuration.warmupSeconds,
      progress,
      onStarted: () => undefined,
    });
  }
  const maxRate =
    configuration.objective === 'max-rate' ? await searchRate(context, planned, deployment, progress) : null;
  progress.phase('measuring');
  const {
    outcomes,
    observation: serverObservation,
    instances,
  } = await loadAndObserve(context, planned, deployment, progress, paceOf(context, planned, maxRate));
  const loads = outcomes.map(({ result }) => result);
  const loaders = describeLoaders(outcomes, configuration);
  const load = mergeLoads(loads);
  await refuseUselessLoad(load, context, planned, server, deployment);
  const loader = addObservations(outcomes.map(({ observation }) => observation));
  return {
    loaderCommands: outcomes.map(({ command }) => [...command]),
    checkedAnswers,
    load,
    loads,
    server: serverObservation,
    loader,
    ...loaderNodesOf(outcomes),
    ...loaders,
    instanceObservations: instances === null ? null : [...instances],
    steadyState: examineSteadyState(load.intervals, planned.key),
    metrics: metricsOf(load, serverObservation),
    ...(maxRate === null ? {} : { maxRate }),
    limitedBy:
      limitOf(maxRate) ??
      limitingFactor({
        // Over the time in which queries were sent: the window also includes the loaders' start.
        serverCores: serverObservation === null ? null : serverObservation.cpuSeconds / load.runTimeSeconds,
        serverAllowance: enforcedAllowance(
          // Where it runs, nobody set the run's limit.
          server.existing?.kind === 'address' ? 'none' : context.target.cpuLimits.method,
          deployment.instances.map(({ cpuAllowance }) => cpuAllowance),
          context.world.machine.availableCpus,
        ),
        loaderCores: loaderCores(outcomes.map(({ observation }) => observation?.cpuCores ?? null)),
        loaderAllowance:
          configuration.loaders *
          loaderAllowance(
            configuration.threads * deployment.instances.length,
            context.target.kind === 'kubernetes' ? parseQuantity(configuration.kubernetes.loaderCpu) : null,
          ),
        loaderWasTheLimit: anyWasTheLimit(outcomes),
        qps: load.qps,
        ratePerSecond: planned.case.ratePerSecond,
        isTimed: workloadOf(context, planned).workload.builtin?.isTimed === true,
      }),
  };
}

/** Only loaders in a cluster have a node. */
function loaderNodesOf(outcomes: readonly LoadOutcome[]): Pick<Measured, 'loaderNodes'> {
  const nodes = outcomes.flatMap(({ node }) => node ?? []);
  return nodes.length === 0 ? {} : { loaderNodes: nodes };
}

function searchRate(...arguments_: Parameters<typeof findMaxRate>): Promise<MaxRate> {
  const [, , , progress] = arguments_;
  progress.phase('searching for the highest rate');
  return findMaxRate(...arguments_);
}

/** An open loop at the rate that was found, or what the case asks for. */
function paceOf({ configuration }: TrialContext, planned: PlannedTrial, maxRate: MaxRate | null): Pace {
  if (maxRate !== null) return { ratePerSecond: maxRate.rate, openLoop: true };
  return { ratePerSecond: planned.case.ratePerSecond, openLoop: configuration.openLoop };
}

/** What limited the search. */
function limitOf(maxRate: MaxRate | null): LimitedBy | null {
  if (maxRate === null) return null;
  return maxRate.generatorLimited ? 'loader' : 'server';
}

async function checkDeployment(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  deployment: Deployment,
): Promise<number> {
  if (server.answers === 'echo') return 0;
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
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  deployment: Deployment,
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
    deployment.endpoints.length * context.configuration.loaders,
    workload.codes ?? 'counted',
  );
  if (problem !== null) {
    throw new BenchError('E_RESPONSE_CODES', `${server.name} answers differently under load: ${problem}`, {
      evidence: (await deployment.lastLogLines()).slice(-10),
      fix: 'Its throughput is not comparable. See its log in the run folder under raw/, or lower --outstanding.',
    });
  }
}

function metricsOf(load: LoadResult, server: Observation | null): TrialMetrics {
  return {
    qps: load.qps,
    latencySeconds: load.latencySeconds?.mean ?? null,
    lostRatio: load.queriesSent === 0 ? 0 : load.queriesLost / load.queriesSent,
    cpuSecondsPerQuery: server === null ? null : server.cpuSeconds / load.queriesCompleted,
    cpuCores: server?.cpuCores ?? null,
    memoryBytes: server?.memoryBytes?.mean ?? null,
    throttledSeconds: server?.throttling?.throttledSeconds ?? null,
    lookupsPerSecond: load.lookups?.perSecond ?? null,
    lookupLatencySeconds: load.lookups?.latencySeconds?.mean ?? null,
  };
}
