/** From what several captures saw to the packets of a trial: each packet is seen by one of them. Pure. */
import type { Packets } from '../evidence.ts';
import type { PodCapture } from './capture-program.ts';
import { MAX_QUESTIONS } from './searches.ts';

/** Numbers, or objects of such. */
type Counts = { readonly [name: string]: number | Counts };

/** Each number is the sum of those in its place. */
export function added<T extends Counts>(all: readonly T[]): T {
  const sums = Object.keys(all[0] ?? {}).map((name) => {
    const values: (number | Counts | undefined)[] = all.map((each) => each[name]);
    const inner = values.filter((value) => typeof value === 'object');
    return [
      name,
      inner.length > 0 ? added(inner) : values.reduce<number>((sum, one) => sum + Number(one), 0),
    ];
  });
  // All of them have the same names.
  return Object.fromEntries(sums) as T;
}

/** Items of the same key as one, whose count is the sum. */
export function summed<Field extends string, T extends Readonly<Record<Field, number>>>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
  field: Field,
): T[] {
  return [...Map.groupBy(items, keyOf).values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ ...first, [field]: others.reduce<number>((sum, other) => sum + other[field], first[field]) }],
  );
}

function questionsOf(captures: readonly PodCapture[]): PodCapture['searches']['questions'] {
  const all = captures.flatMap(({ searches }) => searches.questions);
  return summed(all, ({ name, type }) => `${name} ${type}`, 'queries')
    .toSorted((a, b) => b.queries - a.queries)
    .slice(0, MAX_QUESTIONS);
}

/** On the loopback interface, libpcap sees each packet twice and writes it once. */
const LOOPBACK = 'lo';

/** Null if there is none, or one of them did not say what it saw. */
export function mergeCaptures(captures: readonly PodCapture[]): Packets | null {
  const counted = captures.flatMap(({ interface: name, counters }) =>
    counters === null ? [] : [{ name, ...counters }],
  );
  if (captures.length === 0 || counted.length < captures.length) return null;
  const counts = captures.map(({ searches: { queries, repeated } }) => ({ queries, repeated }));
  return {
    handshakes: added(captures.map(({ handshakes }) => handshakes)),
    searches: { ...added(counts), questions: questionsOf(captures) },
    capture: {
      interfaces: [...new Set(counted.map(({ name }) => name))],
      ...added(counted.map(({ captured, received, dropped }) => ({ captured, received, dropped }))),
    },
    isWhole: counted.every(
      ({ name, captured, received, dropped }) =>
        dropped === 0 && (captured === received || name === LOOPBACK),
    ),
  };
}
