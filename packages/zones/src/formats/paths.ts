/** Paths in configuration files. */
import { posix } from 'node:path';

/** One file for every zone of the set: its names are relative to the zone. */
export const SHARED_ZONE_FILE = 'shared.zone';

export function inDirectory(directory: string, file: string): string {
  return posix.join(directory, file);
}
