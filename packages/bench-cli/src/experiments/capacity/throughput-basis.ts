/** How many queries a replica of CoreDNS answers, and where that comes from: measured here, or published. Pure. */
import { formatFixed } from '../../report/numbers.ts';
import { median } from '../../stats/intervals.ts';
import type { CapacityCase, OkCaseTrial } from './cases/cases-record.ts';
import { okTrials, summaryOf } from './cases/summaries.ts';
import { type MeasuredOptions, versionOf } from './measured-basis.ts';
import { type Configuration, PUBLISHED_BASIS, PUBLISHED_QPS } from './published.ts';
import type { CapacityRecord } from './record.ts';

export interface ThroughputBasis {
  /** Where it comes from: `published: CoreDNS 1.2.5, 2018`. */
  readonly source: string;
  /** Queries a second of one replica, for names of the cluster and for other names. */
  readonly qps: { readonly internal: number; readonly external: number };
  /** On what it was measured, as the beginning of a sentence. */
  readonly conditions: string;
}

export function publishedThroughput(configuration: Configuration): ThroughputBasis {
  return {
    source: PUBLISHED_BASIS,
    qps: PUBLISHED_QPS[configuration],
    conditions: 'Throughput was measured on nodes with two vCPUs',
  };
}

type Lookup = CapacityCase['lookup'];

/** How much of the CPU the server had, and whether it was the limit. */
function conditionsOf(trials: readonly OkCaseTrial[]): string {
  const cores = trials.flatMap(({ cpuCores }) => cpuCores ?? []);
  const used = cores.length === 0 ? '' : `, where CoreDNS used ${formatFixed(median(cores), 2)} cores`;
  const isBound = trials.some(({ limitedBy }) => limitedBy === 'loader');
  const limit = isBound ? '; the load generator was the limit, so that a replica may answer more' : '';
  return `Throughput was measured on this machine${used}${limit}`;
}

/** Null if the record does not have both kinds of lookups of this configuration and version. */
export function measuredThroughput(
  record: Pick<CapacityRecord, 'id' | 'programs' | 'measured'>,
  { configuration, version, origin }: MeasuredOptions,
): ThroughputBasis | null {
  const { measured } = record;
  if (measured.what !== 'throughput') return null;
  const wanted = measured.cases.filter(
    (item) =>
      item.configuration === configuration &&
      item.cache === 'cached' &&
      (version === null || versionOf(record, item.server) === version),
  );
  const server = wanted.at(-1)?.server;
  const caseOf = (lookup: Lookup) => wanted.find((item) => item.server === server && item.lookup === lookup);
  const [internal, external] = [caseOf('internal'), caseOf('external')];
  if (server === undefined || internal === undefined || external === undefined) return null;
  /** The lower end: as many queries are answered with the confidence of the interval. */
  const qpsOf = (item: CapacityCase) => {
    const summary = summaryOf(measured, item, 'saturation', ({ queriesPerSecond }) => queriesPerSecond);
    return summary === null ? 0 : (summary.low ?? summary.median);
  };
  const qps = { internal: qpsOf(internal), external: qpsOf(external) };
  if (qps.internal <= 0 || qps.external <= 0) return null;
  const trials = [internal, external].flatMap(({ key }) => okTrials(measured, key, 'saturation'));
  return {
    source: `${origin}, run ${record.id} (CoreDNS ${versionOf(record, server)}, ${configuration})`,
    qps,
    conditions: conditionsOf(trials),
  };
}
