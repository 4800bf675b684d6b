/** How many queries a replica of CoreDNS answers, and where that comes from: measured here, or published. Pure. */
import { type EngineCase, evidencesOf } from '../../engine/record.ts';
import { formatCpus } from '../../report/numbers.ts';
import { type CasesRecord, isCpuBound } from './cases/evidence.ts';
import type { MeasuredOptions } from './measured-basis.ts';
import { type Configuration, PUBLISHED_BASIS, PUBLISHED_QPS } from './published.ts';

export interface ThroughputBasis {
  /** Where it comes from: `published: CoreDNS 1.2.5, 2018`. */
  readonly source: string;
  /** Queries a second of one replica, for names of the cluster and for other names. */
  readonly qps: { readonly internal: number; readonly external: number };
  /** CPUs of that replica; null where it had a node's. */
  readonly cores: number | null;
  /** On what it was measured, as the beginning of a sentence. */
  readonly conditions: string;
}

export function publishedThroughput(configuration: Configuration): ThroughputBasis {
  return {
    source: PUBLISHED_BASIS,
    qps: PUBLISHED_QPS[configuration],
    cores: null,
    conditions: 'Throughput was measured on nodes with two vCPUs',
  };
}

/** Of CoreDNS as clusters run it: the variant of a subject is its configuration, and of no variant `default`. */
function subjectsOf(
  { subjects, programs }: CasesRecord,
  { configuration, version }: MeasuredOptions,
): string[] {
  return subjects
    .map(({ name }) => name)
    .filter((name) => {
      const program = programs.find((each) => each.name === name);
      return (
        (program?.variant ?? 'default') === configuration &&
        (version ?? program?.version) === program?.version
      );
    });
}

const tierOf = ({ point }: EngineCase) => Number(point.tier ?? 0);

/**
 * The largest tier at which CoreDNS's CPU was the limit for both kinds of lookups. Null if the record has none of this
 * configuration and version: what the load generator limited says nothing of a replica.
 */
export function throughputBasis(record: CasesRecord, wanted: MeasuredOptions): ThroughputBasis | null {
  const subject = subjectsOf(record, wanted).at(-1);
  const bound = record.cases.filter(
    (item) => item.subject === subject && !item.aa && isCpuBound(evidencesOf(record, item.key)),
  );
  const tiers = [...new Set(bound.map(tierOf))].toSorted((a, b) => b - a);
  for (const cores of tiers) {
    /** The lower end: as many queries are answered with the confidence of the interval. */
    const qpsOf = (lookup: string) => {
      const found = bound.find((item) => item.point.lookup === lookup && tierOf(item) === cores);
      const summary = found?.summary.queries;
      return summary == null ? 0 : (summary.low ?? summary.median);
    };
    const qps = { internal: qpsOf('internal'), external: qpsOf('external') };
    if (qps.internal <= 0 || qps.external <= 0) continue;
    const version = record.programs.find(({ name }) => name === subject)?.version ?? '';
    const cpus = formatCpus(cores);
    return {
      source: `${wanted.origin}, run ${record.id} (CoreDNS ${version}, ${wanted.configuration}, ${cpus} CPUs)`,
      qps,
      cores,
      conditions: `Throughput was measured with a CPU limit of ${cpus}, which limited it: give each replica as much`,
    };
  }
  return null;
}
