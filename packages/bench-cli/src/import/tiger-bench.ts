/** tiger-bench's `results.json`: of its tests, only `dnsperf` is about DNS. */
import { asNumber, asObject, asText, type Importer, type Measurement, NOTHING_KNOWN } from './format.ts';

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

function measurementOf(element: unknown): Measurement[] {
  const test = asObject(element);
  const config = asObject(test.config);
  if (config.TestKind !== 'dnsperf') return [];
  const dnsperf = asObject(test.dnsperf);
  const lookup = asObject(dnsperf.LookupTime);
  const error = asText(test.error);
  const percentiles = PERCENTILES.flatMap(([percentile, key]) => {
    const seconds = asNumber(lookup[key]);
    return seconds === null ? [] : [{ percentile, seconds }];
  });
  const isFailed = error !== null || test.status === 'failed';
  return [
    {
      server: null,
      tier: null,
      workload: asText(asObject(config.DNSPerf).TargetURL),
      transport: null,
      parameters: config,
      part: null,
      trial: {
        ...NOTHING_KNOWN,
        durationSeconds: asNumber(config.Duration) || null,
        latencyPercentiles: percentiles.length === 0 ? null : percentiles,
        metrics: { ...NOTHING_KNOWN.metrics, latencySeconds: asNumber(lookup.avg) },
        failure: isFailed ? (error ?? 'tiger-bench reports that it failed') : null,
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
    const elements: unknown = JSON.parse(text);
    if (!Array.isArray(elements)) throw new Error('it is not a list of tests');
    const measurements = elements.flatMap(measurementOf);
    const others = elements.length - measurements.length;
    if (measurements.length === 0) throw new Error(`none of its ${elements.length} tests is a dnsperf test`);
    const first = elements.find((element) => asObject(asObject(element).config).TestKind === 'dnsperf');
    return {
      version: null,
      environment: environmentOf(asObject(asObject(first).ClusterDetails)),
      measurements,
      notes: others === 0 ? [] : [`${others} tests of other kinds are omitted.`],
    };
  },
};
