#!/usr/bin/env node
/**
 * Our change points against those of Apache Otava, on labelled series that others wrote: `series.py` prints them with what Otava
 * finds. Prints a Markdown table: F1 of each pattern as otava-test-data computes it (a change point counts as found within five
 * values; a series without change points and without detections has 1), and below it F1 of all change points together. Ends with
 * status 1 if one of the two is lower than Otava's.
 *
 *     otava/bin/python benchmarks/change-points/series.py 20 50 200 | pnpm exec node benchmarks/change-points/compare.ts
 */
import { createInterface } from 'node:readline';
import { changePoints } from '../../packages/bench-cli/src/stats/change-points.ts';

/** Positions within this distance agree: the default of otava-test-data. */
const TOLERANCE = 5;
const OURS = 'bench trend';

interface Series {
  readonly pattern: string;
  readonly length: number;
  readonly seed: number;
  readonly values: readonly number[];
  readonly truth: readonly number[];
  /** By algorithm. */
  readonly found: Readonly<Record<string, readonly number[]>>;
}

interface Score {
  readonly right: number;
  readonly found: number;
  readonly there: number;
}

function score(truth: readonly number[], found: readonly number[]): Score {
  const left = new Set(truth);
  for (const position of found) {
    const match = [...left].find((at) => Math.abs(at - position) <= TOLERANCE);
    if (match !== undefined) left.delete(match);
  }
  return { right: truth.length - left.size, found: found.length, there: truth.length };
}

/** The harmonic mean of precision and recall. */
function f1({ right, found, there }: Score): number {
  return found + there === 0 ? 1 : (2 * right) / (found + there);
}

function sum(scores: readonly Score[]): Score {
  const total = (key: keyof Score) => scores.reduce((all, one) => all + one[key], 0);
  return { right: total('right'), found: total('found'), there: total('there') };
}

/** As `bench trend` finds them: a series with values that have no logarithm has none. */
function ours({ values, pattern, length, seed }: Series): number[] {
  if (values.some((value) => value <= 0)) return [];
  return changePoints(values, `${pattern} ${length} ${seed}`).map(({ position }) => position);
}

const scores = new Map<string, Map<string, Score[]>>();
for await (const line of createInterface(process.stdin)) {
  const series: Series = JSON.parse(line);
  const rows = scores.get(series.pattern) ?? new Map<string, Score[]>();
  scores.set(series.pattern, rows);
  for (const [name, found] of Object.entries({ [OURS]: ours(series), ...series.found })) {
    rows.set(name, [...(rows.get(name) ?? []), score(series.truth, found)]);
  }
}

const names = [...(scores.values().next().value?.keys() ?? [])];
const mean = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) / values.length;
const row = (title: string, figure: (name: string) => number) =>
  `| ${title} | ${names.map((name) => figure(name).toFixed(3)).join(' | ')} |`;
console.log(`| pattern | ${names.join(' | ')} |\n| --- | ${names.map(() => '---:').join(' | ')} |`);
for (const [pattern, rows] of scores)
  console.log(row(pattern, (name) => mean((rows.get(name) ?? []).map(f1))));
const all = (name: string) => [...scores.values()].flatMap((rows) => rows.get(name) ?? []);
const totals = {
  '**mean of all series**': (name: string) => mean(all(name).map(f1)),
  '**all change points together**': (name: string) => f1(sum(all(name))),
};
for (const [title, figure] of Object.entries(totals)) {
  console.log(row(title, figure));
  if (names.some((name) => figure(name) > figure(OURS))) process.exitCode = 1;
}
