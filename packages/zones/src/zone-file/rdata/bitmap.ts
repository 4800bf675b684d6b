/** Fields that hold a set of record types: in windows (RFC 4034, section 4.1.2), or in NXT's form (RFC 2535, section 5.2). */
import { typeName, typeNumber } from '@dinodns-bench/wire';
import type { DataReader } from '../record-data.ts';
import { DataError } from '../record-data.ts';
import { type FieldKind, type Tokens, wrongToken } from './field.ts';

function nextTypes(tokens: Tokens): number[] {
  const types = new Set<number>();
  while (tokens.hasMore) {
    const text = tokens.next('a record type');
    const type = typeNumber(text);
    if (type === undefined) throw wrongToken(text, 'a record type', 'write a type such as A, or TYPE65280');
    types.add(type);
  }
  return [...types].sort((a, b) => a - b);
}

/** One bit for each type, from the most significant bit of each byte on. */
function bitsOf(types: readonly number[]): Buffer {
  const bits = Buffer.alloc(((types.at(-1) ?? 0) >> 3) + 1);
  for (const type of types) bits[type >> 3] = (bits[type >> 3] ?? 0) | (0x80 >> (type & 7));
  return bits;
}

function typesOf(bits: Uint8Array, first: number, textOf = typeName): string[] {
  const types: string[] = [];
  for (const [index, byte] of bits.entries()) {
    for (let bit = 0; bit < 8; bit++) {
      if ((byte & (0x80 >> bit)) !== 0) types.push(textOf(first + index * 8 + bit));
    }
  }
  return types;
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
      types.push(...typesOf(data.bytes(length), window * 256));
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
  print: (data) => typesOf(data.rest(), 0, (type) => typeName(type).replace('TYPE', '')).join(' '),
};

export const BITMAP_KINDS = { typeBitmap, nxtBitmap } satisfies Record<string, FieldKind>;
