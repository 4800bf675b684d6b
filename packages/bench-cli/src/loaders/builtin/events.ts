/** The events that the load generator's process reports. */
import type { DriverEvent } from '@dinodns-bench/load';

/** The event in a line; null for anything else that the process may print. */
export function parseEvent(line: string): DriverEvent | null {
  if (!line.startsWith('{"event":')) return null;
  try {
    return JSON.parse(line) as DriverEvent;
  } catch {
    return null;
  }
}
