import { decode } from 'dns-packet';
import { describe, expect, test } from 'vitest';
import {
  CLASS,
  EDNS_OPTION,
  encodeName,
  encodeOpt,
  encodeQuery,
  FLAG,
  GOOD,
  HEADER_BYTES,
  IGNORE,
  NO_QUESTION,
  QueryReader,
  RCODE,
  TYPE,
  typeName,
} from '../src/index.ts';
import { reading } from './support.ts';

const name = encodeName('www.example.com');
const plain = encodeQuery({ id: 7, name, type: TYPE.AAAA });
const questionEnd = HEADER_BYTES + name.length + 4;

/** A query with these records behind its question; all are in the additional section unless `answers` says so. */
function withRecords(records: readonly Buffer[], answers = 0): Buffer {
  const message = Buffer.concat([plain, ...records]);
  message.writeUInt16BE(answers, 6);
  message.writeUInt16BE(records.length - answers, 10);
  return message;
}

function changed(message: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(message);
  change(copy);
  return copy;
}

describe('a query', () => {
  test('is its labels, type, class and end', () => {
    expect(reading(plain)).toEqual({
      code: GOOD,
      questionEnd,
      type: TYPE.AAAA,
      class: CLASS.IN,
      labels: [12, 16, 24],
      optAt: 0,
      dnssecOk: false,
      udpBytes: 512,
      hasPadding: false,
    });
  });

  test('for the root has no labels', () => {
    expect(reading(encodeQuery({ name: encodeName('.'), type: TYPE.NS, class: CLASS.CH }))).toMatchObject({
      code: GOOD,
      labels: [],
      class: CLASS.CH,
    });
  });

  test('has an OPT record, which says what the client takes', () => {
    const opt = encodeOpt({
      udpBytes: 4096,
      dnssecOk: true,
      options: [{ code: 10, data: new Uint8Array(8) }],
    });
    expect(reading(withRecords([opt]))).toMatchObject({
      code: GOOD,
      optAt: questionEnd + 1,
      dnssecOk: true,
      udpBytes: 4096,
    });
    const padding = { code: EDNS_OPTION.padding, data: new Uint8Array(20) };
    expect(reading(withRecords([encodeOpt({ options: [padding] })]))).toMatchObject({ hasPadding: true });
    // RFC 6891 §6.2.3: less than 512 is 512.
    expect(reading(withRecords([encodeOpt({ udpBytes: 0 })]))).toMatchObject({ code: GOOD, udpBytes: 512 });
  });

  test('leaves nothing behind for the next', () => {
    const query = new QueryReader();
    const padding = { code: EDNS_OPTION.padding, data: new Uint8Array(0) };
    const opt = withRecords([encodeOpt({ dnssecOk: true, options: [padding] })]);
    query.read(opt, 0, opt.length);
    expect([query.hasEdns, query.hasQuestion, query.hasPadding]).toEqual([true, true, true]);
    query.read(plain, 0, 3);
    expect([query.code, query.hasEdns, query.hasQuestion, query.type]).toEqual([
      IGNORE,
      false,
      false,
      NO_QUESTION,
    ]);
    expect([query.labelCount, query.dnssecOk, query.udpBytes, query.hasPadding]).toEqual([
      0,
      false,
      512,
      false,
    ]);
  });
});

const opt = encodeOpt();
const longest = encodeName(`${`${'y'.repeat(63)}.`.repeat(3)}${'y'.repeat(61)}`);

describe('a message that is no good query', () => {
  test.each<[string, Buffer, number, boolean, boolean?]>([
    ['eleven bytes', plain.subarray(0, 11), IGNORE, false],
    ['a response', changed(plain, (copy) => copy.writeUInt16BE(FLAG.response, 2)), IGNORE, false],
    ['an UPDATE', changed(plain, (copy) => copy.writeUInt16BE(5 << 11, 2)), RCODE.NOTIMP, false],
    ['no question', changed(plain, (copy) => copy.writeUInt16BE(0, 4)), RCODE.FORMERR, false],
    ['two questions', changed(plain, (copy) => copy.writeUInt16BE(2, 4)), RCODE.FORMERR, false],
    ['a question that is cut off', plain.subarray(0, -1), RCODE.FORMERR, false],
    [
      'a pointer in the question',
      changed(plain, (copy) => copy.writeUInt16BE(0xc00c, 12)),
      RCODE.FORMERR,
      false,
    ],
    [
      'a name of 256 bytes',
      encodeQuery({ name: Buffer.concat([Buffer.of(0), longest]).fill(1, 0, 1), type: 1 }),
      RCODE.FORMERR,
      false,
    ],
    ['a record that is not there', changed(plain, (copy) => copy.writeUInt16BE(1, 10)), RCODE.FORMERR, true],
    ['two OPT records', withRecords([opt, opt]), RCODE.FORMERR, true, true],
    ['an OPT record among the answers', withRecords([opt], 1), RCODE.FORMERR, true],
    [
      'an OPT record of a name',
      withRecords([Buffer.concat([Buffer.from('\x01a'), opt])]),
      RCODE.FORMERR,
      true,
    ],
    ['an OPT record that is cut off', withRecords([opt]).subarray(0, -1), RCODE.FORMERR, true],
    [
      'an option longer than its record',
      withRecords([
        changed(encodeOpt({ options: [{ code: 3, data: Buffer.alloc(2) }] }), (copy) =>
          copy.writeUInt16BE(3, 13),
        ),
      ]),
      RCODE.FORMERR,
      true,
      true,
    ],
    ['EDNS version 1', withRecords([changed(opt, (copy) => copy.writeUInt8(1, 6))]), RCODE.BADVERS, true],
  ])('%s', (_, message, code, hasQuestion, hasOpt = false) => {
    const read = reading(message);
    expect(read.code).toBe(code);
    expect(read.questionEnd > HEADER_BYTES).toBe(hasQuestion);
    expect(read.optAt !== 0).toBe(code === RCODE.BADVERS || hasOpt);
  });
});

test('dns-packet reads the same question in every damaged query that it can read', () => {
  const message = withRecords([
    encodeOpt({ dnssecOk: true, options: [{ code: 10, data: Buffer.alloc(8) }] }),
  ]);
  let compared = 0;
  for (let at = 0; at < message.length; at++) {
    for (let value = 0; value < 256; value++) {
      const damaged = changed(message, (copy) => copy.writeUInt8(value, at));
      const read = reading(damaged);
      if (read.code !== GOOD) continue;
      let type: string | undefined;
      try {
        type = decode(damaged).questions?.[0]?.type;
      } catch (error) {
        // It fails on a few options and flags that are none of a reader's business.
        expect(at, String(error)).toBeGreaterThan(questionEnd);
        continue;
      }
      const known = typeName(read.type);
      if (type?.startsWith('UNKNOWN_') !== true) expect([at, value, type]).toEqual([at, value, known]);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(5000);
});
