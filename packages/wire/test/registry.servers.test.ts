/** The types against BIND's: `named-rrchecker` lists them, and says which number each of them has. */
import { execFileSync } from 'node:child_process';
import { fileNeeds } from '@dinodns-bench/test-support';
import { expect } from 'vitest';
import { isMetaType, TYPE_NAMES, typeNumber } from '../src/index.ts';

// It comes with `named`.
const { it } = fileNeeds('named');
const checker = 'named-rrchecker';

/** The number of a type, from the record that BIND writes in the form of RFC 3597. */
function numberByBind(name: string): number {
  const record = execFileSync(checker, ['-u'], {
    input: `IN ${name} \\# 1 00`,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return Number(/TYPE(\d+)/.exec(record)?.[1]);
}

it('every type that BIND knows is here, with the same name', () => {
  const known = execFileSync(checker, ['-T'], { encoding: 'utf8' }).trim().split('\n');
  expect(known.length).toBeGreaterThan(80);
  expect(known.filter((name) => typeNumber(name) === undefined)).toEqual([]);
  // What it does not list: types that no zone holds, and those that are younger than it.
  const younger = ['CLA', 'IPN'];
  const others = TYPE_NAMES.filter((name) => !known.includes(name) && !younger.includes(name));
  expect(others.filter((name) => !isMetaType(typeNumber(name) ?? 0))).toEqual([]);
});

// Types whose data may be one byte of any value.
it.each(['NULL', 'EID', 'NIMLOC', 'HHIT', 'BRID', 'SPF', 'WALLET', 'RESINFO'])(
  'BIND gives %s the same number',
  (name) => {
    expect(numberByBind(name)).toBe(typeNumber(name));
  },
);
