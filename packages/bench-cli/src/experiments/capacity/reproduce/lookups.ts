/** Lookups a second of published tables beside those of `bench capacity throughput` and `caching`. Pure. */

import type { CapacityCase, CasesResult, OkCaseTrial } from '../cases/cases-record.ts';
import { okTrials, summaryOf } from '../cases/summaries.ts';
import { type OurFigure, ourFigure, ourRatio, type ReproducedRow, type Source, type Unit } from './rows.ts';

export type CasesSource = Source<'throughput'> | Source<'caching'>;

/** A row of a published table, and what of ours stands for it. */
export interface PublishedLookup {
  readonly title: string;
  readonly figures: Readonly<Record<string, number>>;
  /** Cases of ours: one for each version. */
  ours(item: CapacityCase): boolean;
}

/** The figures of a trial that are published. */
export const LOOKUPS: LookupFigure = {
  key: 'lookupsPerSecond',
  name: 'lookups/s',
  unit: 'lookups/s',
  of: ({ lookupsPerSecond }) => lookupsPerSecond,
};
export const LATENCY: LookupFigure = {
  key: 'lookupLatencySeconds',
  name: 'latency of a lookup',
  unit: 'seconds',
  of: ({ lookupLatencySeconds }) => lookupLatencySeconds.mean,
};

export interface LookupFigure {
  readonly key: string;
  readonly name: string;
  readonly unit: Unit;
  of(trial: OkCaseTrial): number | null;
}

export interface LookupContext {
  readonly section: string;
  readonly source: CasesSource | undefined;
  readonly command: string;
}

/** The CoreDNS of a case: that of its own, or the one behind a caching tier. */
function serverOf({ record }: CasesSource, { server }: CapacityCase): string {
  return record.programs.some(({ name }) => name === server)
    ? server
    : (record.programs.find(({ kind }) => kind === 'coredns-cluster')?.name ?? server);
}

export function figureRow(
  { section, source, command }: LookupContext,
  published: PublishedLookup,
  { key, name, unit, of }: LookupFigure,
): ReproducedRow[] {
  const value = published.figures[key];
  if (value === undefined) return [];
  const ours =
    source?.measured.cases
      .filter((item) => published.ours(item))
      .flatMap((item) =>
        ourFigure(source, serverOf(source, item), summaryOf(source.measured, item, 'saturation', of)),
      ) ?? [];
  return [{ section, name: `${published.title}: ${name}`, unit, published: value, ours, command }];
}

/** Trials of the same round of both cases. */
function pairsOf(result: CasesResult, item: CapacityCase, baseline: CapacityCase, of: LookupFigure['of']) {
  const before = new Map(okTrials(result, baseline.key, 'saturation').map((trial) => [trial.round, trial]));
  return okTrials(result, item.key, 'saturation').flatMap((trial) => {
    const same = before.get(trial.round);
    const [value, other] = [of(trial), same === undefined ? null : of(same)];
    return value === null || other === null ? [] : [{ value, baseline: other }];
  });
}

function ratiosOf(
  source: CasesSource,
  item: PublishedLookup,
  baseline: PublishedLookup,
  { of }: LookupFigure,
  published: number,
): OurFigure[] {
  const { cases } = source.measured;
  return cases
    .filter((own) => item.ours(own))
    .flatMap((own) => {
      const server = serverOf(source, own);
      const other = cases.find((found) => baseline.ours(found) && serverOf(source, found) === server);
      return other === undefined
        ? []
        : ourRatio(source, server, pairsOf(source.measured, own, other, of), published);
    });
}

export function ratioRow(
  { section, source, command }: LookupContext,
  item: PublishedLookup,
  baseline: PublishedLookup,
  figure: LookupFigure,
): ReproducedRow[] {
  const [value, other] = [item.figures[figure.key], baseline.figures[figure.key]];
  if (value === undefined || other === undefined) return [];
  const published = value / other;
  const ours = source === undefined ? [] : ratiosOf(source, item, baseline, figure, published);
  const name = `${figure.name}: ${item.title} ÷ ${baseline.title}`;
  return [{ section, name, unit: 'ratio', published, ours, command }];
}
