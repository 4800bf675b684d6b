/** Messages come out of a stream whole and in order, however it is cut. */
import { expect, test } from 'vitest';
import { createFrameReader, frameOf, MAX_MESSAGE_BYTES } from '../src/index.ts';

const MESSAGES = [0, 1, 2, 300, MAX_MESSAGE_BYTES, 12].map((length, at) => Buffer.alloc(length, at + 1));
const STREAM = Buffer.concat(MESSAGES.map(frameOf));

test.each([1, 2, 3, 301, 65_536, STREAM.length])('a stream in pieces of %i bytes', (size) => {
  const read: Buffer[] = [];
  const reader = createFrameReader((bytes, offset, length) =>
    read.push(Buffer.from(bytes.subarray(offset, offset + length))),
  );
  for (let at = 0; at < STREAM.length; at += size) {
    const piece = STREAM.subarray(at, at + size);
    reader.push(piece, piece.length);
  }
  expect(read.map((message) => message.length)).toEqual(MESSAGES.map((message) => message.length));
  expect(Buffer.concat(read).equals(Buffer.concat(MESSAGES))).toBe(true);
});

test('a message longer than its length can say has no frame', () => {
  expect(() => frameOf(Buffer.alloc(MAX_MESSAGE_BYTES + 1))).toThrow(RangeError);
});
