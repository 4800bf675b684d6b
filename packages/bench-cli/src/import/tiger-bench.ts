/** tiger-bench's `results.json`: of its tests, only `dnsperf` is about DNS. */
import {
  type DnsPerfResults,
  parseResults,
  type TigerElement,
  type TigerSummary,
} from '../tiger-bench/results-file.ts';
import {
  asNumber,
  asObject,
  asText,
  type Importer,
  type Measurement,
  NOTHING_KNOWN,
  PLACE_UNKNOWN,
} from './format.ts';

const PERCENTILES = [
  [50, 'P50'],
  [75, 'P75'],
  [90, 'P90'],
  [99, 'P99'],
] as const;

/** Fields of ClusterDetails under bench's names for the same thing; the others keep their names. */
const NAMES: Readonly<Record<string, string>> = {
  NodeOS: 'os',
  NodeKernel: 'kernel',
  NodeArch: 'architecture',
  K8SVersion: 'cluster.version',
  Cloud: 'cluster.provider',
  CNIOption: 'cluster.cni',
};

function environmentOf(
  details: Readonly<Record<string, unknown>>,
): Record<string, string | number | boolean> {
  const told = Object.entries(details).flatMap(([name, value]) =>
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'
      ? [[NAMES[name] ?? name, value] as const]
      : [],
  );
  return Object.fromEntries(told);
}

/** Under the names of the published sample's figures, which `bench reproduce lookup` compares. */
const SUMMARY_FIGURES = [
  ['min', 'MinSeconds'],
  ['avg', 'MeanSeconds'],
  ['P50', 'P50Seconds'],
  ['P75', 'P75Seconds'],
  ['P90', 'P90Seconds'],
  ['P99', 'P99Seconds'],
  ['max', 'MaxSeconds'],
  ['datapoints', 'Samples'],
] as const;

const COUNT_FIGURES = [
  ['SuccessfulCurls', 'successfulCurls'],
  ['FailedCurls', 'failedCurls'],
  ['DuplicateSYN', 'duplicateSyns'],
  ['DuplicateSYNACK', 'duplicateSynAcks'],
] as const;

function summaryFigures(prefix: string, summary: TigerSummary = {}): [string, number][] {
  return SUMMARY_FIGURES.flatMap(([key, suffix]) => {
    const value = summary[key];
    return value === undefined ? [] : [[`${prefix}${suffix}`, value]];
  });
}

/** Without those that the file leaves out. */
export function figuresOf(dnsperf: DnsPerfResults): Record<string, number> {
  const counts = COUNT_FIGURES.flatMap(([key, name]): [string, number][] => {
    const value = dnsperf[key];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([
    ...summaryFigures('lookup', dnsperf.LookupTime),
    ...summaryFigures('connect', dnsperf.ConnectTime),
    ...counts,
  ]);
}

function measurementOf(element: TigerElement): Measurement[] {
  const { config, dnsperf, error, status } = element;
  if (config.TestKind !== 'dnsperf') return [];
  const lookup = asObject(dnsperf?.LookupTime);
  const percentiles = PERCENTILES.flatMap(([percentile, key]) => {
    const seconds = asNumber(lookup[key]);
    return seconds === null ? [] : [{ percentile, seconds }];
  });
  const reason = asText(error);
  const isFailed = reason !== null || status === 'failed';
  return [
    {
      ...PLACE_UNKNOWN,
      workload: asText(config.DNSPerf?.TargetURL),
      parameters: config,
      trial: {
        ...NOTHING_KNOWN,
        durationSeconds: asNumber(config.Duration) || null,
        latencyPercentiles: percentiles.length === 0 ? null : percentiles,
        metrics: { ...NOTHING_KNOWN.metrics, latencySeconds: asNumber(lookup.avg) },
        ...(dnsperf === undefined ? {} : { figures: figuresOf(dnsperf) }),
        original: element,
        failure: isFailed ? (reason ?? 'tiger-bench reports that it failed') : null,
      },
    },
  ];
}

export const tigerBenchImporter: Importer = {
  format: 'tiger-bench',
  notes: [
    'tiger-bench measures how long curl takes to look up a name, one curl after another: its latency includes the ' +
      "pod's resolver, and it says nothing about the server's throughput.",
  ],
  recognizes(text) {
    if (!/^\s*\[/.test(text)) return false;
    return /"TestKind"/.test(text);
  },
  parse(text) {
    const elements = parseResults(text);
    const measurements = elements.flatMap(measurementOf);
    const others = elements.length - measurements.length;
    if (measurements.length === 0) throw new Error(`none of its ${elements.length} tests is a dnsperf test`);
    const first = elements.find(({ config }) => config.TestKind === 'dnsperf');
    return {
      version: null,
      environment: environmentOf(first?.ClusterDetails ?? {}),
      measurements,
      notes: others === 0 ? [] : [`${others} tests of other kinds are omitted.`],
    };
  },
};
