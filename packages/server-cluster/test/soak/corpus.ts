/** Queries that real programs have sent, and what becomes of them when they are damaged. */
import { readFileSync } from 'node:fs';
import type { Random } from '@dinodns-bench/test-support';

/** Every query of `corpus.txt`. */
export function readCorpus(): Uint8Array[] {
  const text = readFileSync(new URL('./corpus.txt', import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => new Uint8Array(Buffer.from(line, 'hex')));
}

/** No mutation makes a datagram longer. */
export const MAX_MUTATED_BYTES = 2048;
const MAX_CHANGES = 6;
const HEADER_BYTES = 12;

/** Bytes that mean something where they stand: label lengths, pointers, counts. */
const TELLING = [0, 1, 2, 12, 41, 63, 64, 127, 128, 191, 192, 193, 254, 255];

/**
 * Writes a damaged query at `offset` of `out` and returns its length, 0 to `MAX_MUTATED_BYTES`. One in eight
 * is nothing but random bytes.
 */
export function writeMutated(
  random: Random,
  corpus: readonly Uint8Array[],
  out: Uint8Array,
  offset: number,
): number {
  if (random(8) === 0) return writeNoise(random, out, offset);
  const seed = corpus[random(corpus.length)] ?? new Uint8Array();
  out.set(seed, offset);
  let length = seed.length;
  for (let change = random(MAX_CHANGES); change >= 0; change--)
    length = mutate(random, corpus, out, offset, length);
  return length;
}

function writeNoise(random: Random, out: Uint8Array, offset: number): number {
  const length = random(4) === 0 ? random(MAX_MUTATED_BYTES) : random(64);
  for (let index = 0; index < length; index++) out[offset + index] = random(256);
  return length;
}

function mutate(
  random: Random,
  corpus: readonly Uint8Array[],
  out: Uint8Array,
  offset: number,
  length: number,
): number {
  const at = random(length + 1);
  switch (random(8)) {
    case 0:
      return at;
    case 1:
      // Shorter by its beginning, so that everything has another meaning.
      out.copyWithin(offset, offset + at, offset + length);
      return length - at;
    case 2: {
      const added = Math.min(length - at, MAX_MUTATED_BYTES - length);
      out.copyWithin(offset + length, offset + at, offset + at + added);
      return length + added;
    }
    case 3: {
      if (length === MAX_MUTATED_BYTES) return length;
      out.copyWithin(offset + at + 1, offset + at, offset + length);
      out[offset + at] = random(256);
      return length + 1;
    }
    case 4:
      if (at < length) out[offset + at] = TELLING[random(TELLING.length)] ?? 0;
      return length;
    case 5: {
      // A pointer to anywhere, itself included.
      if (length < HEADER_BYTES + 2) return length;
      const pointer = HEADER_BYTES + random(length - HEADER_BYTES - 1);
      out[offset + pointer] = 0xc0 | random(64);
      out[offset + pointer + 1] = random(3) === 0 ? pointer : random(256);
      return length;
    }
    case 6: {
      // The end of another query behind the beginning of this one.
      const other = corpus[random(corpus.length)] ?? new Uint8Array();
      const tail = other.subarray(random(other.length));
      const added = Math.min(tail.length, MAX_MUTATED_BYTES - at);
      out.set(tail.subarray(0, added), offset + at);
      return at + added;
    }
    default:
      if (at < length) out[offset + at] = (out[offset + at] ?? 0) ^ (1 << random(8));
      return length;
  }
}
