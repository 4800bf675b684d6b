/** The published figures of memory beside ours: the formula, and the data that it was made from. Pure. */
import { CONFIGURATIONS } from '../configurations.ts';
import { BYTES_PER_MEGABYTE, type Summary } from '../figures.ts';
import {
  type Configuration,
  fittedLine,
  megabytesOf,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
} from '../published.ts';
import type { MemoryFit } from './lines.ts';
import type { MemoryCase } from './points.ts';

/** The published configuration that reads the same objects. */
export function publishedConfiguration({ configuration }: Pick<MemoryCase, 'configuration'>): Configuration {
  const known = Object.entries(CONFIGURATIONS).find(([name]) => name === configuration)?.[1];
  return known?.published ?? 'default';
}

/** Bytes by the published formula, which has a full cache and 30,000 queries a second in it: beside `steady`. */
export function formulaBytes(configuration: Configuration, objects: number): number {
  return megabytesOf(PUBLISHED_LINES[configuration], objects) * BYTES_PER_MEGABYTE;
}

/** Bytes by least squares through the published data, with cache and load added: beside `steady` as well. */
export function dataBytes(configuration: Configuration, objects: number): number {
  return megabytesOf(fittedLine(PUBLISHED_POINTS[configuration]), objects) * BYTES_PER_MEGABYTE;
}

/** Maximum memory measured for the publication, without cache and load: beside `maximumSummary`. Null where nothing was measured. */
export function measuredBytes(configuration: Configuration, objects: number): number | null {
  const point = PUBLISHED_POINTS[configuration].find(([size]) => size === objects);
  return point === undefined ? null : point[1] * BYTES_PER_MEGABYTE;
}

/** What a published figure is to ours: within our range, below it (clusters would need more), or above it. */
export function sideOf(published: number, ours: Summary | null): 'within' | 'below' | 'above' | null {
  if (ours === null) return null;
  const { median, low, high } = ours;
  if (published < (low ?? median)) return 'below';
  return published > (high ?? median) ? 'above' : 'within';
}

/** Objects for a megabyte, the form of the published formulas; null where memory does not grow with objects. */
export function objectsPerMegabyte({ terms }: Pick<MemoryFit, 'terms'>): number | null {
  const slope = terms.find(({ of }) => of === 'objects');
  return slope === undefined || slope.bytes <= 0 ? null : BYTES_PER_MEGABYTE / slope.bytes;
}
