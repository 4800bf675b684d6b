/**
 * dnsperf's output as data. Checked against captured output of 2.10.0 and 2.14.0, including the optional lines
 * (interrupted queries, connection statistics, latency histogram, interval rates).
 */
import type { LoadResult } from '../../results/record.ts';
import { type LoaderCounts, type LoaderProgram, withoutResult } from '../loader.ts';

export interface DnsperfReport {
  /** For example `2.10.0`; null if the banner is missing. */
  readonly version: string | null;
  /** Null if dnsperf ended without printing its statistics. */
  readonly result: LoadResult | null;
  /** Late, duplicate or foreign responses. */
  readonly unexpectedResponses: number;
  /** Other warnings and errors, as printed. */
  readonly complaints: readonly string[];
}

/** A line of `-S`: UNIX time and the rate of the interval that ended then. */
export interface DnsperfInterval {
  readonly unixSeconds: number;
  readonly qps: number;
}

const INTERVAL = /^(\d{9,}\.\d+): (\d+\.\d+)$/;

/** Reads a line of `-S`, or returns null for any other line. */
export function parseInterval(line: string): DnsperfInterval | null {
  const [, time, rate] = INTERVAL.exec(line) ?? [];
  if (time === undefined || rate === undefined) return null;
  return { unixSeconds: Number(time), qps: Number(rate) };
}

/**
 * A rate below this in the first line of `-S` says nothing. When dnsperf's statistics thread starts before its senders, it
 * divides the first interval by the seconds since 1970 instead of by its length: 52,000 answers print as 0.000029, and
 * fewer than 900 as 0.000000. Nor does their number follow from the sum, because dnsperf prints no line for the end of the run.
 */
const FIRST_BELIEVED = 0.5;

/** True for the line that dnsperf prints when it has read its queries and begins to send. */
export function isStartOfSending(line: string): boolean {
  return line.startsWith('[Status] Stopping after');
}

const LATENCY = /(\d+\.\d+) \(min (\d+\.\d+), max (\d+\.\d+)\)/;

function parseLatency(text: string): { mean: number; min: number; max: number } | null {
  const [, mean, min, max] = LATENCY.exec(text) ?? [];
  if (mean === undefined || min === undefined || max === undefined) return null;
  return { mean: Number(mean), min: Number(min), max: Number(max) };
}

/** `NOERROR 5 (50.00%), NXDOMAIN 5 (50.00%)` → `{ NOERROR: 5, NXDOMAIN: 5 }`. */
function parseResponseCodes(text: string): Record<string, number> {
  const codes: Record<string, number> = {};
  for (const [, code, count] of text.matchAll(/([A-Z0-9]+) (\d+) \(/g)) {
    if (code !== undefined) codes[code] = Number(count);
  }
  return codes;
}

/** `label: value` pairs of one block of the statistics, by label without the unit. */
type Block = ReadonlyMap<string, string>;

interface Sections {
  readonly statistics: Block;
  readonly connections: Block | null;
  readonly histogram: readonly { lowSeconds: number; highSeconds: number; count: number }[];
}

const HISTOGRAM_LINE = /^\s*(\d+\.\d+) - (\d+\.\d+):\s+(\d+)$/;
const FIELD = /^\s{2,}([A-Z][^:]*?)(?: \(s\))?:\s*(.*)$/;

function splitSections(lines: readonly string[]): Sections | null {
  const start = lines.indexOf('Statistics:');
  if (start < 0) return null;
  const statistics = new Map<string, string>();
  const connections = new Map<string, string>();
  const histogram: { lowSeconds: number; highSeconds: number; count: number }[] = [];
  let inConnections = false;
  for (const line of lines.slice(start + 1)) {
    if (line.startsWith('Connection Statistics')) inConnections = true;
    const bin = HISTOGRAM_LINE.exec(line);
    // dnsperf 2.14 prints the histogram of answers again under "connection": only the first counts.
    if (bin !== null && !inConnections) {
      histogram.push({ lowSeconds: Number(bin[1]), highSeconds: Number(bin[2]), count: Number(bin[3]) });
    }
    const [, label, value] = FIELD.exec(line) ?? [];
    if (label !== undefined && value !== undefined)
      (inConnections ? connections : statistics).set(label, value);
  }
  return { statistics, connections: inConnections ? connections : null, histogram };
}

function leadingNumber(block: Block, label: string): number | null {
  const value = Number.parseFloat(block.get(label) ?? '');
  return Number.isFinite(value) ? value : null;
}

function parseConnections(block: Block): LoadResult['connections'] {
  // 2.10 prints "Reconnections: 3 (0.1% of 2000 connections)", 2.14 "Connection attempts: 4 (4 successful, …)".
  const reconnections = /^(\d+)(?: \([^)]* of (\d+) connections\))?/.exec(block.get('Reconnections') ?? '');
  return {
    count: leadingNumber(block, 'Connection attempts') ?? Number(reconnections?.[2] ?? 0),
    reconnections: Number(reconnections?.[1] ?? 0),
    latencySeconds: parseLatency(block.get('Average Latency') ?? ''),
  };
}

/** The time between the lines of `-S`, from the command line that dnsperf prints; 1 if it prints none. */
export function intervalSeconds(lines: readonly string[]): number {
  const given = lines
    .map((line) => /Command line:.* -S (\d+(?:\.\d+)?)(?: |$)/.exec(line)?.[1])
    .find(Boolean);
  return given === undefined ? 1 : Number(given);
}

function toLoadResult(
  sections: Sections,
  intervals: readonly DnsperfInterval[],
  firstSeconds: number,
): LoadResult | null {
  const { statistics } = sections;
  // Under `-u` dnsperf calls queries updates.
  const counted = (what: string) =>
    leadingNumber(statistics, `Queries ${what}`) ?? leadingNumber(statistics, `Updates ${what}`);
  const queriesSent = counted('sent');
  const queriesCompleted = counted('completed');
  const queriesLost = counted('lost');
  const runTimeSeconds = leadingNumber(statistics, 'Run time');
  const qps = counted('per second');
  if (queriesSent === null || queriesCompleted === null || queriesLost === null) return null;
  if (runTimeSeconds === null || qps === null) return null;
  const sizes = /request (\d+), response (\d+)/.exec(statistics.get('Average packet size') ?? '');
  const latency = queriesCompleted > 0 ? parseLatency(statistics.get('Average Latency') ?? '') : null;
  // Of the first line the time is right, whatever its rate.
  const started = (intervals[0]?.unixSeconds ?? 0) - firstSeconds;
  return {
    queriesSent,
    queriesCompleted,
    queriesLost,
    queriesInterrupted: counted('interrupted') ?? 0,
    responseCodes: parseResponseCodes(statistics.get('Response codes') ?? ''),
    averageRequestBytes: sizes === null || queriesSent === 0 ? null : Number(sizes[1]),
    averageResponseBytes: sizes === null || queriesCompleted === 0 ? null : Number(sizes[2]),
    runTimeSeconds,
    qps,
    latencySeconds:
      latency === null
        ? null
        : { ...latency, standardDeviation: leadingNumber(statistics, 'Latency StdDev') },
    connections: sections.connections === null ? null : parseConnections(sections.connections),
    intervals: intervals
      .filter(({ qps: rate }, index) => index > 0 || rate >= FIRST_BELIEVED)
      .map(({ unixSeconds, qps: rate }) => ({ atSeconds: Math.max(0, unixSeconds - started), qps: rate })),
    latencyPercentiles: null,
    hdrHistogram: null,
    lookups: null,
    latencyHistogram: sections.histogram.length === 0 ? null : [...sections.histogram],
  };
}

/** Reads everything dnsperf printed, both streams, line by line. Never throws. */
export function parseDnsperf(lines: readonly string[]): DnsperfReport {
  const version = lines.map((line) => /^(?:Nominum )?Version (\S+)/.exec(line)?.[1]).find(Boolean) ?? null;
  const intervals = lines.map(parseInterval).filter((interval) => interval !== null);
  const sections = splitSections(lines);
  const isUnexpected = (line: string) => line.includes('unexpected (maybe timed out) id');
  return {
    version,
    result: sections === null ? null : toLoadResult(sections, intervals, intervalSeconds(lines)),
    unexpectedResponses: lines.filter(isUnexpected).length,
    complaints: lines.filter((line) => /^(Error|Warning):/.test(line) && !isUnexpected(line)),
  };
}

/** dnsperf does not tell late answers from repeated or foreign ones; in a load of its own nearly all of them are late. */
export function countsOf({ unexpectedResponses }: Pick<DnsperfReport, 'unexpectedResponses'>): LoaderCounts {
  return { bufferDrops: null, sendErrors: null, late: unexpectedResponses, strays: 0 };
}

export const DNSPERF: LoaderProgram = {
  kind: 'dnsperf',
  title: 'dnsperf',
  hear(line, request) {
    if (isStartOfSending(line)) request.onStarted();
    const interval = parseInterval(line);
    // A lower one is the first, and wrong; zero may be either, and is the next one's in a moment.
    if (interval !== null && (interval.qps === 0 || interval.qps >= FIRST_BELIEVED))
      request.onProgress(interval.qps);
  },
  outcomeOf(output) {
    const report = parseDnsperf(output.lines);
    const { result, complaints } = report;
    if (result === null || output.exitCode !== 0)
      throw withoutResult(DNSPERF, output, complaints.length > 0 ? complaints : output.lines);
    return { result, wasTheLimit: null, counts: countsOf(report) };
  },
};
