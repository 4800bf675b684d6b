/**
 * The published sizes of CoreDNS, measured with version 1.2.5 in 2018: "Scaling CoreDNS in Kubernetes Clusters",
 * https://github.com/coredns/deployment/blob/master/kubernetes/Scaling_CoreDNS.md, and the data beside it. One replica on a node
 * with two vCPUs; type A only; a search list of four domains, so that an external name costs five queries.
 */

import { BYTES_PER_MEGABYTE } from './figures.ts';

/** How the `kubernetes` plugin is set up; `autopath` needs `pods verified`, so it watches every pod. */
export type Configuration = 'default' | 'autopath';

/** MB = objects ÷ `objectsPerMegabyte` + `baseMegabytes`, where objects are pods and services. */
export interface MemoryLine {
  readonly objectsPerMegabyte: number;
  readonly baseMegabytes: number;
}

/** As published. Both include `CACHE_MEGABYTES` and `LOAD_MEGABYTES`. */
export const PUBLISHED_LINES: Readonly<Record<Configuration, MemoryLine>> = {
  default: { objectsPerMegabyte: 1000, baseMegabytes: 54 },
  autopath: { objectsPerMegabyte: 250, baseMegabytes: 56 },
};

/** A full cache of 10,000 entries, and 30,000 queries a second. */
export const CACHE_MEGABYTES = 30;
export const LOAD_MEGABYTES = 5;

/** The measured points behind the formulas: objects and MB at most, without cache and load, with CoreDNS 1.2.4 and 1.2.5. */
export const PUBLISHED_POINTS: Readonly<Record<Configuration, readonly (readonly [number, number])[]>> = {
  default: [
    [0, 19],
    [15_820, 31],
    [63_280, 76],
    [158_200, 154],
  ],
  autopath: [
    [0, 19],
    [15_820, 62],
    [63_280, 178],
  ],
};

/** Queries per second of one replica at saturation, for names in the cluster and outside of it. */
export const PUBLISHED_QPS: Readonly<Record<Configuration, { internal: number; external: number }>> = {
  default: { internal: 33_669, external: 33_667 },
  autopath: { internal: 33_918, external: 31_428 },
};

/** The node's own search domain: an external name costs five queries. */
export const PUBLISHED_SEARCH: readonly string[] = ['mydomain.com'];

/** The largest number of objects that was measured. */
export const MAX_PUBLISHED_OBJECTS = 158_200;

export const PUBLISHED_BASIS = 'published: CoreDNS 1.2.5, 2018';

/** Least squares through `points`, with cache and load added: what the published data say, not the published formula. */
export function fittedLine(points: readonly (readonly [number, number])[]): MemoryLine {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const slope =
    points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) /
    points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return {
    objectsPerMegabyte: 1 / slope,
    baseMegabytes: meanY - slope * meanX + CACHE_MEGABYTES + LOAD_MEGABYTES,
  };
}

export function megabytesOf({ objectsPerMegabyte, baseMegabytes }: MemoryLine, objects: number): number {
  return objects / objectsPerMegabyte + baseMegabytes;
}

/** Bytes by the published formula, which has a full cache and 30,000 queries a second in it: beside `steady`. */
export function formulaBytes(configuration: Configuration, objects: number): number {
  return megabytesOf(PUBLISHED_LINES[configuration], objects) * BYTES_PER_MEGABYTE;
}

/** Bytes by least squares through the published data, with cache and load added: beside `steady` as well. */
export function dataBytes(configuration: Configuration, objects: number): number {
  return megabytesOf(fittedLine(PUBLISHED_POINTS[configuration]), objects) * BYTES_PER_MEGABYTE;
}

/** Maximum memory measured for the publication, without cache and load: beside `maximumWithoutCache`. Null where nothing was measured. */
export function measuredBytes(configuration: Configuration, objects: number): number | null {
  const point = PUBLISHED_POINTS[configuration].find(([size]) => size === objects);
  return point === undefined ? null : point[1] * BYTES_PER_MEGABYTE;
}
