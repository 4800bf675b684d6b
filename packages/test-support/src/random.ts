/** Random numbers that repeat on every run: Mulberry32, which is small, fast and good enough for test data. */

/** Numbers in [0, 1), in steps of 2^-32. */
export function randomFractions(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 to `limit` − 1. */
export type Random = (limit: number) => number;

export function randomFrom(seed: number): Random {
  const next = randomFractions(seed);
  return (limit) => (next() * 2 ** 32) % limit;
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Every letter in upper or lower case. */
export function mixCase(random: Random, text: string): string {
  return text.replace(/[a-z]/gi, (letter) => (random(2) === 0 ? letter.toLowerCase() : letter.toUpperCase()));
}
