/** Damaged zone files, the same on every run: problems have places, records can be printed, and nothing else is thrown. */
import { readFileSync } from 'node:fs';
import { pick, type Random, randomFrom } from '@dinodns-bench/test-support';
import { expect, test } from 'vitest';
import { parseZoneFile, ZoneFileError, type ZoneRecord } from '../../src/index.ts';
import { canonicalText } from './canonical.ts';

const fixtures = new URL('fixtures/', import.meta.url).pathname;
const FILES = ['all-types.zone', 'syntax.zone', 'newer-types.zone'].map((name) =>
  readFileSync(`${fixtures}${name}`),
);
const PIECES = [
  '(',
  ')',
  '"',
  '\\',
  '\\#',
  '\\256',
  ';',
  '\n',
  '\t',
  '$GENERATE 1-3 a$ A 1.1.1.$\n',
  '$ORIGIN',
  '@',
  '=',
  '-1',
  '65536',
];

/** A few lines of a file with some bytes removed, doubled, replaced or inserted. */
function damaged(random: Random): Buffer {
  const lines = pick(random, FILES).toString('latin1').split('\n');
  const from = random(lines.length);
  let text = `$TTL 1\n@ SOA a b 1 2 3 4 5\n${lines.slice(from, from + 1 + random(12)).join('\n')}\n`;
  for (let change = 0; change <= random(6); change++) {
    const at = random(text.length);
    const piece =
      random(3) === 0
        ? String.fromCharCode(random(256))
        : pick(random, ['', text[at] ?? '', pick(random, PIECES)]);
    text = text.slice(0, at) + piece + text.slice(at + random(3));
  }
  return Buffer.from(text, 'latin1');
}

test('damaged zone files are read, or refused with a place', () => {
  const seed = Number(process.env.FUZZ_SEED ?? 1);
  const rounds = Number(process.env.FUZZ_ROUNDS ?? 4000);
  for (let round = 0; round < rounds; round++) {
    const bytes = damaged(randomFrom(seed + round));
    const lines = bytes.toString('latin1').split(/\r\n|\r|\n/).length;
    const records: ZoneRecord[] = [];
    try {
      for (const record of parseZoneFile(bytes, { origin: 'example.' })) records.push(record);
    } catch (error) {
      if (!(error instanceof ZoneFileError)) throw new Error(`round ${seed + round}`, { cause: error });
      for (const { line, column } of error.problems) {
        expect(line).toBeLessThanOrEqual(lines);
        expect(column).toBeGreaterThan(0);
      }
    }
    expect(() => [...canonicalText(records)], `round ${seed + round}`).not.toThrow();
  }
});
