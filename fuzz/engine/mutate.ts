/** Changes inputs. Everything random comes from the given generator, so that a seed repeats a campaign. */
import { pick, type Random } from '@dinodns-bench/test-support/random';
import type { Comparison, Operand } from './coverage.ts';

/** Values at which lengths, counts and signs change. */
const NUMBERS = [
  0, 1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 63, 64, 127, 128, 191, 192, 254, 255, 256, 511, 512, 1023, 1232, 4095,
  4096, 16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff,
];

/** Maximum bytes that one change inserts. */
const MAX_INSERTED = 64;

/** A number as it may stand in an input: 1, 2 or 4 bytes in either order, or decimal text. */
function encodings(value: number): Buffer[] {
  if (!Number.isInteger(value) || value < -0x8000_0000 || value > 0xffff_ffff) return [];
  const bits = value >>> 0;
  const bytes = [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff);
  const sizes = bits < 0x100 ? [1, 2, 4] : bits < 0x1_0000 ? [2, 4] : [4];
  const big = sizes.map((size) => Buffer.from(bytes.slice(4 - size)));
  const little = big.filter(({ length }) => length > 1).map((order) => Buffer.from(order).reverse());
  return [...big, ...little, Buffer.from(String(value))];
}

function encoded(operand: Operand): Buffer[] {
  return typeof operand === 'string' ? [Buffer.from(operand, 'latin1')] : encodings(operand);
}

function spliced(input: Buffer, at: number, removed: number, inserted: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, at), inserted, input.subarray(at + removed)]);
}

/** Puts one operand of a comparison where the other stands in the input. */
function matched(input: Buffer, random: Random, comparisons: readonly Comparison[]): Buffer | undefined {
  const { one, other } = pick(random, comparisons);
  const [from, to] = random(2) === 0 ? [one, other] : [other, one];
  const found = encoded(from);
  const wanted = encoded(to);
  if (found.length === 0 || wanted.length === 0) return undefined;
  const index = random(found.length);
  const needle = found[index] ?? Buffer.alloc(0);
  const value = wanted[index] ?? pick(random, wanted);
  const at = input.indexOf(needle, random(input.length + 1));
  return needle.length === 0 || at === -1 ? undefined : spliced(input, at, needle.length, value);
}

export interface Material {
  /** Pieces that mean something in the format. */
  readonly dictionary: readonly Buffer[];
  /** Other inputs. */
  readonly corpus: readonly Buffer[];
  /** Comparisons that an execution of the input made. */
  readonly comparisons: readonly Comparison[];
}

type Mutation = (input: Buffer, random: Random, material: Material) => Buffer | undefined;

function someNumber(random: Random): Buffer {
  return pick(random, encodings(pick(random, NUMBERS)));
}

/** Offset and length of a part of the input; short ones more often. */
function part(input: Buffer, random: Random): [at: number, length: number] {
  const at = random(input.length + 1);
  return [at, random(1 + random(input.length - at + 1))];
}

const MUTATIONS: readonly Mutation[] = [
  (input, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random(copy.length)] = random(256);
    return copy;
  },
  (input, random) => {
    const copy = Buffer.from(input);
    const at = random(copy.length + 1);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
    return copy;
  },
  (input, random) => {
    const copy = Buffer.from(input);
    const at = random(copy.length + 1);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) + random(17) - 8;
    return copy;
  },
  (input, random) => spliced(input, ...part(input, random), Buffer.alloc(0)),
  (input, random) => {
    const [at, length] = part(input, random);
    return spliced(input, random(input.length + 1), 0, input.subarray(at, at + length));
  },
  (input, random) => {
    const bytes = Buffer.from(Array.from({ length: 1 + random(8) }, () => random(256)));
    return spliced(input, random(input.length + 1), 0, bytes);
  },
  (input, random) => {
    const repeated = Buffer.alloc(1 + random(MAX_INSERTED), random(256));
    return spliced(input, random(input.length + 1), 0, repeated);
  },
  (input, random) => {
    const number = someNumber(random);
    return spliced(input, random(input.length + 1), random(2) * number.length, number);
  },
  (input, random, { dictionary }) => {
    if (dictionary.length === 0) return undefined;
    const word = pick(random, dictionary);
    return spliced(input, random(input.length + 1), random(2) * word.length, word);
  },
  (input, random, { corpus }) => {
    const other = pick(random, corpus);
    const [at, length] = part(other, random);
    const [to, replaced] = part(input, random);
    return spliced(input, to, random(2) * replaced, other.subarray(at, at + length));
  },
];

/** The input with one to eight changes, at most `maxBytes` long. */
export function mutate(input: Buffer, random: Random, material: Material, maxBytes: number): Buffer {
  let changed = input;
  for (let changes = 1 + random(1 + random(8)); changes > 0; changes--) {
    const useComparison = material.comparisons.length > 0 && random(3) === 0;
    changed =
      (useComparison ? matched(changed, random, material.comparisons) : undefined) ??
      pick(random, MUTATIONS)(changed, random, material) ??
      changed;
  }
  return changed.subarray(0, maxBytes);
}
