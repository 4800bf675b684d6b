/** Paths in configuration files. */
import { posix } from 'node:path';

/** One file for every zone of the set: its names are relative to the zone. */
export const SHARED_ZONE_FILE = 'shared.zone';

/** The zone files after a configuration: none if each zone has its own. */
export function zoneFileTexts(zoneFiles: string | undefined, shared: Iterable<string>): Iterable<string>[] {
  return zoneFiles === undefined ? [shared] : [];
}

/** Path of a zone's file, if each zone has its own. */
export function ownZoneFile(zoneFiles: string, name: string): string {
  return posix.join(zoneFiles, `${name}.zone`);
}

export function inDirectory(directory: string, file: string): string {
  return posix.join(directory, file);
}
