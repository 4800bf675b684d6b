/** Zones in files other than zone files, and the generated ones of the command line. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isExplained, systemErrorCode, whyUnreadable } from '@dinodns-bench/program';
import { defineZoneSet, parseZonesJson, type Zone } from '@dinodns-bench/zones/data';
import { ServerError } from '../errors.ts';
import type { ZoneSource } from '../options.ts';

/**
 * The zones of a file, `zones.ndjson` of `dinodns-zones generate --format dinodns-json`, read on demand and never all in memory.
 */
export class ZonesFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The zones one by one, each checked. Throws `E_ZONES` or `E_UNREADABLE`. */
  async *zones(): AsyncGenerator<Zone, void, void> {
    try {
      yield* parseZonesJson(createReadStream(this.path));
    } catch (error) {
      throw fileError(this.path, error);
    }
  }
}

/** Turns a failure with a file of zones into an error that says what to do. */
function fileError(file: string, error: unknown): unknown {
  if (isExplained(error)) {
    return new ServerError('E_ZONES', `${file}: ${error.message}`, error.fix, error);
  }
  if (systemErrorCode(error) === undefined) return error;
  const fix = 'Give a file that exists and that this user can read.';
  return new ServerError('E_UNREADABLE', `The zones file ${file} ${whyUnreadable(error)}.`, fix, error);
}

/** More would fill an ordinary machine's memory, since each worker holds them. */
const MAX_ZONES = 1_000_000;

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
