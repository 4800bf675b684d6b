/** The publications whose figures stand beside those of the capacity experiment. Pure. */
import { engineEntry } from '../../../engine/entry.ts';
import { claimsOf, type EngineCase } from '../../../engine/record.ts';
import { versionOf } from '../../../engine/words.ts';
import type { ImportedCase } from '../../../history/imported.ts';
import { publishedRecord } from '../../../history/published.ts';
import { conditionsOf, type ReproducedCondition } from '../../../history/reproduce/conditions.ts';
import type { CasesRecord, LoadFigures } from '../cases/evidence.ts';
import { DNSMASQ, KUBE_DNS, NEGATIVE } from '../cases/subjects.ts';
import { growthOf, memoryRows } from './memory-rows.ts';
import {
  type Beside,
  figureRow,
  type ReproducedRow,
  ratioRow,
  type Sources,
  type Unit,
  valuesOf,
} from './rows.ts';

export const CAPACITY_PUBLICATIONS = ['scaling', 'kube-dns'] as const;
export type CapacityPublication = (typeof CAPACITY_PUBLICATIONS)[number];

const KINDS = ['external', 'internal'] as const;
type Kind = (typeof KINDS)[number];

/** A figure of a trial that is published. */
interface LookupFigure {
  readonly name: string;
  readonly unit: Unit;
  published(row: ImportedCase): number | null | undefined;
  of(load: LoadFigures): number | null;
}
const LOOKUPS: LookupFigure = {
  ...{ name: 'lookups/s', unit: 'lookups/s' },
  published: ({ figures }) => figures?.lookupsPerSecond,
  of: ({ lookupsPerSecond }) => lookupsPerSecond,
};
const LATENCY: LookupFigure = {
  ...{ name: 'latency of a lookup', unit: 'seconds' },
  published: ({ figures }) => figures?.lookupLatencySeconds,
  of: ({ lookupLatencySeconds }) => lookupLatencySeconds.mean,
};
/** The published table says queries a second, of which an external lookup needs five; and their latency. */
const QUERIES: LookupFigure = {
  ...{ name: 'queries/s', unit: 'queries/s' },
  published: ({ trials }) => trials[0]?.metrics.qps,
  of: ({ queriesPerSecond }) => queriesPerSecond,
};
const QUERY_LATENCY: LookupFigure = {
  ...{ name: 'latency of a query', unit: 'seconds' },
  published: ({ trials }) => trials[0]?.metrics.latencySeconds,
  of: ({ queryLatencySeconds }) => queryLatencySeconds,
};

/** The CoreDNS by whose version a case is known: its subject, or the one behind a caching tier, whatever that tier's own version. */
function programOf({ programs }: CasesRecord, { subject }: EngineCase): string {
  const coredns = programs.filter(({ kind }) => kind === 'coredns-cluster');
  return (coredns.find(({ name }) => name === subject) ?? coredns[0])?.name ?? subject;
}

/** A row of a published table, and our cases that stand for it: one for each version. */
interface Row {
  readonly title: string;
  beside(figure: LookupFigure): Beside;
}

/** The rows of a published table beside a record of ours; `command` measures them. */
function table(name: CapacityPublication, source: CasesRecord | undefined, command: string) {
  const { cases } = publishedRecord(name).record;
  return {
    /** By its key: `coredns+autopath/lookup-external/udp`. */
    row(server: string, kind: Kind, isOurs: (item: EngineCase, record: CasesRecord) => boolean): Row {
      const found = cases.find(({ key }) => key === `${server}/lookup-${kind}/udp`);
      const own = (record: CasesRecord) =>
        claimsOf(record).filter((item) => item.point.lookup === kind && isOurs(item, record));
      const besideOf = (record: CasesRecord, { of }: LookupFigure) =>
        own(record).map((item) => {
          const program = programOf(record, item);
          // The plan has numbers, or none.
          const tier = item.point.tier as number | undefined;
          return {
            ...{ record, server: program, tier, isBound: (item.bounds.lookups ?? 0) > 0 },
            peer: `${versionOf(record, program)} at ${tier}`,
            values: valuesOf(record, item.key, ({ saturation }) => of(saturation)),
          };
        });
      return {
        title: found?.title ?? `${server}, ${kind}`,
        beside: (figure) => ({
          published: (found && figure.published(found)) ?? undefined,
          unit: figure.unit,
          ours: source === undefined ? [] : besideOf(source, figure),
        }),
      };
    },
    figure: ({ title, beside }: Row, of: LookupFigure) =>
      figureRow({ section: 'Lookups', name: `${title}: ${of.name}`, command }, beside(of)),
    ratio(item: Row, baseline: Row, of: LookupFigure) {
      const name = `${of.name}: ${item.title} ÷ ${baseline.title}`;
      return ratioRow({ section: 'Ratios of lookups', name, command }, item.beside(of), baseline.beside(of));
    },
  };
}

function scalingRows({ memory, throughput }: Sources): ReproducedRow[] {
  const command = 'bench capacity throughput --configurations default,autopath';
  const { row, figure, ratio } = table('scaling', throughput, command);
  const of = (configuration: 'default' | 'autopath', kind: Kind) =>
    row(
      configuration === 'default' ? 'coredns' : 'coredns+autopath',
      kind,
      ({ subject }, { programs }) =>
        (programs.find(({ name }) => name === subject)?.variant ?? 'default') === configuration,
    );
  const rows = (['default', 'autopath'] as const).flatMap((name) => KINDS.map((kind) => of(name, kind)));
  return [
    ...rows.flatMap((each) => [...figure(each, LOOKUPS), ...figure(each, LATENCY)]),
    ...figure(of('default', 'external'), QUERIES),
    ...figure(of('default', 'external'), QUERY_LATENCY),
    ...[LOOKUPS, LATENCY].flatMap((each) => [
      ...ratio(of('autopath', 'external'), of('default', 'external'), each),
      ...ratio(of('autopath', 'internal'), of('default', 'internal'), each),
      ...ratio(of('default', 'internal'), of('default', 'external'), each),
    ]),
    ...memoryRows(memory),
  ];
}

const MEMORY_COMMAND = 'bench capacity memory --objects 0 --configurations default';

/** Whether its own containers were measured; if not, the tier with the same cache stands for them. */
export const hasKubeDns = ({ caching }: Sources) =>
  caching?.cases.some(({ subject }) => subject === KUBE_DNS) ?? false;

function kubeDnsRows(sources: Sources): ReproducedRow[] {
  const command = 'bench capacity caching --cache cached';
  const { row, figure, ratio } = table('kube-dns', sources.caching, command);
  const cached = ({ point }: EngineCase) => point.cache === 'cached';
  const coredns = (kind: Kind) =>
    row('coredns', kind, (item, { baseline }) => cached(item) && item.subject === baseline);
  const front = hasKubeDns(sources) ? KUBE_DNS : DNSMASQ;
  const tier = (kind: Kind, isNegative: boolean) => {
    const subject = isNegative ? `${front}${NEGATIVE}` : front;
    const server = isNegative ? 'kube-dns+negcache' : 'kube-dns';
    return row(server, kind, (item) => cached(item) && item.subject === subject);
  };
  return [
    ...KINDS.flatMap((kind) =>
      [coredns(kind), tier(kind, false), tier(kind, true)].flatMap((each) => [
        ...figure(each, LOOKUPS),
        ...figure(each, LATENCY),
      ]),
    ),
    ...[LOOKUPS, LATENCY].flatMap((each) => [
      ...ratio(coredns('external'), tier('external', false), each),
      ...ratio(tier('internal', false), coredns('internal'), each),
      ...KINDS.flatMap((kind) => ratio(tier(kind, true), tier(kind, false), each)),
    ]),
    ...publishedRecord('kube-dns').record.cases.flatMap(
      ({ key, title, server, figures }): ReproducedRow[] => {
        const published = figures?.memoryGrowthBytes;
        const [ours, how] =
          server === 'coredns'
            ? [growthOf(sources.memory, 'fullCache', 'steady'), MEMORY_COMMAND]
            : [[], null];
        const head = { section: 'Memory', name: title ?? key, unit: 'bytes', command: how } as const;
        return published === undefined ? [] : [{ ...head, published, ours }];
      },
    ),
  ];
}

/** What the publication says of its conditions, and the run of each measurement. */
export function reproducedConditions(name: CapacityPublication, sources: Sources): ReproducedCondition[] {
  const { entry } = publishedRecord(name);
  const told = Object.values(sources).map((record) => {
    const ours = engineEntry(record, '');
    return conditionsOf(entry, ours, new Set(ours.cases.map(({ key }) => key)));
  });
  return conditionsOf(entry, entry, new Set()).map((condition, index) => {
    const ours = told.map((each) => each[index]?.run ?? null);
    const isSame =
      ours.length === 0 || ours.includes(null) ? null : told.every((each) => each[index]?.isSame);
    return { name: condition.name, published: condition.published, ours, isSame };
  });
}

/** Every published figure and ratio, with ours. */
export function reproducedRows(name: CapacityPublication, sources: Sources): ReproducedRow[] {
  return name === 'scaling' ? scalingRows(sources) : kubeDnsRows(sources);
}
