import { expect, test } from 'vitest';
import {
  DATA_TYPES,
  decodeData,
  encodeData,
  fieldsOf,
  namesAt,
  namesIn,
  TYPE,
  type TypeName,
} from '../src/index.ts';

const SOA = {
  mname: 'ns.example',
  rname: 'a.example',
  serial: 1,
  refresh: 2,
  retry: 3,
  expire: 4,
  minimum: 2 ** 32 - 1,
};

test.each([
  ['NS', 'ns.example', '026e73076578616d706c6500'],
  ['MX', { preference: 258, exchange: 'ns.example' }, '0102026e73076578616d706c6500'],
  ['SRV', { priority: 1, weight: 2, port: 3, target: '.' }, '00010002000300'],
  ['SOA', SOA, '026e73076578616d706c65000161076578616d706c650000000001000000020000000300000004ffffffff'],
])('data of type %s is written to bytes and read back', (type, data, hex) => {
  const bytes = encodeData(type, data);
  expect(bytes.toString('hex')).toBe(hex);
  expect(decodeData(type, bytes)).toEqual(data);
});

test('texts and addresses are written to bytes', () => {
  expect(encodeData('TXT', ['a', Buffer.of(0xff)])).toEqual(Buffer.of(1, 0x61, 1, 0xff));
  expect(encodeData('CAA', { flags: 128, tag: 'x', value: 'y' })).toEqual(Buffer.of(128, 1, 0x78, 0x79));
  expect(encodeData('AAAA', '::1')).toEqual(Buffer.from([...new Uint8Array(15), 1]));
});

test.each([
  ['A', '::1'],
  ['AAAA', '192.0.2.1'],
  ['MX', { preference: 65_536, exchange: 'a' }],
  ['MX', { preference: 1 }],
  ['NS', 'a..b'],
  ['SOA', { mname: 'a', serial: 1 }],
  ['NS', undefined],
  ['TXT', []],
  ['TXT', ['x'.repeat(256)]],
])('data that does not fit type %s is refused: %j', (type, data) => {
  expect(() => encodeData(type, data)).toThrow(RangeError);
});

test('a responsible person may have no name, which is the root', () => {
  expect(encodeData('RP', { mbox: 'a.b' })).toEqual(Buffer.from('\u0001a\u0001b\0\0'));
  expect(encodeData('RP', {})).toEqual(Buffer.from('\0\0'));
});

test('the names of a type are where its fields put them', () => {
  const types = DATA_TYPES.map((name) => TYPE[name as TypeName]).filter((type) => namesAt(type).names > 0);
  expect(types).toContain(TYPE.SRV);
  for (const type of types) {
    const { before, names } = namesAt(type);
    const data = Buffer.alloc(before + 3 * names + 40, '\u0001a\0', 'latin1').fill(0, 0, before);
    Buffer.from('\u0001a\0'.repeat(names), 'latin1').copy(data, before);
    const starts = Array.from(namesIn(type, data), ([start]) => start);
    expect(starts.slice(0, names), fieldsOf(type).join(' ')).toEqual(
      Array.from({ length: names }, (_, index) => before + 3 * index),
    );
  }
});
