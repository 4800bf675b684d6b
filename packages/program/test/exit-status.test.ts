import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { EXIT_REASONS, EXIT_STATUS, exitStatusHelp, meaningOf } from '../src/index.ts';

test('every status means one thing', () => {
  const statuses = EXIT_REASONS.map((reason) => EXIT_STATUS[reason]);
  expect(new Set(statuses).size).toBe(statuses.length);
});

test('docs/exit-statuses.md is the list', async () => {
  const text = await readFile(new URL('../../../docs/exit-statuses.md', import.meta.url), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| \d/.test(line));
  expect(rows).toEqual(
    EXIT_REASONS.map((reason) => `| ${EXIT_STATUS[reason]} | \`${reason}\` | ${meaningOf(reason)} |`),
  );
});

test('the help lists what a program has, in order, at most 80 columns wide', () => {
  const help = exitStatusHelp([...EXIT_REASONS].reverse());
  expect(help.match(/^ {2}\d+/gm)?.map(Number)).toEqual(EXIT_REASONS.map((reason) => EXIT_STATUS[reason]));
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(exitStatusHelp(['usage', 'success'], { success: 'stopped' })).toMatch(
    /^\nExit status:\n {2}0 {4}stopped\n {2}2 {4}wrong usage/,
  );
});
