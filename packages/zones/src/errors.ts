/**
 * Every failure that a user should read about is a `ZonesError`: it has a stable code and, for each problem, what
 * is wrong and how to fix it. The code alone decides the exit status.
 */
import { type ExitReason, errorClass } from '@dinodns-bench/program';

/** Stable error codes and why the program ends with each. */
export const ERROR_CODES = {
  /** A command line that cannot be understood. */
  E_USAGE: 'usage',
  /** A zone set's specification is not valid. */
  E_ZONE_SET: 'usage',
  /** A workload's specification is not valid. */
  E_WORKLOAD: 'usage',
  /** There is no format of that name. */
  E_UNKNOWN_FORMAT: 'usage',
  /** The format cannot hold the zone set's records, or a render option is not valid. */
  E_FORMAT: 'usage',
  /** A configuration file is not valid JSON. */
  E_CONFIG: 'usage',
  /** A `zones.ndjson` file is damaged, truncated, of another version or of another kind. */
  E_ZONES_FILE: 'usage',
  /** A zone file is not valid; every problem has file, line and column. */
  E_ZONE_FILE: 'usage',
  E_UNREADABLE: 'environment',
  /** No permission, no space, not a directory. Nothing was left behind. */
  E_WRITE_FAILED: 'output',
  E_INTERRUPTED: 'interrupted',
  E_TERMINATED: 'terminated',
} as const satisfies Record<string, ExitReason>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error with a stable `code`, all `problems`, each with its `fix`, and an exit status. */
export class ZonesError extends errorClass(ERROR_CODES) {
  override readonly name = 'ZonesError';
}
