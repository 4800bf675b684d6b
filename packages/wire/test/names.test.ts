import { describe, expect, test } from 'vitest';
import {
  canonicalName,
  encodeName,
  expandName,
  findNameEnd,
  joinNames,
  MAX_LABELS,
  nameText,
  parseName,
  parseNameBytes,
  skipName,
} from '../src/index.ts';

/** The name of the text, which must be one. */
function wireOf(text: string): Uint8Array {
  const parsed = parseName(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.wire;
}

const LONGEST = `${`${'y'.repeat(63)}.`.repeat(3)}${'y'.repeat(61)}`;

describe('names in text', () => {
  test('every byte survives the way to text and back, wherever it stands in a label', () => {
    for (let byte = 0; byte < 256; byte++) {
      const labels = [Buffer.of(byte), Buffer.of(byte, 0x61), Buffer.of(0x61, byte, byte)];
      const wire = Buffer.concat([
        ...labels.flatMap((label) => [Buffer.of(label.length), label]),
        Buffer.of(0),
      ]);
      const text = nameText(wire);
      expect(text.split('.')).toHaveLength(3);
      expect(Buffer.from(wireOf(text))).toEqual(wire);
      expect(Buffer.from(wireOf(`${text}.`))).toEqual(wire);
      expect(encodeName(text)).toEqual(wire);
    }
  });

  test('the root is a dot, or nothing where a name must be encoded', () => {
    expect(nameText(wireOf('.'))).toBe('.');
    expect(encodeName('')).toEqual(Buffer.of(0));
    expect(encodeName('.')).toEqual(Buffer.of(0));
    expect(canonicalName('.')).toBe('');
  });

  test.each([
    ['', 'empty'],
    ['a..b', 'empty label'],
    ['.a', 'empty label'],
    ['a..', 'empty label'],
    ['x'.repeat(64), '64 bytes'],
    [`${LONGEST}y`, '256 bytes'],
    [`${'abcdefg.'.repeat(31)}abcdefg`, '257 bytes'],
    ['a\\', 'backslash'],
    ['a\\1', 'two more digits'],
    ['a\\12x', 'two more digits'],
    ['a\\256', 'more than 255'],
  ])('"%s" is refused', (text, problem) => {
    expect(parseName(text)).toEqual({ problem: expect.stringContaining(problem) });
    if (text !== '') expect(() => encodeName(text)).toThrow(RangeError);
  });

  test('63 bytes for a label and 255 for a name are the limits', () => {
    expect(wireOf('x'.repeat(63))).toHaveLength(65);
    expect(wireOf(LONGEST)).toHaveLength(255);
    expect(encodeName(`${LONGEST}.`)).toHaveLength(255);
    const most = 'a.'.repeat(127);
    expect(wireOf(most)).toHaveLength(2 * MAX_LABELS - 1);
    expect(parseName(`${most}a`)).toHaveProperty('problem');
  });

  test('an escape stands for its byte, and characters beyond ASCII for theirs in UTF-8', () => {
    expect(Buffer.from(wireOf('a\\.b.c'))).toEqual(Buffer.from('\x03a.b\x01c\0'));
    expect(Buffer.from(wireOf('\\065\\000\\255'))).toEqual(Buffer.from([3, 65, 0, 255, 0]));
    expect(Buffer.from(wireOf('ü'))).toEqual(Buffer.from([2, 0xc3, 0xbc, 0]));
    expect(parseNameBytes(Buffer.from([0xff]))).toEqual({ wire: Uint8Array.of(1, 0xff, 0) });
  });

  test('names are the same whatever the case of their ASCII letters and however they are escaped', () => {
    expect(canonicalName('WWW.Example.COM.')).toBe('www.example.com');
    expect(canonicalName('\\087ww.example.com')).toBe('www.example.com');
    expect(canonicalName('a\\.b')).toBe('a\\046b');
    // Ä is no letter of ASCII: RFC 4343 leaves its bytes as they are.
    expect(canonicalName('Ä')).toBe('\\195\\132');
  });
});

describe('names in messages', () => {
  test('a name is skipped up to its root or its pointer, and not beyond the end', () => {
    const bytes = Buffer.from('\x03www\xc0\x00\x01a\x00', 'latin1');
    expect(skipName(bytes, 0)).toBe(6);
    expect(skipName(bytes, 6)).toBe(9);
    expect(skipName(bytes, 0, 5)).toBe(-1);
    expect(skipName(bytes, 6, 8)).toBe(-1);
    expect(findNameEnd(bytes, 0)).toBe(-1);
    expect(findNameEnd(bytes, 6)).toBe(9);
    expect(findNameEnd(bytes, 9)).toBe(-1);
    expect(skipName(Buffer.of(0x40, 0), 0)).toBe(-1);
    expect(skipName(Buffer.of(0x80, 0), 0)).toBe(-1);
  });

  test('a name that is too long is no name', () => {
    const label = [63, ...Buffer.alloc(63, 0x61)];
    const bytes = Buffer.from([...label, ...label, ...label, 62, ...Buffer.alloc(62, 0x61), 0]);
    expect(bytes).toHaveLength(256);
    expect(skipName(bytes, 0)).toBe(-1);
    expect(findNameEnd(bytes, 0)).toBe(-1);
    expect(() => expandName(bytes, 0)).toThrow('255');
  });

  test('compression pointers are followed, one after the other', () => {
    const bytes = Buffer.from('\x03com\x00\x07example\xc0\x00\x03www\xc0\x05', 'latin1');
    const { name, end } = expandName(bytes, 15);
    expect(nameText(name)).toBe('www.example.com');
    expect(end).toBe(21);
    expect(expandName(bytes, 0)).toEqual({ name: Buffer.from('\x03com\x00', 'latin1'), end: 5 });
  });

  test.each([
    ['a pointer to itself', [0xc0, 0], 0],
    ['two pointers to each other', [0xc0, 2, 0xc0, 0], 0],
    ['a loop that grows', [1, 0x61, 0xc0, 0], 0],
    ['a pointer forwards', [0xc0, 2, 0], 0],
    ['a pointer beyond the end', [0, 0xff, 0xff], 1],
    ['half a pointer', [0, 0xc0], 1],
    ['a label that is cut off', [3, 0x61], 0],
    ['no root', [1, 0x61], 0],
    ['a reserved label type', [0x41, 0], 0],
    ['nothing', [], 0],
  ])('%s is a RangeError, never a loop', (_, bytes, start) => {
    expect(() => expandName(Uint8Array.from(bytes), start)).toThrow(RangeError);
  });

  test('names are joined up to the limit', () => {
    expect(joinNames(wireOf('www'), wireOf('example.com'))).toEqual(wireOf('www.example.com'));
    expect(joinNames(wireOf('a'), wireOf(LONGEST))).toBeUndefined();
  });
});
