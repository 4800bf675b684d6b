/** An importer recognizes a file by its content and reads the measurements in it. */

import type { ImportedRecord, ImportedTrial, ImportFormat } from '../history/imported.ts';
import type { Transport } from '../results/record.ts';

/** One measurement, and what is known of the case it belongs to. What the file does not say is null. */
export interface Measurement {
  readonly server: string | null;
  readonly tier: number | null;
  readonly workload: string | null;
  readonly transport: Transport | null;
  /** Measurements with the same parameters are trials of one case. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly trial: Omit<ImportedTrial, 'file'>;
  /** Files with the same value are parts of one trial's load and are merged; null if there are no parts. */
  readonly part: string | null;
}

export interface ParsedFile {
  /** Version of the program that measured. */
  readonly version: string | null;
  readonly environment: ImportedRecord['environment'];
  readonly measurements: readonly Measurement[];
  /** What a reader should know of this file in particular. */
  readonly notes: readonly string[];
}

export interface Importer {
  readonly format: ImportFormat;
  /** How to read figures of this format, in sentences. */
  readonly notes: readonly string[];
  recognizes(text: string): boolean;
  /** Throws an `Error` that says what is wrong with the file. */
  parse(text: string): ParsedFile;
}

/** Where a measurement belongs, if the file does not say. */
export const PLACE_UNKNOWN: Omit<Measurement, 'parameters' | 'trial'> = {
  server: null,
  tier: null,
  workload: null,
  transport: null,
  part: null,
};

/** A trial of which nothing is known. */
export const NOTHING_KNOWN: Measurement['trial'] = {
  startedAt: null,
  durationSeconds: null,
  queriesSent: null,
  queriesCompleted: null,
  queriesLost: null,
  responseCodes: null,
  latencyPercentiles: null,
  metrics: {
    qps: null,
    latencySeconds: null,
    lostRatio: null,
    cpuSecondsPerQuery: null,
    memoryBytes: null,
  },
  failure: null,
};

type Json = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A number of at least zero, else null. */
export function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** From milliseconds; 0 is unknown: it means anything below one, or that nothing was answered yet. */
export function inSeconds(milliseconds: unknown): number | null {
  const value = asNumber(milliseconds);
  return value === null || value === 0 ? null : value / 1000;
}

export function asCount(value: unknown): number | null {
  const number = asNumber(value);
  return number === null ? null : Math.round(number);
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Counts by name; null for none. */
export function asCounts(value: unknown): Record<string, number> | null {
  const counts = Object.entries(asObject(value)).flatMap(([name, item]) => {
    const number = asCount(item);
    return number === null ? [] : [[name, number] as const];
  });
  return counts.length === 0 ? null : Object.fromEntries(counts);
}

/** A timestamp with a time zone, as ISO 8601 in UTC; null for any other. */
export function asTimestamp(value: unknown): string | null {
  const text = asText(value);
  if (text === null || !/(Z|[+-]\d{2}:?\d{2})$/.test(text)) return null;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? null : new Date(moment).toISOString();
}

/** In [0, 1], also where a program counts more queries lost than sent. */
export function lostRatioOf(sent: number | null, lost: number | null): number | null {
  return sent === null || lost === null || sent === 0 ? null : Math.min(1, lost / sent);
}

/** The values of text with one on each line. */
export function parseJsonLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index): unknown => {
      try {
        return JSON.parse(line);
      } catch (cause) {
        throw new Error(`line ${index + 1} is not JSON`, { cause });
      }
    });
}

/** The value after a flag in a command line, for example `-m`. */
export function flagValue(commandLine: string, flag: string): string | null {
  const words = commandLine.split(/\s+/);
  const place = words.indexOf(flag);
  return place < 0 ? null : (words[place + 1] ?? null);
}

/** As dnsperf and flamethrower name them. */
const TRANSPORTS: Readonly<Record<string, Transport>> = { udp: 'udp', tcp: 'tcp', dot: 'tls', doh: 'https' };

/** The transport that a flag in a command line chooses, UDP without it; null for one that bench does not know. */
export function transportOf(commandLine: string | null, flag: string): Transport | null {
  if (commandLine === null) return null;
  return TRANSPORTS[flagValue(commandLine, flag) ?? 'udp'] ?? null;
}
