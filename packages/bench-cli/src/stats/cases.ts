/**
 * From trials to the `cases[]` of the record: totals, summaries and comparisons. Only ok trials count; a
 * failed one is neither a zero nor a hole, it is counted as failed.
 */
import type { PlannedCase } from '../plan/plan.ts';
import type {
  CaseRecord,
  CaseSummary,
  Comparison,
  LimitedBy,
  OkTrial,
  SummaryStatistic,
  Trial,
  TrialMetrics,
} from '../results/record.ts';
import { mergeHistograms, summarizePercentiles } from './latency.ts';
import { compare, type Limits, type Pair, summarize, type VerdictWords } from './summarize.ts';

/** A case of the plan; how its tier is shared out does not matter to statistics. */
export type SummarizedCase = Omit<PlannedCase, 'allowances'>;

type Metric = keyof TrialMetrics;

const SPEED: VerdictWords = { better: 'faster', worse: 'slower' };
const COST: VerdictWords = { better: 'less', worse: 'more' };

function valuesOf(trials: readonly OkTrial[], metric: Metric): number[] {
  return trials.flatMap(({ metrics }) => metrics[metric] ?? []);
}

function summaryOf(trials: readonly OkTrial[], metric: Metric, limits?: Limits): SummaryStatistic | null {
  const values = valuesOf(trials, metric);
  return values.length === 0 ? null : summarize(values, limits);
}

function summarizeTrials(trials: readonly OkTrial[]): CaseSummary | null {
  const qps = summaryOf(trials, 'qps');
  const lostRatio = summaryOf(trials, 'lostRatio', { highest: 1 });
  if (qps === null || lostRatio === null) return null;
  return {
    qps,
    latencySeconds: summaryOf(trials, 'latencySeconds'),
    cpuSecondsPerQuery: summaryOf(trials, 'cpuSecondsPerQuery'),
    memoryBytes: summaryOf(trials, 'memoryBytes'),
    lostRatio,
    cpuCores: summaryOf(trials, 'cpuCores'),
    throttledSeconds: summaryOf(trials, 'throttledSeconds'),
    latencyPercentiles: summarizePercentiles(trials),
  };
}

/** Trials of the same round that both have the metric. */
function pairsOf(trials: readonly OkTrial[], baseline: readonly OkTrial[], metric: Metric): Pair[] {
  const byRound = new Map(baseline.map((trial) => [trial.round, trial.metrics[metric]]));
  return trials.flatMap(({ round, metrics }) => {
    const value = metrics[metric];
    const reference = byRound.get(round);
    return value === null || reference === null || reference === undefined
      ? []
      : { value, baseline: reference };
  });
}

function compareTrials(
  trials: readonly OkTrial[],
  baseline: readonly OkTrial[],
  baselineKey: string,
): Comparison | null {
  const against = (metric: Metric, better: 'higher' | 'lower', words: VerdictWords) =>
    compare(pairsOf(trials, baseline, metric), better, words);
  const qps = against('qps', 'higher', SPEED);
  if (qps === null) return null;
  return {
    baseline: baselineKey,
    qps,
    latencySeconds: against('latencySeconds', 'lower', SPEED),
    cpuSecondsPerQuery: against('cpuSecondsPerQuery', 'lower', COST),
    memoryBytes: against('memoryBytes', 'lower', COST),
  };
}

function totalsOf(trials: readonly OkTrial[]): CaseRecord['totals'] {
  const sum = (pick: (trial: OkTrial) => number) => trials.reduce((total, trial) => total + pick(trial), 0);
  const responseCodes: Record<string, number> = {};
  for (const { load } of trials) {
    for (const [code, answers] of Object.entries(load.responseCodes)) {
      responseCodes[code] = (responseCodes[code] ?? 0) + answers;
    }
  }
  return {
    queriesSent: sum(({ load }) => load.queriesSent),
    queriesCompleted: sum(({ load }) => load.queriesCompleted),
    queriesLost: sum(({ load }) => load.queriesLost),
    queriesInterrupted: sum(({ load }) => load.queriesInterrupted),
    responseCodes,
  };
}

/** What limited all of the trials; `unknown` if they disagree or there are none. */
function commonLimit(trials: readonly OkTrial[]): LimitedBy {
  const [first, ...others] = new Set(trials.map(({ limitedBy }) => limitedBy));
  return first === undefined || others.length > 0 ? 'unknown' : first;
}

/**
 * The record's `cases`, one for each planned case and in the plan's order, from whatever trials there are so
 * far. Comparisons are with the case of `baselineServer` of the same tier, mode, workload and transport; there
 * is none for the baseline itself, and none where no round has an ok trial of both.
 */
export function summarizeCases(
  plannedCases: readonly SummarizedCase[],
  trials: readonly Trial[],
  baselineServer: string,
): CaseRecord[] {
  const byCase = Map.groupBy(trials, ({ caseKey }) => caseKey);
  const okTrials = (key: string) =>
    (byCase.get(key) ?? []).filter((trial): trial is OkTrial => trial.status === 'ok');
  const pointKey = ({ tier, mode, workload, transport }: SummarizedCase) =>
    JSON.stringify([tier, mode, workload, transport]);
  const baselines = new Map(
    plannedCases
      .filter(({ server }) => server === baselineServer)
      .map((planned) => [pointKey(planned), planned.key]),
  );
  return plannedCases.map((planned) => {
    const { key, server, tier, mode, workload, transport, instances, contended, plannedTrials } = planned;
    const ok = okTrials(key);
    const attempted = byCase.get(key)?.length ?? 0;
    const baselineKey = baselines.get(pointKey(planned));
    const isCompared = baselineKey !== undefined && baselineKey !== key;
    return {
      key,
      server,
      tier,
      mode,
      workload,
      transport,
      aa: false,
      instances,
      contended,
      trials: { planned: plannedTrials, ok: ok.length, failed: attempted - ok.length },
      totals: totalsOf(ok),
      summary: summarizeTrials(ok),
      latencyHistogram: mergeHistograms(ok),
      outliers: [],
      limitedBy: commonLimit(ok),
      comparison: isCompared ? compareTrials(ok, okTrials(baselineKey), baselineKey) : null,
    };
  });
}
