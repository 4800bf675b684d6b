/** The generated zones of the command line. */
import { readFile } from 'node:fs/promises';
import { defineZoneSet } from '@dinodns-bench/zones/data';
import { ServerError } from './errors.ts';
import type { ZoneSource } from './options.ts';
import { fileError } from './store/zones-file.ts';

/** More would fill an ordinary machine's memory, since each worker holds them. */
export const MAX_ZONES = 1_000_000;

/** The first `count` zones of the published benchmark: example1.com, example3.com, … */
export function generatedZones(count: number): ZoneSource {
  if (count < 1 || count > MAX_ZONES) {
    throw new ServerError('E_USAGE', `--zones ${count} is not valid.`, `Give 1 to ${MAX_ZONES}.`);
  }
  return defineZoneSet({ from: 1, to: count * 2 });
}

/**
 * The zone set of a JSON specification file, as `defineZoneSet` accepts it: `{"from":1,"to":200}`. Throws
 * `E_ZONES` or `E_UNREADABLE`.
 */
export async function readZonesSpec(file: string): Promise<ZoneSource> {
  try {
    return defineZoneSet(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw fileError(file, error);
    const fix = 'Give a JSON file such as {"pattern":"example{X}.com","from":1,"to":200}.';
    throw new ServerError('E_ZONES', `${file} is not JSON: ${error.message}.`, fix, error);
  }
}
