/** The DNS queries of a capture file, with their times, as a workload keeps them: all at once, in one block. */

import { arenaBuilder, type QueryArena } from '../workload/workload.ts';
import type { Skipped } from './packet.ts';
import { Capture } from './read-capture.ts';

/** What a user would not miss: everything else on the wire. */
const EXPECTED: ReadonlySet<Skipped> = new Set(['not IP', 'other traffic']);

/** Captures of several interfaces are not always in order. */
function inOrder(arena: QueryArena, times: readonly number[]): { arena: QueryArena; times: number[] } {
  const order = Array.from(times.keys()).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
  const sorted = arenaBuilder();
  for (const index of order)
    sorted.add(arena.bytes.subarray(arena.offsets[index] ?? 0, arena.offsets[index + 1] ?? 0));
  return { arena: sorted.finish(), times: order.map((index) => times[index] ?? 0) };
}

function skippedText(skipped: ReadonlyMap<Skipped, number>, cutShort: boolean): string {
  const counts = [...skipped]
    .filter(([reason]) => !EXPECTED.has(reason))
    .map(([reason, count]) => `${count} × ${reason}`);
  return [...counts, ...(cutShort ? ['the file ends within a packet'] : [])].join(', ');
}

/**
 * Reads a pcap or pcapng file piece by piece and keeps the queries to `port`, over UDP, or over TCP where a
 * message begins with its segment.
 * @throws LoadError `E_UNREADABLE` or `E_PCAP`.
 */
export async function loadCapture(path: string, port: number) {
  const capture = new Capture(path, { port });
  const found = arenaBuilder();
  const times: number[] = [];
  for await (const piece of capture.pieces()) {
    for (const { seconds, frame, start, end } of piece) {
      found.add(frame.subarray(start, end));
      times.push(seconds);
    }
  }
  const arena = found.finish();
  for (let index = 0; index < arena.count; index++)
    arena.bytes.fill(0, arena.offsets[index], (arena.offsets[index] ?? 0) + 2);
  const isOrdered = times.every((seconds, index) => index === 0 || seconds >= (times[index - 1] ?? 0));
  const sorted = isOrdered ? { arena, times } : inOrder(arena, times);
  const first = sorted.times[0] ?? 0;
  return {
    /** Messages as captured, except that the id is 0. */
    arena: sorted.arena,
    /** Seconds after the first query, ascending, one for each message. */
    dueSeconds: Float64Array.from(sorted.times, (seconds) => seconds - first),
    spanSeconds: (sorted.times.at(-1) ?? first) - first,
    /** What was skipped, such as "3 fragments"; empty if there was nothing that a user would miss. */
    skipped: skippedText(capture.skipped, !capture.isComplete),
  };
}
