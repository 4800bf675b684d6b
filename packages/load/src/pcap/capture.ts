/** The DNS queries of a capture file, with their times, as a workload keeps them: all at once, in one block. */

import { arenaBuilder } from '../workload/arena.ts';
import type { QueryArena } from '../workload/workload.ts';
import { noQueries, readPieces } from './capture-file.ts';
import { readPacket, type Skipped } from './packet.ts';

export interface CapturedQueries {
  /** Messages as captured, except that the id is 0. */
  readonly arena: QueryArena;
  /** Seconds after the first query, ascending, one for each message. */
  readonly dueSeconds: Float64Array;
  readonly spanSeconds: number;
  /** What was skipped, such as "3 fragments"; empty if there was nothing that a user would miss. */
  readonly skipped: string;
}

/** What a user would not miss: everything else on the wire. */
const EXPECTED: ReadonlySet<Skipped> = new Set(['not IP', 'other traffic']);

/** Collects queries while a file is read. */
function gather(port: number) {
  const arena = arenaBuilder();
  const times: number[] = [];
  const skipped = new Map<Skipped, number>();
  const ordered = { last: Number.NEGATIVE_INFINITY, is: true };
  return {
    arena,
    times,
    skipped,
    ordered,
    onPacket: (linkType: number, seconds: number, frame: Uint8Array) => {
      const reason = readPacket(linkType, frame, port, (bytes, start, end) => {
        const message = bytes.slice(start, end);
        message.fill(0, 0, 2);
        arena.add(message);
        times.push(seconds);
        if (seconds < ordered.last) ordered.is = false;
        ordered.last = seconds;
      });
      if (reason !== null) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    },
  };
}

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
export async function loadCapture(path: string, port: number): Promise<CapturedQueries> {
  const gathered = gather(port);
  let complete = false;
  for await (const { isComplete } of readPieces(path, () => gathered.onPacket)) complete = isComplete;
  const { times, skipped, ordered } = gathered;
  if (times.length === 0) throw noQueries(path, port, skipped);
  const finished = gathered.arena.finish();
  const sorted = ordered.is ? { arena: finished, times } : inOrder(finished, times);
  const first = sorted.times[0] ?? 0;
  return {
    arena: sorted.arena,
    dueSeconds: Float64Array.from(sorted.times, (seconds) => seconds - first),
    spanSeconds: (sorted.times.at(-1) ?? first) - first,
    skipped: skippedText(skipped, !complete),
  };
}
