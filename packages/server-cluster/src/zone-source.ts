/** Where the zones of the command line come from: generated, or read from a file. */
import { createReadStream } from 'node:fs';
import { defineZoneSet, parseZonesJson, type Zone, ZonesError } from '@dinodns-bench/zones';
import { messageOf, ServerError, systemErrorCode } from './errors.ts';
import type { ZoneSource } from './options.ts';

/** More would fill the memory of an ordinary machine, once per worker. */
export const MAX_ZONES = 1_000_000;

/** The first `count` zones of the published benchmark: example1.com, example3.com, … */
export function generatedZones(count: number): ZoneSource {
  if (count < 1 || count > MAX_ZONES) {
    throw new ServerError('E_USAGE', `--zones ${count} is not possible.`, `Give 1 to ${MAX_ZONES}.`);
  }
  return defineZoneSet({ from: 1, to: count * 2 });
}

/** The zones of a `zones.ndjson` file, all of them checked. Throws `E_ZONES` or `E_UNREADABLE`. */
export async function readZones(file: string): Promise<ZoneSource> {
  const zones: Zone[] = [];
  try {
    for await (const zone of parseZonesJson(createReadStream(file))) zones.push(zone);
  } catch (error) {
    throw readError(file, error);
  }
  return { zones: () => zones };
}

function readError(file: string, error: unknown): unknown {
  if (error instanceof ZonesError) {
    return new ServerError('E_ZONES', `${file}: ${error.message}`, error.fix, error);
  }
  if (systemErrorCode(error) === undefined) return error;
  const fix = 'Give a file that exists and that this user may read.';
  return new ServerError('E_UNREADABLE', `Cannot read the zones: ${messageOf(error)}.`, fix, error);
}
