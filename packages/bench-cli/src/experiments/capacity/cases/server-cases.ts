/** A trial of a server of a target: at saturation, and at half of that. */
import type {
  Measuring,
  Opened,
  OpenRequest,
  PlannedTrial,
  TargetRequest,
  TrialEvents,
} from '../../../engine/experiment.ts';
import { type DecidedServers, openServers } from '../../../engine/servers.ts';
import { BenchError, internalError } from '../../../errors.ts';
import { loadAndObserve } from '../../../measure/load.ts';
import { coresUnderLoad, measuredOf, type Subject } from '../../../measure/measured.ts';
import { checkAndWarmUp, withServer } from '../../../measure/trial.ts';
import type { TrialContext } from '../../../measure/trial-context.ts';
import type { LoadResult } from '../../../results/record.ts';
import type { LimitedBy } from '../../../results/record-units.ts';
import type { Server } from '../../../servers/server.ts';
import { percentileIn } from '../../../stats/percentile.ts';
import { retryTaken } from '../../../targets/local/free-port.ts';
import { corednsMetrics } from '../api-control.ts';
import { metricIn } from '../memory/memory-of.ts';
import { type CasesEvidence, COUNTERS, type LoadFigures, type MemorySource } from './evidence.ts';

/** What runs in a trial, and what is asked. */
export interface Runnable {
  readonly server: Server;
  /** One of the decided workloads. */
  readonly workload: string;
  readonly names: number;
  /** Where its metrics are; null for a server without any, and where this machine does not reach them. */
  readonly metricsPort: number | null;
}

export interface ServerCases {
  readonly servers: DecidedServers;
  runnable(planned: PlannedTrial, context: TrialContext): Promise<Runnable>;
}

export async function openServerCases(
  request: TargetRequest<unknown>,
  cases: ServerCases,
): Promise<Opened<Measuring<CasesEvidence>>> {
  const opened = await openServers({ ...request, decided: cases.servers } as OpenRequest<
    unknown,
    DecidedServers
  >);
  return {
    ...opened,
    context: { measure: (planned, on) => measureCase(opened.context, cases, planned, on) },
  };
}

/** Some ports are chosen with what runs: others, where one of them was taken meanwhile. */
export const measureCase = (...given: Parameters<typeof measureOnce>): Promise<CasesEvidence> =>
  retryTaken(() => measureOnce(...given));

async function measureOnce(
  trials: TrialContext,
  cases: ServerCases,
  trial: PlannedTrial,
  on: TrialEvents,
): Promise<CasesEvidence> {
  const { server, workload, names, metricsPort } = await cases.runnable(trial, trials);
  const { key, round, order, case: item } = trial;
  const found = cases.servers.plan.cases.find(({ tier }) => tier === item.point.tier);
  if (found === undefined) throw internalError(`no case for ${item.key}`);
  const planned = { key, round, order, case: { ...found, server: server.name, workload } };
  return withServer(trials, planned, server, on, async (context, deployment) => {
    on.files(server.name, deployment.files);
    const subject = { context, planned, server, deployment };
    const checkedAnswers = await checkAndWarmUp(subject, on);
    on.phase('saturation');
    const saturation = await loadAt(subject, 'saturation', null, on);
    const counters = metricsPort === null ? {} : await countersAt(metricsPort, context.signal);
    on.phase('half of it');
    // The load generator's rate counts what it begins: lookups, each of which is one query or several.
    const rate = Math.max(1, Math.round(saturation.lookupsPerSecond / 2));
    const half = await loadAt(subject, 'half', rate, on);
    return { names, saturation, half, counters, checkedAnswers };
  });
}

async function loadAt(
  { planned: unlimited, ...others }: Subject,
  stage: string,
  ratePerSecond: number | null,
  progress: TrialEvents,
): Promise<LoadFigures> {
  const { context, deployment } = others;
  const planned = { ...unlimited, case: { ...unlimited.case, ratePerSecond } };
  const { durationSeconds } = context.configuration;
  const loaded = await loadAndObserve(context, planned, deployment, {
    ...{ stage, ratePerSecond, openLoop: false, durationSeconds, progress },
  });
  const { load, server, limitedBy } = await measuredOf({ ...others, planned }, loaded, 0, null);
  const { mean = null, source } = server?.memoryBytes ?? {};
  const used = server && { cpuSeconds: server.cpuSeconds, memoryBytes: mean, memorySource: source };
  return figuresOf(load, used, limitedBy);
}

/** By the server, from before the load to after it. */
export interface Used {
  readonly cpuSeconds: number;
  readonly memoryBytes: number | null;
  readonly memorySource?: MemorySource | undefined;
}

/** @throws BenchError `E_LOADER_FAILED` for a load that was no lookups */
export function figuresOf(load: LoadResult, used: Used | null, limitedBy: LimitedBy): LoadFigures {
  const { lookups, qps, latencySeconds, queriesLost, queriesSent } = load;
  if (lookups === null || lookups.latencySeconds === null)
    throw new BenchError('E_LOADER_FAILED', 'the load generator reported no lookups', {
      fix: 'Check that it is of this version.',
    });
  return {
    queriesPerSecond: qps,
    lookupsPerSecond: lookups.perSecond,
    lookupLatencySeconds: {
      mean: lookups.latencySeconds.mean,
      p99: percentileIn(lookups.latencyPercentiles, 99),
    },
    queryLatencySeconds: latencySeconds?.mean ?? null,
    cpuCores: coresUnderLoad(used, load),
    memoryBytes: used?.memoryBytes ?? null,
    ...(used?.memorySource && { memorySource: used.memorySource }),
    lostRatio: queriesSent === 0 ? 0 : queriesLost / queriesSent,
    limitedBy,
  };
}

async function countersAt(port: number, signal: AbortSignal): Promise<CasesEvidence['counters']> {
  // A busy CoreDNS may not answer in time; its counters are no figure that is compared.
  const text = await corednsMetrics(port, signal).catch(() => '');
  signal.throwIfAborted();
  return Object.fromEntries(
    Object.entries(COUNTERS).flatMap(([name, { metric }]) => {
      const value = metricIn(text, metric);
      return value === null ? [] : [[name, value]];
    }),
  );
}
