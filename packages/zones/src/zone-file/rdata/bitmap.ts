/** Fields that hold a set of record types: in windows (RFC 4034, section 4.1.2), or in NXT's form (RFC 2535, section 5.2). */
import { typeName } from '@dinodns-bench/wire';
import { DataError, type DataReader } from '../record-data.ts';
import { type FieldKind, type Tokens, wrongToken } from './field.ts';
import { nextType } from './numbers.ts';

function nextTypes(tokens: Tokens): number[] {
  const types = new Set<number>();
  while (tokens.hasMore) types.add(nextType(tokens));
  return [...types].sort((a, b) => a - b);
}

/** One bit for each of the numbers, which ascend, from the most significant bit of each byte on. */
export function bitsOf(numbers: readonly number[]): Buffer {
  const bits = Buffer.alloc(((numbers.at(-1) ?? 0) >> 3) + 1);
  for (const number of numbers) bits[number >> 3] = (bits[number >> 3] ?? 0) | (0x80 >> (number & 7));
  return bits;
}

/** The numbers whose bits are set. */
export function numbersIn(bits: Uint8Array): number[] {
  const numbers: number[] = [];
  for (const [index, byte] of bits.entries()) {
    for (let bit = 0; bit < 8; bit++) if ((byte & (0x80 >> bit)) !== 0) numbers.push(index * 8 + bit);
  }
  return numbers;
}

const typeBitmap: FieldKind = {
  parse(tokens, out) {
    const windows = Map.groupBy(nextTypes(tokens), (type) => type >> 8);
    for (const [window, types] of windows) {
      const bits = bitsOf(types.map((type) => type & 0xff));
      out.u8(window);
      out.u8(bits.length);
      out.bytes(bits);
    }
  },
  print(data: DataReader) {
    const types: string[] = [];
    while (data.left > 0) {
      const window = data.u8();
      const length = data.u8();
      if (length < 1 || length > 32) throw new DataError('a window of the type bitmap has an invalid length');
      types.push(...numbersIn(data.bytes(length)).map((type) => typeName(window * 256 + type)));
    }
    return types.join(' ');
  },
};

const nxtBitmap: FieldKind = {
  parse(tokens, out) {
    const types = nextTypes(tokens);
    const beyond = types.find((type) => type > 127 || type === 0);
    if (beyond !== undefined) {
      throw wrongToken(typeName(beyond), 'a type that NXT can hold', 'use NSEC: NXT has types 1 to 127');
    }
    if (types.length > 0) out.bytes(bitsOf(types));
  },
  // RFC 2535 predates the form `TYPE127`.
  print(data) {
    const names = numbersIn(data.rest()).map(typeName);
    return names.map((name) => name.replace('TYPE', '')).join(' ');
  },
};

export const BITMAP_KINDS = { typeBitmap, nxtBitmap } satisfies Record<string, FieldKind>;
