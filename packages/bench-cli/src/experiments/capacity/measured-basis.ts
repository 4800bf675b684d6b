/** Lines that `bench capacity memory` has measured, as the basis of a plan. Pure. */
import { formatCount } from '../../report/numbers.ts';
import type { ServerRecord } from '../../results/record.ts';
import { expectedValue } from '../../stats/proportional-fit.ts';
import { BYTES_PER_MEGABYTE } from './figures.ts';
import type { MemoryFigure, MemoryRecord } from './memory/evidence.ts';
import { type MemoryFit, memoryLines, observe, seriesOf, termCounts } from './memory/lines.ts';
import { type Expected, type MemoryBasis, objectsOf, type Size } from './memory-basis.ts';
import type { Configuration } from './published.ts';

/** The configurations of a measurement that read the same objects, the closest first. */
export const MEASURED: Readonly<Record<Configuration, readonly string[]>> = {
  default: ['default'],
  autopath: ['autopath', 'verified'],
};

/** A size as the points of a measurement have it. */
const countsOf = (size: Size) => ({ ...size, objects: objectsOf(size) });

/** The line at a size, with the interval of one further start. */
function onLine(fit: MemoryFit, size: Size): Expected {
  const { terms, covariance, scatterRatio: residual, starts } = fit;
  const estimates = terms.map(({ bytes }) => bytes);
  const degrees = Math.max(1, starts - terms.length);
  const line = { estimates, covariance, residual, degrees };
  return expectedValue(line, termCounts(fit, countsOf(size)));
}

/** What a start has needed that read no more of anything than `size`: less can never be promised. 0 without one. */
function neededBefore(observed: ReturnType<typeof observe>, { services, pods, endpoints }: Size): number {
  const smaller = observed.filter(
    ({ point }) => point.services <= services && point.pods <= pods && point.endpoints <= endpoints,
  );
  return Math.max(0, ...smaller.map(({ bytes }) => bytes));
}

const TERM_WORDS: Readonly<Record<string, string>> = { objects: '(pods + services)' };

/** `(pods + services) × 0.9 kB + 32.1`: a line in words. */
function formulaOf({ terms }: MemoryFit): string {
  const parts = terms
    .filter(({ of }) => of !== 'constant')
    .map(({ of, bytes }) => `${TERM_WORDS[of] ?? of} × ${(bytes / 1000).toFixed(2)} kB`);
  const constant = terms.find(({ of }) => of === 'constant')?.bytes ?? 0;
  return [...parts, `${(constant / BYTES_PER_MEGABYTE).toFixed(1)} MB`].join(' + ').replaceAll('+ -', '− ');
}

/** What was measured at most: of what has a term of its own, or together. */
function rangeOf(
  { terms }: MemoryFit,
  observed: ReturnType<typeof observe>,
): Pick<MemoryBasis, 'most' | 'together'> {
  const [largest] = observed.map(({ point }) => point).toSorted((a, b) => b.objects - a.objects);
  if (largest !== undefined && terms.some(({ of }) => of === 'objects')) return { together: largest };
  const own = (['services', 'pods', 'endpoints'] as const).filter((name) =>
    terms.some(({ of }) => of === name),
  );
  const most = own.map((name) => [name, Math.max(...observed.map(({ point }) => point[name]))]);
  return { most: Object.fromEntries(most) };
}

export interface MeasuredOptions {
  readonly configuration: Configuration;
  /** Of CoreDNS; null for the last server of the record. */
  readonly version: string | null;
  /** How the source begins: `this machine's history`. */
  readonly origin: string;
}

/** Of an image: `registry:5000/coredns:v1.13.1@sha256:…`. */
const TAG = /:v?(\d+\.\d[\w.-]*)(?:@|$)/;

/** `coredns-cluster@1.11.3` is version 1.11.3; a server without one has that of its program, or of the image that ran on a cluster. */
export function versionOf(
  record: { readonly programs: readonly Pick<ServerRecord, 'name' | 'version'>[] },
  server: string,
): string {
  const found = record.programs.find(({ name }) => name === server)?.version ?? '';
  return /@(.+)$/.exec(server)?.[1] ?? TAG.exec(found)?.[1] ?? found;
}

/** Null if the record has no line of this configuration and version. */
export function measuredBasis(
  record: Pick<MemoryRecord, 'id' | 'programs' | 'cases' | 'trials'>,
  options: MeasuredOptions,
  fits: readonly MemoryFit[] = memoryLines(record),
): MemoryBasis | null {
  const { configuration, version, origin } = options;
  const wanted = fits.filter((fit) => version === null || versionOf(record, fit.server) === version);
  const server = wanted.at(-1)?.server;
  const found = MEASURED[configuration].find((name) =>
    wanted.some((fit) => fit.server === server && fit.configuration === name),
  );
  const fitOf = (figure: MemoryFigure) =>
    wanted.find((fit) => fit.server === server && fit.configuration === found && fit.figure === figure);
  const steady = fitOf('steady');
  if (server === undefined || steady === undefined) return null;
  const points = seriesOf(record)
    .flat()
    .filter((point) => point.server === server && point.configuration === found);
  const along = (fit: MemoryFit) => {
    const observed = observe(record, points, fit.figure);
    return (size: Size): Expected => {
      const { value, low, high } = onLine(fit, size);
      return {
        value: value / BYTES_PER_MEGABYTE,
        low: Math.max(0, low) / BYTES_PER_MEGABYTE,
        high: Math.max(high, neededBefore(observed, size)) / BYTES_PER_MEGABYTE,
      };
    };
  };
  const at = (figure: MemoryFigure) => {
    const fit = fitOf(figure);
    return fit === undefined ? () => null : along(fit);
  };
  const measured = versionOf(record, server);
  const details = `CoreDNS ${measured}, ${found}, ${steady.starts} starts with up to ${formatCount(steady.maxObjects)} objects`;
  return {
    kind: 'measured',
    source: `${origin}, run ${record.id} (${details})`,
    version: measured === '' ? null : measured,
    formula: formulaOf(steady),
    maxObjects: steady.maxObjects,
    ...rangeOf(steady, observe(record, points, 'steady')),
    countsEndpoints: steady.terms.some(({ of }) => of === 'endpoints'),
    steady: along(steady),
    coldStartPeak: at('coldStartPeak'),
    relistPeak: at('relistPeak'),
  };
}
