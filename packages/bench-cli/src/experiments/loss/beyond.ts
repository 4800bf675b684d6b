/** What a case did below and beyond its limit, over its trials. Pure. */
import { type EngineCase, evidencesOf } from '../../engine/record.ts';
import { addLosses } from '../../measure/explain-losses.ts';
import type { Losses, SummaryStatistic } from '../../results/record.ts';
import { summaryOf } from '../../stats/summarize.ts';
import type { LossEvidence, LossRecord, Probe } from './evidence.ts';
import { multiplesFor } from './settings.ts';

/** At one multiple of the limit. */
export interface Multiple {
  readonly multiple: number;
  readonly goodput: SummaryStatistic;
  readonly lostRatio: SummaryStatistic;
  readonly p99Seconds: SummaryStatistic | null;
  /** CPUs that the server used; null where that was not observed. */
  readonly cpuCores: SummaryStatistic | null;
  /** Trials in which less was sent. */
  readonly generatorLimited: number;
}

export interface RecoverySummary {
  readonly lostRatioInFirstSecond: SummaryStatistic;
  /** Of the trials that recovered; null if none did. */
  readonly seconds: SummaryStatistic | null;
  readonly recovered: number;
  readonly n: number;
  /** The largest share that one of the trials lost at this rate without an overload. */
  readonly lostRatioWithout: number;
}

/** A case with its title, and what its trials say of it. */
export interface LossResult {
  readonly item: EngineCase;
  readonly title: string;
  readonly beyond: readonly Multiple[];
  readonly recovery: RecoverySummary | null;
  /** Of all probes. */
  readonly queriesSent: number;
  readonly unexpectedAnswers: number;
  readonly losses: Losses | null;
}

/** The probe that was made at this multiple of the limit. */
function probeAt({ probes, limit }: LossEvidence, multiple: number): Probe | null {
  const distance = ({ rate }: Probe) => Math.abs(rate / (limit * multiple) - 1);
  const nearest = probes.reduce<Probe | null>(
    (best, probe) => (best === null || distance(probe) < distance(best) ? probe : best),
    null,
  );
  // The limit itself was tried in the search; anything farther away is another rate.
  return nearest !== null && distance(nearest) < 0.001 ? nearest : null;
}

function beyondOf(ok: readonly LossEvidence[], overload: number): Multiple[] {
  return multiplesFor(overload).flatMap((multiple) => {
    const found = ok.flatMap((each) => probeAt(each, multiple) ?? []);
    const goodput = summaryOf(found.map(({ goodput: answered }) => answered));
    const lostRatio = summaryOf(
      found.map((probe) => probe.lostRatio),
      { highest: 1 },
    );
    if (goodput === null || lostRatio === null) return [];
    return [
      {
        multiple,
        goodput,
        lostRatio,
        p99Seconds: summaryOf(found.flatMap((probe) => probe.p99Seconds ?? [])),
        cpuCores: summaryOf(found.flatMap((probe) => probe.cpuCores ?? [])),
        generatorLimited: found.filter((probe) => probe.generatorLimited).length,
      },
    ];
  });
}

function recoveryOf(ok: readonly LossEvidence[]): RecoverySummary | null {
  const all = ok.flatMap(({ recovery }) => recovery ?? []);
  const without = ok.map((each) => probeAt(each, (each.recovery?.rate ?? 0) / each.limit)?.lostRatio ?? 0);
  const lost = summaryOf(
    all.map(({ lostRatioInFirstSecond }) => lostRatioInFirstSecond),
    { highest: 1 },
  );
  if (lost === null) return null;
  const times = all.flatMap(({ seconds }) => seconds ?? []);
  return {
    lostRatioInFirstSecond: lost,
    seconds: summaryOf(times),
    recovered: times.length,
    n: all.length,
    lostRatioWithout: Math.max(...without),
  };
}

/** In the order of the cases; without those of which no trial succeeded. */
export function lossResults(record: LossRecord, titleOf: (item: EngineCase) => string): LossResult[] {
  return record.cases.flatMap((item) => {
    const ok = evidencesOf(record, item.key);
    const probes = ok.flatMap((each) => each.probes);
    const losses = probes.flatMap((probe) => probe.losses ?? []);
    const sum = (of: (probe: Probe) => number) => probes.reduce((total, probe) => total + of(probe), 0);
    return {
      item,
      title: titleOf(item),
      beyond: beyondOf(ok, record.settings.overload),
      recovery: recoveryOf(ok),
      queriesSent: sum(({ queriesSent }) => queriesSent),
      unexpectedAnswers: sum(({ unexpectedAnswers }) => unexpectedAnswers),
      losses: losses.length === 0 ? null : addLosses(losses),
    };
  });
}
