/** A workload from a capture file: its queries, with its own timing. */
import type { Capture } from '@dinodns-bench/load';
import { FLAG, OPCODE_MASK } from '@dinodns-bench/wire';
import type { Query } from '@dinodns-bench/zones';
import type { BenchWorkload } from './workload.ts';

interface Contents {
  /** In the order in which they were sent. */
  readonly questions: readonly Query[];
  /** Messages whose answers a zone set does not predict. */
  readonly others: number;
  readonly spanSeconds: number;
}

/** Of ordinary queries, the zone set knows the answers. */
async function readContents(capture: Capture): Promise<Contents> {
  const questions: Query[] = [];
  let others = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for await (const { seconds, name, type, class: group, flags } of capture) {
    first = Math.min(first, seconds);
    last = Math.max(last, seconds);
    if (group === 'IN' && (flags & (FLAG.response | OPCODE_MASK)) === 0) questions.push({ name, type });
    else others += 1;
  }
  return { questions, others, spanSeconds: last - first };
}

/** What a reader would miss, such as `3 × fragment`. */
function skippedText({ skipped, isComplete }: Capture): string {
  const counts = [...skipped]
    .filter(([reason]) => reason !== 'not IP' && reason !== 'other traffic')
    .map(([reason, count]) => `${count} × ${reason}`);
  return [...counts, ...(isComplete ? [] : ['the file ends within a packet'])].join(', ');
}

function distinct(questions: readonly Query[]): Query[] {
  const known = new Map(questions.map((query) => [`${query.name.toLowerCase()} ${query.type}`, query]));
  return [...known.values()];
}

/** @throws LoadError `E_UNREADABLE` or `E_PCAP`, for a file without queries as well. */
export async function captureWorkload(name: string, path: string, speed: number): Promise<BenchWorkload> {
  // Only who gives a capture waits for what reads one.
  const { readCapture } = await import('@dinodns-bench/load');
  const capture = readCapture(path);
  const { questions, others, spanSeconds } = await readContents(capture);
  const queries = distinct(questions);
  const skipped = skippedText(capture);
  const notes = [
    ...(speed === 1 ? [] : [`${speed} times as fast`]),
    ...(others === 0 ? [] : [`${others} of other classes or OPCODEs, whose answers are not checked`]),
    ...(skipped === '' ? [] : [`not replayed: ${skipped}`]),
  ];
  const found = `${capture.queries} queries captured over ${spanSeconds.toFixed(3)} s in ${name}`;
  return {
    name,
    description: [found, ...notes].join('; '),
    size: queries.length,
    queries: () => queries,
    sequence: () => questions,
    builtin: { source: { kind: 'pcap', path, speed }, isTimed: true },
    codes: others === 0 ? 'counted' : 'unknown',
  };
}
