/** What the load generator's process tells bench, one JSON value on each line of its standard output. */
import type { CannonResult } from '@dinodns-bench/load';

export type BuiltinEvent =
  /** The first query has left. */
  | { readonly event: 'started' }
  | { readonly event: 'interval'; readonly toSeconds: number; readonly qps: number }
  | { readonly event: 'result'; readonly result: CannonResult }
  | { readonly event: 'error'; readonly code: string; readonly message: string; readonly fix: string };

/** The event in a line; null for anything else that the process may print. */
export function parseEvent(line: string): BuiltinEvent | null {
  if (!line.startsWith('{"event":')) return null;
  try {
    return JSON.parse(line) as BuiltinEvent;
  } catch {
    return null;
  }
}
