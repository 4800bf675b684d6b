/** The load generator's result as a load result of the record. Pure. */
import {
  type CannonResult,
  decodeHistogram,
  encodeHistogram,
  Histogram,
  lowestAt,
  mergeEncoded,
} from '@dinodns-bench/load';
import { BenchError } from '../../errors.ts';
import type { LatencyHistogram, LoadResult } from '../../results/record.ts';
import { type LoaderCounts, type LoaderProgram, type LoadOutcome, withoutResult } from '../loader.ts';
import { intervalOf, parseEvent } from './events.ts';

/** What reports show of a latency distribution. */
const PERCENTILES = [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99] as const;

/**
 * Bins of the generator's histogram (1,024 per doubling of latency) in one bin of the record, which is then 1.6 %
 * wide. The original's three digits would make the record of a long run several times as large; they are in
 * `hdrHistogram`, packed.
 */
const PARTS_PER_BIN = 16;

function binsOf(histogram: Histogram): LatencyHistogram {
  const counts = new Map<number, number>();
  for (const [index, count] of histogram.entries()) {
    const bin = Math.floor(index / PARTS_PER_BIN);
    counts.set(bin, (counts.get(bin) ?? 0) + count);
  }
  const secondsAt = (bin: number) => lowestAt(bin * PARTS_PER_BIN) / 1e9;
  return [...counts].map(([bin, count]) => ({
    lowSeconds: secondsAt(bin),
    highSeconds: secondsAt(bin + 1),
    count,
  }));
}

type LatencyDetail = Pick<LoadResult, 'latencyPercentiles' | 'latencyHistogram' | 'hdrHistogram'>;

const NO_DETAIL: LatencyDetail = { latencyPercentiles: null, latencyHistogram: null, hdrHistogram: null };

/** The percentiles over the queries of several loads, from their histograms; none if one lacks a histogram. */
export function mergedLatencyDetail(encoded: readonly (string | null)[]): LatencyDetail {
  const texts = encoded.filter((text) => text !== null);
  if (texts.length === 0 || texts.length < encoded.length) return NO_DETAIL;
  const histogram = mergeEncoded(texts);
  return {
    latencyPercentiles: PERCENTILES.map((percentile) => ({
      percentile,
      seconds: histogram.percentile(percentile) / 1e9,
    })),
    latencyHistogram: binsOf(histogram),
    hdrHistogram: encodeHistogram(histogram),
  };
}

/** Percentiles as the generator computed them, from exact values. */
function detailOf(latency: NonNullable<CannonResult['latencySeconds']>): LatencyDetail {
  return {
    latencyPercentiles: PERCENTILES.map((percentile) => ({ percentile, seconds: latency[`p${percentile}`] })),
    latencyHistogram: binsOf(Histogram.of(decodeHistogram(latency.histogram))),
    hdrHistogram: latency.histogram,
  };
}

function connectionsOf({ options, counts, connectSeconds }: CannonResult): LoadResult['connections'] {
  if (options.transport === 'udp') return null;
  const first = options.clients ?? options.workers;
  return {
    count: counts.connections,
    reconnections: Math.max(0, counts.connections - first),
    latencySeconds:
      connectSeconds === null
        ? null
        : { mean: connectSeconds.mean, min: connectSeconds.min, max: connectSeconds.max },
  };
}

function lookupsOf({ lookups }: CannonResult): LoadResult['lookups'] {
  if (lookups === null) return null;
  const { count, found, failed, rate, latencySeconds: latency } = lookups;
  const detail = latency === null ? NO_DETAIL : detailOf(latency);
  return {
    count,
    found,
    failed,
    perSecond: rate,
    latencySeconds: latency === null ? null : { mean: latency.mean, min: latency.min, max: latency.max },
    latencyPercentiles: detail.latencyPercentiles,
    hdrHistogram: detail.hdrHistogram,
  };
}

/** `intervals`: as the generator reported them while it ran. */
export function loadResultOf(result: CannonResult, intervals: LoadResult['intervals']): LoadResult {
  const { counts, latencySeconds: latency } = result;
  return {
    queriesSent: counts.sent,
    queriesCompleted: counts.answered,
    queriesLost: counts.lost,
    queriesInterrupted: counts.interrupted,
    responseCodes: { ...result.codes },
    averageRequestBytes: counts.sent === 0 ? null : result.meanQueryBytes,
    averageResponseBytes: counts.answered === 0 ? null : result.meanAnswerBytes,
    runTimeSeconds: result.elapsedSeconds,
    qps: result.qps,
    latencySeconds:
      latency === null
        ? null
        : {
            mean: latency.mean,
            min: latency.min,
            max: latency.max,
            standardDeviation: latency.standardDeviation,
          },
    connections: connectionsOf(result),
    intervals,
    ...(latency === null ? NO_DETAIL : detailOf(latency)),
    lookups: lookupsOf(result),
  };
}

/**
 * The rates while it sent: its intervals go on until the last query is answered or given up, possibly for seconds. Each ends a little
 * late, the last one that counts by less than half an interval.
 */
export function ratesOf(
  intervals: readonly { readonly toSeconds: number; readonly qps: number }[],
  { sendingSeconds, options: { intervalSeconds } }: CannonResult,
): LoadResult['intervals'] {
  return intervals
    .filter(({ toSeconds }) => toSeconds <= sendingSeconds + intervalSeconds / 2)
    .map(({ toSeconds: atSeconds, qps }) => ({ atSeconds, qps }));
}

/** What it counted of lost queries. */
export function loaderCountsOf({ counts, generator }: CannonResult): LoaderCounts {
  return {
    // Only sockets with many datagrams per system call can ask the kernel what it dropped.
    bufferDrops: generator.backend === 'native' ? counts.kernelDrops : null,
    sendErrors: counts.sendErrors,
    late: counts.late,
    strays: counts.duplicate + counts.mismatched + counts.malformed,
  };
}

type Rest = Pick<LoadOutcome, 'sockets' | 'stale' | 'latestSeconds'>;

/** What is absent unless asked for, or known. */
function restIn(result: CannonResult): Rest {
  const { sockets, options, counts, latenessSeconds: lateness } = result;
  const isWhole = counts.unsent === 0 && loaderCountsOf(result).bufferDrops === 0;
  return {
    ...(sockets === undefined ? {} : { sockets }),
    ...(options.expect?.maxAgeSeconds == null ? {} : { stale: counts.stale }),
    ...(lateness !== null && isWhole ? { latestSeconds: lateness.max } : {}),
  };
}

export const BUILTIN: LoaderProgram = {
  kind: 'builtin',
  title: 'the built-in loader',
  hear(line, request) {
    const event = parseEvent(line);
    if (event?.event === 'started') request.onStarted();
    if (event?.event === 'interval') request.onProgress(event.qps);
  },
  outcomeOf(output) {
    const events = output.lines.flatMap((line) => parseEvent(line) ?? []);
    const end = events.findLast(({ event }) => event === 'result' || event === 'error');
    if (end?.event === 'error') {
      throw new BenchError('E_LOADER_FAILED', `${BUILTIN.title} failed ${output.end}: ${end.message}`, {
        evidence: [end.code],
        fix: `${end.fix}.`,
      });
    }
    if (end?.event !== 'result') throw withoutResult(BUILTIN, output, output.lines);
    const intervals = events.filter((event) => event.event === 'interval');
    return {
      result: loadResultOf(end.result, ratesOf(intervals, end.result)),
      wasTheLimit: end.result.generator.wasTheLimit,
      counts: loaderCountsOf(end.result),
      timeline: intervals.map(intervalOf),
      ...restIn(end.result),
    };
  },
};
