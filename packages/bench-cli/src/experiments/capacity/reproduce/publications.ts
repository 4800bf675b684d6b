/** The publications whose figures stand beside those of the capacity experiment. Pure. */

import { engineEntry } from '../../../engine/entry.ts';
import type { EngineCase } from '../../../engine/record.ts';
import type { ImportedCase } from '../../../history/imported.ts';
import { publishedRecord } from '../../../history/published.ts';
import { conditionsOf, type ReproducedCondition } from '../../../history/reproduce/conditions.ts';
import { DNSMASQ, KUBE_DNS, NEGATIVE } from '../cases/subjects.ts';
import { LATENCY, LOOKUPS, type LookupFigure, lookupRows, type PublishedLookup } from './lookups.ts';
import { growthOf, memoryRows } from './memory-rows.ts';
import type { ReproducedRow, Sources } from './rows.ts';

export const CAPACITY_PUBLICATIONS = ['scaling', 'kube-dns'] as const;
export type CapacityPublication = (typeof CAPACITY_PUBLICATIONS)[number];

const KINDS = ['external', 'internal'] as const;
type Kind = (typeof KINDS)[number];

/** The published table says queries a second, of which an external lookup needs five; and their latency. */
const QUERIES: LookupFigure = {
  key: 'qps',
  name: 'queries/s',
  unit: 'queries/s',
  of: ({ queriesPerSecond }) => queriesPerSecond,
};
const QUERY_LATENCY: LookupFigure = {
  key: 'latencySeconds',
  name: 'latency of a query',
  unit: 'seconds',
  of: ({ queryLatencySeconds }) => queryLatencySeconds,
};

function figuresOf(item: ImportedCase | undefined): Record<string, number> {
  const metrics = item?.trials[0]?.metrics;
  const found = { ...item?.figures, qps: metrics?.qps, latencySeconds: metrics?.latencySeconds };
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  );
}

/** A row of a published table by its key: `coredns+autopath/lookup-external/udp`. */
function published(
  cases: readonly ImportedCase[],
  server: string,
  kind: Kind,
  ours: PublishedLookup['ours'],
): PublishedLookup {
  const item = cases.find(({ key }) => key === `${server}/lookup-${kind}/udp`);
  return {
    title: item?.title ?? `${server}, ${kind}`,
    figures: figuresOf(item),
    ours: (own, record) => own.point.lookup === kind && ours(own, record),
  };
}

function scalingRows({ memory, throughput }: Sources): ReproducedRow[] {
  const { cases } = publishedRecord('scaling').record;
  const command = 'bench capacity throughput --configurations default,autopath';
  const { figure, ratio } = lookupRows(throughput, command);
  const of = (configuration: 'default' | 'autopath', kind: Kind) =>
    published(
      cases,
      configuration === 'default' ? 'coredns' : 'coredns+autopath',
      kind,
      ({ subject }, { programs }) =>
        (programs.find(({ name }) => name === subject)?.variant ?? 'default') === configuration,
    );
  const rows = (['default', 'autopath'] as const).flatMap((name) => KINDS.map((kind) => of(name, kind)));
  return [
    ...rows.flatMap((row) => [...figure(row, LOOKUPS), ...figure(row, LATENCY)]),
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
  const { cases } = publishedRecord('kube-dns').record;
  const { figure, ratio } = lookupRows(sources.caching, 'bench capacity caching --cache cached');
  const cached = ({ point }: EngineCase) => point.cache === 'cached';
  const coredns = (kind: Kind) =>
    published(cases, 'coredns', kind, (item, { baseline }) => cached(item) && item.subject === baseline);
  const front = hasKubeDns(sources) ? KUBE_DNS : DNSMASQ;
  const tier = (kind: Kind, isNegative: boolean) =>
    published(
      cases,
      isNegative ? 'kube-dns+negcache' : 'kube-dns',
      kind,
      (item) => cached(item) && item.subject === (isNegative ? `${front}${NEGATIVE}` : front),
    );
  return [
    ...KINDS.flatMap((kind) =>
      [coredns(kind), tier(kind, false), tier(kind, true)].flatMap((row) => [
        ...figure(row, LOOKUPS),
        ...figure(row, LATENCY),
      ]),
    ),
    ...[LOOKUPS, LATENCY].flatMap((each) => [
      ...ratio(coredns('external'), tier('external', false), each),
      ...ratio(tier('internal', false), coredns('internal'), each),
      ...KINDS.flatMap((kind) => ratio(tier(kind, true), tier(kind, false), each)),
    ]),
    ...cases.flatMap(({ key, title, server, figures }): ReproducedRow[] => {
      const bytes = figures?.memoryGrowthBytes;
      const ours = server === 'coredns' ? growthOf(sources.memory, 'fullCache', 'steady') : [];
      const how = server === 'coredns' ? MEMORY_COMMAND : null;
      const row = { section: 'Memory', name: title ?? key, unit: 'bytes' as const, ours, command: how };
      return bytes === undefined ? [] : [{ ...row, published: bytes }];
    }),
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
