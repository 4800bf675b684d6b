/** The registries against those of dns-packet, which somebody else typed in. */
import packetClasses from 'dns-packet/classes.js';
import packetRcodes from 'dns-packet/rcodes.js';
import packetTypes from 'dns-packet/types.js';
import { describe, expect, test } from 'vitest';
import {
  CLASS,
  className,
  classNumber,
  isMetaType,
  RCODE,
  rcodeName,
  rcodeNumber,
  TYPE,
  TYPE_NAMES,
  typeName,
  typeNumber,
} from '../src/index.ts';

describe('types', () => {
  test('every type has one name and one number', () => {
    expect(TYPE_NAMES.length).toBe(new Set(Object.values(TYPE)).size);
    for (const name of TYPE_NAMES) {
      const number = typeNumber(name.toLowerCase());
      expect(typeName(number ?? -1)).toBe(name);
      expect(typeNumber(`TYPE${number}`)).toBe(number);
    }
  });

  test('dns-packet gives every type that it knows the same number', () => {
    let known = 0;
    for (let number = 1; number < 0x1_0000; number++) {
      const name = packetTypes.toString(number);
      if (name.startsWith('UNKNOWN')) continue;
      known++;
      expect([name, typeNumber(name)]).toEqual([name, number]);
    }
    expect(known).toBeGreaterThan(40);
  });

  test('a type without a mnemonic is written as RFC 3597 has it', () => {
    expect(typeName(65_280)).toBe('TYPE65280');
    expect(typeName(0)).toBe('TYPE0');
    expect(typeNumber('type0000065535')).toBeUndefined();
    expect(typeNumber('type65535')).toBe(65_535);
    for (const bad of [
      '',
      'TYPE',
      'TYPE65536',
      'TYPE-1',
      'TYPE+5',
      'toString',
      'constructor',
      '__proto__',
      'A ',
    ])
      expect([bad, typeNumber(bad)]).toEqual([bad, undefined]);
  });

  test('types that only questions and messages have are told from those that zones hold', () => {
    const meta = TYPE_NAMES.filter((name) => isMetaType(typeNumber(name) ?? 0));
    const expected = ['OPT', 'NXNAME', 'TKEY', 'TSIG', 'IXFR', 'AXFR', 'MAILB', 'MAILA', 'ANY'];
    expect(meta).toEqual(expected);
  });
});

describe('classes', () => {
  test('dns-packet gives every class that it knows the same number', () => {
    for (const number of [CLASS.IN, CLASS.CH, CLASS.HS, CLASS.ANY])
      expect(classNumber(packetClasses.toString(number) ?? '')).toBe(number);
  });

  test('a class without a mnemonic is written as RFC 3597 has it', () => {
    expect(className(CLASS.CH)).toBe('CH');
    expect(className(2)).toBe('CLASS2');
    expect(classNumber('class254')).toBe(CLASS.NONE);
    expect(classNumber('CLASS65536')).toBeUndefined();
  });
});

describe('codes', () => {
  test('dns-packet knows the codes that a header has room for by the same names', () => {
    for (let code = 0; code < 16; code++) {
      const name = packetRcodes.toString(code);
      // dns-packet 5.6.1 lacks 11, which RFC 8490 assigned.
      if (!name.startsWith('RCODE_')) expect(rcodeName(code)).toBe(name);
    }
    expect(rcodeName(11)).toBe('DSOTYPENI');
  });

  test('codes are read by name and by number, in any letter case', () => {
    for (const [name, code] of Object.entries(RCODE)) expect(rcodeNumber(name.toLowerCase())).toBe(code);
    expect([0, 3, 5, 16, 23, 99].map(rcodeName)).toEqual([
      ...['NOERROR', 'NXDOMAIN', 'REFUSED', 'BADVERS', 'BADCOOKIE', 'RCODE99'],
    ]);
    expect(rcodeNumber('BADSIG')).toBe(16);
    expect(rcodeNumber('RCODE4095')).toBe(4095);
    expect(rcodeNumber('RCODE4096')).toBeUndefined();
    expect(rcodeNumber('NOPE')).toBeUndefined();
  });
});
