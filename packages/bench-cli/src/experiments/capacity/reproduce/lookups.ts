/** Lookups a second of published tables beside those of `bench capacity throughput` and `caching`. Pure. */
import { type EngineCase, okTrials } from '../../../engine/record.ts';
import { summarize } from '../../../stats/summarize.ts';
import type { CasesRecord, LoadFigures } from '../cases/evidence.ts';
import {
  type OurFigure,
  ourFigure,
  ourRatio,
  pairsOf,
  type ReproducedRow,
  type Unit,
  versionOf,
} from './rows.ts';

/** A row of a published table, and what of ours stands for it. */
export interface PublishedLookup {
  readonly title: string;
  readonly figures: Readonly<Record<string, number>>;
  /** Cases of ours: one for each version. */
  ours(item: EngineCase, record: CasesRecord): boolean;
}

/** The figures of a trial that are published. */
export interface LookupFigure {
  readonly key: string;
  readonly name: string;
  readonly unit: Unit;
  of(load: LoadFigures): number | null;
}
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

export interface LookupContext {
  readonly section: string;
  readonly source: CasesRecord | undefined;
  readonly command: string;
}

/** The CoreDNS by whose version a case is known: its subject, or the one behind a caching tier, whatever that tier's own version. */
function programOf({ programs }: CasesRecord, { subject }: EngineCase): string {
  const coredns = programs.filter(({ kind }) => kind === 'coredns-cluster');
  return (coredns.find(({ name }) => name === subject) ?? coredns[0])?.name ?? subject;
}

const oursOf = (record: CasesRecord, { ours }: PublishedLookup) =>
  record.cases.filter((item) => !item.aa && ours(item, record));

function valuesOf(record: CasesRecord, { key }: EngineCase, of: LookupFigure['of']) {
  return okTrials(record, key).flatMap(({ round, evidence: { saturation } }) => {
    const value = of(saturation);
    return value === null ? [] : [{ round, value }];
  });
}

export function figureRow(
  { section, source, command }: LookupContext,
  published: PublishedLookup,
  { key, name, unit, of }: LookupFigure,
): ReproducedRow[] {
  const value = published.figures[key];
  if (value === undefined) return [];
  const oursIn = (record: CasesRecord) =>
    oursOf(record, published).flatMap((item) => {
      const values = valuesOf(record, item, of).map((each) => each.value);
      return ourFigure(record, programOf(record, item), values.length === 0 ? null : summarize(values));
    });
  const ours = source === undefined ? [] : oursIn(source);
  return [{ section, name: `${published.title}: ${name}`, unit, published: value, ours, command }];
}

const isBound = ({ bounds }: EngineCase) => (bounds.lookups ?? 0) > 0;

function ratiosOf(
  record: CasesRecord,
  item: PublishedLookup,
  baseline: PublishedLookup,
  { of }: LookupFigure,
  published: number,
): OurFigure[] {
  const others = oursOf(record, baseline);
  return oursOf(record, item).flatMap((own) => {
    const server = programOf(record, own);
    const version = versionOf(record, server);
    const other = others.find(
      (found) =>
        versionOf(record, programOf(record, found)) === version && found.point.tier === own.point.tier,
    );
    if (other === undefined) return [];
    const pairs = pairsOf(valuesOf(record, own, of), valuesOf(record, other, of));
    const ratios = ourRatio(record, server, pairs, published);
    // A rate that something else limited may be any higher.
    return isBound(own) || isBound(other)
      ? ratios.map((ratio) => ({ ...ratio, judgement: { verdict: 'cannot tell', contradiction: null } }))
      : ratios;
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
