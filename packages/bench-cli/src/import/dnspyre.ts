/** dnspyre's `--json`: one object for each run; several may stand one after the other, each on a line of its own. */
import {
  asCount,
  asCounts,
  asNumber,
  asObject,
  type Importer,
  inSeconds,
  lostRatioOf,
  type Measurement,
  NOTHING_KNOWN,
  PLACE_UNKNOWN,
  parseJsonLines,
} from './format.ts';

const PERCENTILES = [
  [50, 'p50Ms'],
  [75, 'p75Ms'],
  [90, 'p90Ms'],
  [95, 'p95Ms'],
  [99, 'p99Ms'],
] as const;

/** Answers of any kind; null where an older version does not tell them from failures. */
function answered(result: Readonly<Record<string, unknown>>): number | null {
  const parts = [
    result.totalSuccessResponses ?? result.totalSuccessCodes,
    result.totalNegativeResponses,
    result.totalErrorResponses,
  ].map(asCount);
  return parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);
}

function measurementOf(value: unknown): Measurement {
  const result = asObject(value);
  const stats = asObject(result.latencyStats);
  const sent = asCount(result.totalRequests);
  const completed = answered(result);
  const lost = asCount(result.totalIOErrors);
  const duration = asNumber(result.benchmarkDurationSeconds);
  const percentiles = PERCENTILES.flatMap(([percentile, key]) => {
    const seconds = inSeconds(stats[key]);
    return seconds === null ? [] : [{ percentile, seconds }];
  });
  return {
    ...PLACE_UNKNOWN,
    parameters: { questionTypes: result.questionTypes ?? null },
    trial: {
      ...NOTHING_KNOWN,
      durationSeconds: duration,
      queriesSent: sent,
      queriesCompleted: completed,
      queriesLost: lost,
      responseCodes: asCounts(result.responseRcodes),
      latencyPercentiles: percentiles.length === 0 ? null : percentiles,
      metrics: {
        ...NOTHING_KNOWN.metrics,
        // dnspyre's own figure counts requests, answered or not.
        qps: completed === null || duration === null || duration === 0 ? null : completed / duration,
        latencySeconds: inSeconds(stats.meanMs),
        lostRatio: lostRatioOf(sent, lost),
      },
    },
  };
}

function objectsIn(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return parseJsonLines(text);
  }
}

export const dnspyreImporter: Importer = {
  format: 'dnspyre',
  notes: [
    "dnspyre's JSON has latencies in whole milliseconds: a latency of 0 is treated as unknown.",
    'Throughput is answers ÷ duration; the `queriesPerSecond` of dnspyre counts requests that were never answered.',
  ],
  recognizes: (text) => /"totalRequests"\s*:/.test(text) && /"benchmarkDurationSeconds"\s*:/.test(text),
  parse(text) {
    const objects = objectsIn(text);
    if (objects.length === 0) throw new Error('it contains no result');
    return { version: null, environment: {}, measurements: objects.map(measurementOf), notes: [] };
  },
};
