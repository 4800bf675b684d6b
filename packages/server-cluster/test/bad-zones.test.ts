/** Bad zone files: what they take of memory, and what they leave. Each is loaded by a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const PROGRAM = new URL('support/load-bad-zone.ts', import.meta.url).pathname;
const HEAD = '$TTL 60\n@ SOA ns host 1 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.1\n';
/** Large enough that what Node.js itself needs is little beside it. */
const BYTES = 13 * 1024 * 1024;
const MAX_FACTOR = 10;
/** On a busy machine, V8 collects late and lets garbage grow: not beyond so many MiB, and not for want of a second CPU. */
const COLLECT_EARLY = ['--max-old-space-size=115', '--single-threaded-gc'];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bad-zones-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function repeated(line: (number: number) => string): string {
  const count = Math.ceil(BYTES / line(1_000_000).length);
  return Array.from({ length: count }, (_, number) => line(number)).join('');
}

function withHead(lines: (host: string) => string): string {
  return HEAD + repeated((number) => lines(`h${number}`));
}

function addressOf(number: number): string {
  return [number >> 24, number >> 16, number >> 8, number].map((byte) => byte & 0xff).join('.');
}

// Each is made when its test runs: all together are a gigabyte.
test.each<[string, () => string | Buffer]>([
  ['a problem on every line', () => repeated((number) => `h${number} A 192.0.2.999\n`)],
  ['a parenthesis that is never closed', () => `${HEAD}x TXT (${repeated(() => ' word\n')}`],
  ['a line without an end', () => `${HEAD}x TXT ${'a'.repeat(BYTES)}`],
  ['quoted text without an end', () => `${HEAD}x TXT "${'a'.repeat(BYTES)}`],
  [
    'random bytes',
    () =>
      Buffer.from(
        repeated((number) => String.fromCharCode(1 + (number % 250))),
        'latin1',
      ),
  ],
  ['a wrong last line', () => `${HEAD}${repeated((number) => `h${number} A 192.0.2.1\n`)}x A y\n`],
  [
    'nothing but aliases, and one twice',
    () => `${HEAD}${repeated((number) => `h${number} CNAME ns\n`)}h7 CNAME x\n`,
  ],
  [
    'an alias beside an address, everywhere',
    () => withHead((host) => `${host} CNAME ns\n${host} A 192.0.2.1\n`),
  ],
  [
    'an alias beside half a million addresses',
    () => `${HEAD}x CNAME ns\n${repeated((number) => `x A ${addressOf(number)}\n`)}`,
  ],
  [
    'names below a redirection',
    () => `${HEAD}x DNAME ns\n${repeated((number) => `h${number}.x A 192.0.2.1\n`)}`,
  ],
  ['SOA records below the apex', () => withHead((host) => `${host} SOA ns host 1 2 3 4 5\n`)],
  ['SOA records at the apex', () => `${HEAD}${repeated((number) => `@ SOA ns host ${number} 2 3 4 5\n`)}`],
  [
    'a million generated records, and more',
    () => `${HEAD}${repeated(() => '$GENERATE 1-999999 h$ A 192.0.2.1\n')}`,
  ],
])(
  '%s: refused, at most ten times the size in memory, and what is served stays',
  { timeout: 180_000 },
  (name, text) => {
    const file = join(directory, `${name}.zone`);
    writeFileSync(file, text());
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...process.execArgv, ...COLLECT_EARLY, PROGRAM, file],
      { encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    const { reason, isUnchanged, bytes } = JSON.parse(stdout);
    expect(reason).toContain(file);
    expect(isUnchanged).toBe(true);
    expect(bytes).toBeLessThan(MAX_FACTOR * statSync(file).size);
    rmSync(file);
  },
);
