/** Lookups a second of published tables beside those of `bench capacity throughput` and `caching`. Pure. */
import { type EngineCase, okTrials } from '../../../engine/record.ts';
import { versionOf } from '../../../engine/words.ts';
import type { CasesRecord, LoadFigures } from '../cases/evidence.ts';
import { type Beside, figureRow, type OwnCase, ratioRow, type Unit } from './rows.ts';

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

/** The CoreDNS by whose version a case is known: its subject, or the one behind a caching tier, whatever that tier's own version. */
function programOf({ programs }: CasesRecord, { subject }: EngineCase): string {
  const coredns = programs.filter(({ kind }) => kind === 'coredns-cluster');
  return (coredns.find(({ name }) => name === subject) ?? coredns[0])?.name ?? subject;
}

function besideOf(
  source: CasesRecord | undefined,
  { figures, ours }: PublishedLookup,
  { key: figure, unit, of }: LookupFigure,
): Beside | null {
  const published = figures[figure];
  if (published === undefined) return null;
  const own = (record: CasesRecord) =>
    record.cases
      .filter((item) => !item.aa && ours(item, record))
      .map((item): OwnCase => {
        const server = programOf(record, item);
        const values = okTrials(record, item.key).flatMap(({ round, evidence: { saturation } }) => {
          const value = of(saturation);
          return value === null ? [] : [{ round, value }];
        });
        const peer = `${versionOf(record, server)} at ${item.point.tier}`;
        return { record, server, peer, values, isBound: (item.bounds.lookups ?? 0) > 0 };
      });
  return { published, unit, ours: source === undefined ? [] : own(source) };
}

/** Rows of a published table beside a record of ours; `command` measures them. */
export function lookupRows(source: CasesRecord | undefined, command: string) {
  return {
    figure: (row: PublishedLookup, of: LookupFigure) =>
      figureRow({ section: 'Lookups', command }, `${row.title}: ${of.name}`, besideOf(source, row, of)),
    ratio: (item: PublishedLookup, baseline: PublishedLookup, of: LookupFigure) =>
      ratioRow(
        { section: 'Ratios of lookups', command },
        `${of.name}: ${item.title} ÷ ${baseline.title}`,
        besideOf(source, item, of),
        besideOf(source, baseline, of),
      ),
  };
}
