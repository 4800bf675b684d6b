/** Lines that `bench capacity memory` has measured, as the basis of a plan. Pure. */
import { formatCount } from '../../report/numbers.ts';
import { studentQuantile } from '../../stats/student-t.ts';
import type { MemoryFigure, MemoryFit } from './memory/memory-record.ts';
import { type Expected, type MemoryBasis, objectsOf, type Size } from './memory-basis.ts';
import type { Configuration } from './published.ts';
import type { CapacityRecord } from './record.ts';

const BYTES_PER_MEGABYTE = 1e6;

/** The configurations of a measurement that read the same objects, the closest first. */
const MEASURED: Readonly<Record<Configuration, readonly string[]>> = {
  default: ['default'],
  autopath: ['autopath', 'verified'],
};

const COUNTS: Readonly<Record<MemoryFit['terms'][number]['of'], (size: Size) => number>> = {
  constant: () => 1,
  objects: objectsOf,
  services: ({ services }) => services,
  pods: ({ pods }) => pods,
  endpoints: ({ endpoints }) => endpoints,
};

/** The line at a size, with the interval of a single start around it (Student's t; the line itself is taken as exact). */
function expected({ terms, residualBytes, starts }: MemoryFit, size: Size): Expected {
  const bytes = terms.reduce((sum, { of, bytes: each }) => sum + each * COUNTS[of](size), 0);
  const degrees = Math.max(1, starts - terms.length);
  const half = residualBytes * studentQuantile(0.975, degrees);
  return {
    value: bytes / BYTES_PER_MEGABYTE,
    low: Math.max(0, bytes - half) / BYTES_PER_MEGABYTE,
    high: (bytes + half) / BYTES_PER_MEGABYTE,
  };
}

const TERM_WORDS: Readonly<Record<string, string>> = { objects: '(pods + services)' };

/** `(pods + services) × 0.9 kB + 32.1`: a line in words. */
function formulaOf({ terms }: MemoryFit): string {
  const parts = terms
    .filter(({ of }) => of !== 'constant')
    .map(({ of, bytes }) => `${TERM_WORDS[of] ?? of} × ${(bytes / 1000).toFixed(2)} kB`);
  const constant = terms.find(({ of }) => of === 'constant')?.bytes ?? 0;
  return [...parts, `${(constant / BYTES_PER_MEGABYTE).toFixed(1)} MB`].join(' + ');
}

export interface MeasuredOptions {
  readonly configuration: Configuration;
  /** Of CoreDNS; null for the last server of the record. */
  readonly version: string | null;
  /** How the source begins: `this machine's history`. */
  readonly origin: string;
}

/** `coredns-cluster@1.11.3` is version 1.11.3; a server without one has that of its program. */
function versionOf(record: Pick<CapacityRecord, 'programs'>, server: string): string {
  return /@(.+)$/.exec(server)?.[1] ?? record.programs.find(({ name }) => name === server)?.version ?? '';
}

/** Null if the record has no line of this configuration and version. */
export function measuredBasis(
  record: Pick<CapacityRecord, 'id' | 'programs' | 'measured'>,
  options: MeasuredOptions,
): MemoryBasis | null {
  const { measured } = record;
  if (measured.what !== 'memory') return null;
  const { configuration, version, origin } = options;
  const wanted = measured.fits.filter((fit) => version === null || versionOf(record, fit.server) === version);
  const server = wanted.at(-1)?.server;
  const found = MEASURED[configuration].find((name) =>
    wanted.some((fit) => fit.server === server && fit.configuration === name),
  );
  const fitOf = (figure: MemoryFigure) =>
    wanted.find((fit) => fit.server === server && fit.configuration === found && fit.figure === figure);
  const steady = fitOf('steady');
  if (server === undefined || steady === undefined) return null;
  const at = (figure: MemoryFigure) => {
    const fit = fitOf(figure);
    return (size: Size) => (fit === undefined ? null : expected(fit, size));
  };
  const details = `CoreDNS ${versionOf(record, server)}, ${found}, ${steady.starts} starts with up to ${formatCount(steady.maxObjects)} objects`;
  return {
    kind: 'measured',
    source: `${origin}, run ${record.id} (${details})`,
    formula: formulaOf(steady),
    maxObjects: steady.maxObjects,
    steady: (size) => expected(steady, size),
    coldStartPeak: at('coldStartPeak'),
    relistPeak: at('relistPeak'),
  };
}
