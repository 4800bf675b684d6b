/** What tcpdump says at its end of the packets that it saw. */

/** Packets written to the file, passed by the filter, and lost because the buffer was full. */
export type CaptureCounters = Readonly<Record<'captured' | 'received' | 'dropped', number>>;

/** tcpdump prints this line once it receives packets. */
export function isListening(line: string): boolean {
  return line.includes('listening on ');
}

function countIn(lines: readonly string[], ending: RegExp): number | null {
  for (const line of lines) {
    const count = ending.exec(line)?.[1];
    if (count !== undefined) return Number(count);
  }
  return null;
}

/** Null if tcpdump did not print its counters. */
export function readCounters(lines: readonly string[]): CaptureCounters | null {
  const captured = countIn(lines, /^(\d+) packets? captured/);
  const received = countIn(lines, /^(\d+) packets? received by filter/);
  const dropped = countIn(lines, /^(\d+) packets? dropped by kernel/);
  return captured === null || received === null || dropped === null ? null : { captured, received, dropped };
}
