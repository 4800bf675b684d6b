/** The events that the load generator's process reports. */
import type { DriverEvent } from '@dinodns-bench/load';
import { jsonIn } from '../../text.ts';
import type { DetailedInterval } from '../loader.ts';

/** The event in a line; null for anything else that the process may print. */
export function parseEvent(line: string): DriverEvent | null {
  return line.startsWith('{"event":') ? (jsonIn(line) as DriverEvent | null) : null;
}

/** What an event tells of its interval. */
export function intervalOf(event: Extract<DriverEvent, { readonly event: 'interval' }>): DetailedInterval {
  const { toSeconds: atSeconds, sent, answered, lost, refused, codes, slowestSeconds, goodSeconds } = event;
  return { atSeconds, sent, answered, lost, refused, codes, slowestSeconds, goodSeconds };
}
