/**
 * The `.out` files of kubernetes/perf-tests `dns/`: YAML, one for each client pod of each case. All pods send at the
 * same time, so the files of one case are parts of one measurement and are put together.
 */
import { parse as parseYaml } from 'yaml';
import {
  asCount,
  asNumber,
  asObject,
  asText,
  type Importer,
  lostRatioOf,
  type Measurement,
  NOTHING_KNOWN,
} from './format.ts';

/** Keys that number the runs and are not parameters of the case. */
const NUMBERING = new Set(['run_id', 'run_subid', 'pod_name']);

const PERCENTILES = [
  [50, 'latency_50_percentile'],
  [95, 'latency_95_percentile'],
  [99, 'latency_99_percentile'],
  [99.5, 'latency_99_5_percentile'],
] as const;

/** The CPU limit is in millicores, under the name of the server that it is for. */
function serverOf(parameters: Readonly<Record<string, unknown>>): {
  server: string | null;
  tier: number | null;
} {
  for (const [key, server] of [
    ['coredns_cpu', 'coredns'],
    ['kubedns_cpu', 'kube-dns'],
  ] as const) {
    if (!(key in parameters)) continue;
    const millicores = asNumber(parameters[key]);
    return { server, tier: millicores === null || millicores === 0 ? null : millicores / 1000 };
  }
  return { server: null, tier: null };
}

function trialOf(params: Readonly<Record<string, unknown>>, data: Readonly<Record<string, unknown>>) {
  const runId = asNumber(params.run_id);
  // A number of seconds since 1970; what is far from today is another kind of number.
  const startedAt =
    runId !== null && runId > 1e9 && runId < 1e10 ? new Date(runId * 1000).toISOString() : null;
  if (data.ok !== true) {
    const message = (asText(data.msg) ?? 'no reason given').trim().split('\n').at(-1);
    return { ...NOTHING_KNOWN, startedAt, failure: `perf-tests could not read its result: ${message}` };
  }
  const [sent, lost] = [asCount(data.queries_sent), asCount(data.queries_lost)];
  const percentiles = PERCENTILES.flatMap(([percentile, key]) => {
    const milliseconds = asNumber(data[key]);
    return milliseconds === null ? [] : [{ percentile, seconds: milliseconds / 1000 }];
  });
  return {
    ...NOTHING_KNOWN,
    startedAt,
    durationSeconds: asNumber(data.run_time),
    queriesSent: sent,
    queriesCompleted: asCount(data.queries_completed),
    queriesLost: lost,
    latencyPercentiles: percentiles.length === 0 ? null : percentiles,
    metrics: {
      ...NOTHING_KNOWN.metrics,
      qps: asNumber(data.qps),
      latencySeconds: asNumber(data.avg_latency),
      lostRatio: lostRatioOf(sent, lost),
    },
  };
}

export const perfTestsImporter: Importer = {
  format: 'perf-tests',
  notes: [
    'Percentiles of kubernetes/perf-tests come from bins of 1 ms that are rounded down, and a timeout counts as 4999 ms.',
    'CPU and memory of `kubectl top` are maxima of its samples, not the cost per query: they are omitted.',
  ],
  recognizes: (text) =>
    /^data:/m.test(text) && /\bqueries_completed:|\bok: false/.test(text) && /^params:/m.test(text),
  parse(text) {
    const file = asObject(parseYaml(text, { maxAliasCount: 0 }));
    const params = asObject(file.params);
    const parameters = Object.fromEntries(Object.entries(params).filter(([key]) => !NUMBERING.has(key)));
    const pod = asText(params.pod_name);
    const measurement: Measurement = {
      ...serverOf(params),
      workload: asText(params.query_file),
      transport: 'udp',
      parameters,
      trial: trialOf(params, asObject(file.data)),
      part: pod === null ? null : `${String(params.run_id)}/${String(params.run_subid)}`,
    };
    return { version: null, environment: {}, measurements: [measurement], notes: [] };
  },
};
