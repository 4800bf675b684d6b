/**
 * How much memory a CoreDNS needs for how many objects, and where that comes from: lines that were measured here, or the
 * published one. Pure.
 */
import {
  type Configuration,
  MAX_PUBLISHED_OBJECTS,
  megabytesOf,
  PUBLISHED_BASIS,
  PUBLISHED_LINES,
} from './published.ts';

/** What there is to be read. Whole numbers from 0. */
export interface Size {
  readonly services: number;
  readonly pods: number;
  /** Addresses behind the services. */
  readonly endpoints: number;
}

/**
 * Megabytes (10⁶ bytes): what is expected, and the interval that one further start is in with 95 % confidence. `high` is at
 * least what any start of that size or a smaller one was measured to need.
 */
export interface Expected {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface MemoryBasis {
  readonly kind: 'measured' | 'published';
  /** Where it comes from: `published: CoreDNS 1.2.5, 2018`. */
  readonly source: string;
  /** Of CoreDNS, where it was measured; null for what was published, which is used with any. */
  readonly version: string | null;
  /** The line of steady memory in words: `(pods + services) ÷ 1000 + 54`. */
  readonly formula: string;
  /** The largest number of pods and services that was measured. */
  readonly maxObjects: number;
  /** The largest number that was measured of what the line counts by itself. Default: nothing. */
  readonly most?: Partial<Size>;
  /** The largest size that was measured, where the line is over pods and services together: it holds for the same proportions. */
  readonly together?: Size;
  /** Whether an endpoint more changes what is expected; else one for each pod is part of what pods cost. */
  readonly countsEndpoints: boolean;
  /** With a full cache, under queries. */
  steady(size: Size): Expected;
  /** While all objects are read for the first time; null if it was not measured. */
  coldStartPeak(size: Size): Expected | null;
  /** While all objects are read again; null if it was not measured. */
  relistPeak(size: Size): Expected | null;
}

/** A line is used up to twice the range that it was measured over. */
export const EXTRAPOLATION = { times: 2, text: 'twice' } as const;

/** What there is together: the cluster's own, and what was created beside it. */
export const sizeWith = (own: Size, more: Size): Size => ({
  services: own.services + more.services,
  pods: own.pods + more.pods,
  endpoints: own.endpoints + more.endpoints,
});

export const objectsOf = ({ services, pods }: Pick<Size, 'services' | 'pods'>): number => services + pods;

const exactly = (value: number): Expected => ({ value, low: value, high: value });

/** The published formula, which has no interval and no peaks. */
export function publishedBasis(configuration: Configuration): MemoryBasis {
  const line = PUBLISHED_LINES[configuration];
  return {
    kind: 'published',
    source: PUBLISHED_BASIS,
    version: null,
    formula: `(pods + services) ÷ ${line.objectsPerMegabyte} + ${line.baseMegabytes}`,
    maxObjects: MAX_PUBLISHED_OBJECTS,
    countsEndpoints: false,
    steady: (size) => exactly(megabytesOf(line, objectsOf(size))),
    coldStartPeak: () => null,
    relistPeak: () => null,
  };
}

/** What is more than the basis may be used for without --extrapolate, as numbers of a kind; null if nothing is. */
export function beyond({ maxObjects, most = {} }: MemoryBasis, size: Size) {
  const all = [
    { of: 'objects', wanted: objectsOf(size), measured: maxObjects },
    ...(['services', 'pods', 'endpoints'] as const).map((of) => ({
      ...{ of, wanted: size[of], measured: most[of] ?? Number.POSITIVE_INFINITY },
    })),
  ];
  return all.find(({ wanted, measured }) => wanted > EXTRAPOLATION.times * measured) ?? null;
}
