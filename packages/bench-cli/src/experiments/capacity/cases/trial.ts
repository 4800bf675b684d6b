/** One case measured once: at saturation, and then at half of what it reached. */
import { BenchError } from '../../../errors.ts';
import { runTrial } from '../../../measure/trial.ts';
import type { TrialContext, TrialProgress } from '../../../measure/trial-context.ts';
import type { OkTrial } from '../../../results/record.ts';
import { metricIn } from '../memory/memory-of.ts';
import type { CaseTrial, LoadName } from './cases-record.ts';
import { completeCase, type RunnableCase } from './planned.ts';

const POLL_SECONDS = 0.5;

/** What the tables name. Each is the sum over its labels. */
const COUNTERS = {
  autopath_success: 'coredns_autopath_success_total',
  cache_hits: 'coredns_cache_hits_total',
  cache_misses: 'coredns_cache_misses_total',
  forwarded: 'coredns_proxy_request_duration_seconds_count',
} as const;

function countersIn(text: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(COUNTERS).flatMap(([name, metric]) => {
      const value = metricIn(text, metric);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** Reads the counters until it is stopped; the server ends with its trial, so that the last reading counts. */
function watchCounters({ world }: TrialContext, port: number | null): () => Record<string, number> {
  let last: Record<string, number> = {};
  if (port === null) return () => last;
  const stop = world.clock.every(POLL_SECONDS, () => {
    fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(1000) })
      .then((response) => response.text())
      .then(
        (text) => {
          last = { ...last, ...countersIn(text) };
        },
        () => undefined,
      );
  });
  return () => {
    stop();
    return last;
  };
}

function measuredOf(trial: OkTrial, wantedLookupsPerSecond: number | null, counters: Record<string, number>) {
  const { metrics, load, limitedBy, checkedAnswers } = trial;
  const { lookups } = load;
  if (lookups === null || lookups.latencySeconds === null)
    throw new BenchError('E_LOADER_FAILED', 'the loader reported no lookups', {
      fix: 'Use --loader builtin.',
    });
  const p99 = lookups.latencyPercentiles?.find(({ percentile }) => percentile === 99)?.seconds ?? null;
  return {
    status: 'ok' as const,
    wantedLookupsPerSecond,
    queriesPerSecond: metrics.qps,
    lookupsPerSecond: lookups.perSecond,
    lookupLatencySeconds: { mean: lookups.latencySeconds.mean, p99 },
    queryLatencySeconds: metrics.latencySeconds,
    cpuCores: metrics.cpuCores,
    memoryBytes: metrics.memoryBytes,
    lostRatio: metrics.lostRatio,
    limitedBy,
    counters,
    checkedAnswers,
  };
}

async function runAt(
  context: TrialContext,
  item: RunnableCase,
  round: number,
  load: LoadName,
  ratePerSecond: number | null,
  order: number,
  progress: TrialProgress,
): Promise<CaseTrial> {
  const counters = watchCounters(context, item.metricsPort);
  const planned = completeCase(item, round, load, ratePerSecond, order, context.world.machine.availableCpus);
  let seen: Record<string, number> = {};
  const { trial } = await runTrial(context, planned, item.server, progress).finally(() => {
    seen = counters();
  });
  const head = { case: item.facts.key, round, load, startedAt: trial.startedAt };
  if (trial.status === 'ok') return { ...head, ...measuredOf(trial, ratePerSecond, seen) };
  const { code, message, evidence } = trial.failure;
  const told = [message, ...evidence].join('; ').slice(0, 600);
  return { ...head, status: 'failed', failure: { code, message: told } };
}

/** Both trials of a round, or only the first if it failed. Rejects when the run is interrupted. */
export async function runCase(
  context: TrialContext,
  item: RunnableCase,
  round: number,
  order: number,
  progress: TrialProgress,
): Promise<CaseTrial[]> {
  const full = await runAt(context, item, round, 'saturation', null, order, progress);
  if (full.status === 'failed' || !item.atHalf) return [full];
  // The load generator's rate counts what it begins: lookups, each of which is one query or several.
  const half = Math.max(1, Math.round(full.lookupsPerSecond / 2));
  return [full, await runAt(context, item, round, 'half', half, order + 1, progress)];
}
