/**
 * The figures of every case as OpenMetrics 1.0 text, for Prometheus (textfile collector, Pushgateway) and whatever else
 * reads it: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md. Base units, nothing rounded.
 */
import type { CaseRecord, CaseSummary, RunRecord } from '../results/record.ts';
import { isServersOwn, NOT_COMPARED, shownOf } from '../stats/decisive.ts';
import { COMPARED_METRICS } from '../stats/metrics.ts';

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  /** What stands behind the family's name: `_total`, `_info`, or nothing. */
  readonly suffix: string;
  readonly labels: Labels;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'info';
  /** The name must end with it. */
  readonly unit?: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Escapes for HELP texts and label values: backslash, line feed and double quote. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function sampleLine(name: string, { suffix, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(String(text))}"`);
  return `${name}${suffix}{${pairs.join(',')}} ${value}`;
}

function familyLines({ name, type, unit, help, samples }: Family): string[] {
  if (samples.length === 0) return [];
  return [
    `# TYPE ${name} ${type}`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${escaped(help)}`,
    ...samples.map((sample) => sampleLine(name, sample)),
  ];
}

function labelsOf(record: RunRecord, item: CaseRecord): Labels {
  const { server, tier, mode, workload, transport, ratePerSecond, aa } = item;
  const rate = ratePerSecond ?? 'max';
  return { run: record.id, server, tier, mode, workload, transport, rate, twin: String(aa) };
}

/** One sample for each figure that there is: a median or a delta, and the ends of its 95 % interval. */
function figureSamples(labels: Labels, figures: Readonly<Record<string, number | null>>): Sample[] {
  return Object.entries(figures).flatMap(([figure, value]) =>
    value === null ? [] : [{ suffix: '', labels: { ...labels, figure }, value }],
  );
}

/** Of figures that something other than the server limited; others lack it. */
const BOUNDED: Labels = { bound: 'true' };

const PREFIX = 'dinodns_bench';

const FIGURES: readonly (readonly [
  field: keyof CaseSummary,
  name: string,
  unit: string | null,
  help: string,
])[] = [
  ['qps', 'queries_per_second', null, 'Completed queries per second.'],
  ['latencySeconds', 'latency_seconds', 'seconds', 'Mean latency of completed queries.'],
  ['cpuSecondsPerQuery', 'cpu_seconds_per_query', null, 'CPU time of the server per completed query.'],
  ['memoryBytes', 'memory_bytes', 'bytes', 'Memory of all processes of the server.'],
  ['lostRatio', 'lost_ratio', 'ratio', 'Lost queries divided by sent queries.'],
  ['cpuCores', 'cpu_cores', 'cores', 'Cores used by the server.'],
];

const WITH_INTERVAL = 'Median over the trials (figure="median") and the ends of its 95 % interval.';

function figureFamilies(record: RunRecord): Family[] {
  return FIGURES.map(([field, name, unit, help]): Family => {
    const samples = record.cases.flatMap((item) => {
      const figure = item.summary?.[field];
      if (figure == null || Array.isArray(figure)) return [];
      const { median, low, high } = figure;
      const isOwn = !COMPARED_METRICS.some(
        (metric) => metric === field && !isServersOwn(metric, [item.limitedBy]),
      );
      return figureSamples({ ...labelsOf(record, item), ...(isOwn ? {} : BOUNDED) }, { median, low, high });
    });
    return {
      name: `${PREFIX}_${name}`,
      type: 'gauge',
      ...(unit === null ? {} : { unit }),
      help: `${help} ${WITH_INTERVAL}`,
      samples,
    };
  });
}

function deltaFamily(record: RunRecord): Family {
  const samples = record.cases.flatMap((item) =>
    COMPARED_METRICS.flatMap((metric) => {
      const shown = shownOf(item, record, metric);
      if (shown === null || shown.verdict === NOT_COMPARED) return [];
      const { delta, isAtLeast } = shown;
      const labels = {
        ...labelsOf(record, item),
        ...{ baseline: record.baseline, metric },
        ...(isAtLeast ? BOUNDED : {}),
      };
      return figureSamples(labels, { value: delta.relative, low: delta.low, high: delta.high });
    }),
  );
  return {
    name: `${PREFIX}_delta_ratio`,
    type: 'gauge',
    unit: 'ratio',
    help: 'Relative difference from the baseline at the same point of the matrix, and the ends of its 95 % interval.',
    samples,
  };
}

function countFamilies(record: RunRecord): Family[] {
  const total = (name: string, help: string, pick: (item: CaseRecord) => number): Family => ({
    name: `${PREFIX}_${name}`,
    type: 'counter',
    help,
    samples: record.cases.map((item) => ({
      suffix: '_total',
      labels: labelsOf(record, item),
      value: pick(item),
    })),
  });
  return [
    total('queries_sent', 'Queries sent in all ok trials.', ({ totals }) => totals.queriesSent),
    total('queries_completed', 'Queries answered in all ok trials.', ({ totals }) => totals.queriesCompleted),
    total('queries_lost', 'Queries lost in all ok trials.', ({ totals }) => totals.queriesLost),
    total('trials_ok', 'Trials that were measured.', ({ trials }) => trials.ok),
    total('trials_failed', 'Trials that failed.', ({ trials }) => trials.failed),
  ];
}

function infoFamily(record: RunRecord): Family {
  const { environment, loader, generator } = record;
  const labels = {
    run: record.id,
    version: generator.version,
    commit: environment.git?.commit ?? '',
    loader: `${loader.kind} ${loader.version}`,
    target: record.target,
    hostname: environment.hostname,
    kernel: environment.kernel,
    cpu_model: environment.cpuModel,
    status: record.status,
  };
  return {
    name: `${PREFIX}_run`,
    type: 'info',
    help: 'What was measured, and on which machine.',
    samples: [{ suffix: '_info', labels, value: 1 }],
  };
}

/** All families, and the end marker that OpenMetrics requires. */
export function renderOpenMetrics(record: RunRecord): string {
  const families = [
    infoFamily(record),
    ...figureFamilies(record),
    deltaFamily(record),
    ...countFamilies(record),
  ];
  return `${[...families.flatMap(familyLines), '# EOF'].join('\n')}\n`;
}
