/** Zone files and their paths in configuration files. */
import { posix } from 'node:path';
import { sharedZoneFile } from '../presentation.ts';
import type { RenderContext } from './format.ts';

/** One file for every zone of the set: its names are relative to the zone. */
export const SHARED_ZONE_FILE = 'shared.zone';

/**
 * A configuration with a block for each zone, which names the zone's file, and after it the zone file that all zones share, unless each
 * has its own.
 */
export function withZoneFiles(
  { plan, settings, heading, eachZone }: RenderContext,
  head: string,
  block: (name: string, file: string) => string,
): Iterable<string>[] {
  const { directory, zoneFiles } = settings;
  const shared = inDirectory(directory, SHARED_ZONE_FILE);
  const fileOf = (name: string) =>
    zoneFiles === undefined ? shared : inDirectory(zoneFiles, `${name}.zone`);
  const blocks = eachZone(({ name }) => block(name, fileOf(name)), { head });
  return zoneFiles === undefined ? [blocks, sharedZoneFile(plan.records, heading)] : [blocks];
}

export function inDirectory(directory: string, file: string): string {
  return posix.join(directory, file);
}
