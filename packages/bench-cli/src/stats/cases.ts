/**
 * From trials to the `cases[]` of the record: totals, summaries and comparisons. Only ok trials enter the figures;
 * failed ones are counted as failed.
 */
import type {
  CaseRecord,
  CaseSummary,
  LimitedBy,
  OkTrial,
  RunRecord,
  Trial,
  TrialMetrics,
} from '../results/record.ts';
import { type ComparedTrials, compareFamily, markBelowFloor, noiseFloorsOf } from './comparisons.ts';
import { mergeHistograms, summarizePercentiles } from './latency.ts';
import { outlierPositions } from './outliers.ts';
import type { TestOptions } from './sample-test.ts';
import { type Limits, summaryOf } from './summarize.ts';

/** The part of a planned case that statistics use. */
export interface SummarizedCase
  extends Readonly<Pick<CaseRecord, 'key' | 'server' | 'tier' | 'mode' | 'workload' | 'transport'>>,
    Readonly<Pick<CaseRecord, 'ratePerSecond' | 'instances' | 'contended' | 'aa'>> {
  readonly plannedTrials: number;
}

type Metric = keyof TrialMetrics;

function valuesOf(trials: readonly OkTrial[], metric: Metric): number[] {
  return trials.flatMap(({ metrics }) => metrics[metric] ?? []);
}

function summarizeTrials(trials: readonly OkTrial[]): CaseSummary | null {
  const of = (metric: Metric, limits?: Limits) => summaryOf(valuesOf(trials, metric), limits);
  const qps = of('qps');
  const lostRatio = of('lostRatio', { highest: 1 });
  if (qps === null || lostRatio === null) return null;
  return {
    qps,
    latencySeconds: of('latencySeconds'),
    cpuSecondsPerQuery: of('cpuSecondsPerQuery'),
    memoryBytes: of('memoryBytes'),
    lostRatio,
    cpuCores: of('cpuCores'),
    throttledSeconds: of('throttledSeconds'),
    latencyPercentiles: summarizePercentiles(trials),
    lookupsPerSecond: of('lookupsPerSecond'),
    lookupLatencySeconds: of('lookupLatencySeconds'),
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

/** Keys of the trials whose throughput is far from the others'. */
function outliersOf(trials: readonly OkTrial[]): string[] {
  const positions = outlierPositions(trials.map(({ metrics }) => metrics.qps));
  return positions.flatMap((position) => trials[position]?.key ?? []);
}

/** The same for the cases that are compared with each other. */
export function pointKey(
  item: Pick<SummarizedCase, 'tier' | 'mode' | 'workload' | 'transport' | 'ratePerSecond'>,
) {
  return JSON.stringify([item.tier, item.mode, item.workload, item.transport, item.ratePerSecond]);
}

/**
 * What the trials so far say about the machine's noise, and the record's `cases`, one per planned case in the plan's order.
 * Comparisons are with the case of `baselineServer` of the same tier, mode, workload, transport and rate. The baseline itself
 * has none, nor has a case without a round in which both have an ok trial. The baseline's twin of `--aa` has none either: it
 * shows the noise floor.
 */
export function summarizeRun(
  plannedCases: readonly SummarizedCase[],
  trials: readonly Trial[],
  baselineServer: string,
  options: TestOptions = {},
): Pick<RunRecord, 'cases' | 'noiseFloors'> {
  const byCase = Map.groupBy(trials, ({ caseKey }) => caseKey);
  const okTrials = (key: string) =>
    (byCase.get(key) ?? []).filter((trial): trial is OkTrial => trial.status === 'ok');
  const baselines = new Map(
    plannedCases
      .filter(({ server, aa }) => server === baselineServer && !aa)
      .map((planned) => [pointKey(planned), planned.key]),
  );
  const compared = plannedCases.flatMap((planned): (ComparedTrials & { aa: boolean })[] => {
    const baselineKey = baselines.get(pointKey(planned));
    if (baselineKey === undefined || baselineKey === planned.key) return [];
    const { key: caseKey, aa } = planned;
    return [{ caseKey, baselineKey, aa, trials: okTrials(caseKey), baselineTrials: okTrials(baselineKey) }];
  });
  const claims = compared.filter(({ aa }) => !aa);
  const comparisons = compareFamily(claims, options);
  const comparisonOf = new Map(claims.map(({ caseKey }, index) => [caseKey, comparisons[index] ?? null]));
  const floors = noiseFloorsOf(
    compared.filter(({ aa }) => aa),
    options,
  );
  const cases = plannedCases.map((planned): CaseRecord => {
    const { key, server, tier, mode, workload, transport, ratePerSecond, aa, instances, contended } = planned;
    const ok = okTrials(key);
    const attempted = byCase.get(key)?.length ?? 0;
    return {
      key,
      server,
      tier,
      mode,
      workload,
      transport,
      ratePerSecond,
      aa,
      instances,
      contended,
      trials: { planned: planned.plannedTrials, ok: ok.length, failed: attempted - ok.length },
      totals: totalsOf(ok),
      summary: summarizeTrials(ok),
      latencyHistogram: mergeHistograms(ok),
      outliers: outliersOf(ok),
      limitedBy: commonLimit(ok),
      comparison: comparisonOf.get(key) ?? null,
    };
  });
  return {
    cases: cases.map((item) => markBelowFloor(item, floors)),
    noiseFloors: plannedCases.some(({ aa }) => aa) ? floors : null,
  };
}
