/** The events that the load generator's process reports. */
import type { DriverEvent } from '@dinodns-bench/load';
import type { DetailedInterval } from '../loader.ts';

/** The event in a line; null for anything else that the process may print. */
export function parseEvent(line: string): DriverEvent | null {
  if (!line.startsWith('{"event":')) return null;
  try {
    return JSON.parse(line) as DriverEvent;
  } catch {
    return null;
  }
}

/** What an event tells of its interval. */
export function intervalOf(event: Extract<DriverEvent, { readonly event: 'interval' }>): DetailedInterval {
  const { toSeconds: atSeconds, sent, answered, lost, codes, slowestSeconds, goodSeconds } = event;
  return { atSeconds, sent, answered, lost, codes, slowestSeconds, goodSeconds };
}
