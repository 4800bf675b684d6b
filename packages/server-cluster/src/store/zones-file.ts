/** A file of zones: `zones.ndjson` of `dinodns-zones generate --format dinodns-json`. */
import { createReadStream } from 'node:fs';
import { isExplained, systemErrorCode, whyUnreadable } from '@dinodns-bench/program';
import { parseZonesJson, type Zone } from '@dinodns-bench/zones/data';
import { ServerError } from '../errors.ts';

/** The zones of a file, read on demand and never all in memory. */
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
export function fileError(file: string, error: unknown): unknown {
  if (isExplained(error)) {
    return new ServerError('E_ZONES', `${file}: ${error.message}`, error.fix, error);
  }
  if (systemErrorCode(error) === undefined) return error;
  const fix = 'Give a file that exists and that this user can read.';
  return new ServerError('E_UNREADABLE', `The zones file ${file} ${whyUnreadable(error)}.`, fix, error);
}
