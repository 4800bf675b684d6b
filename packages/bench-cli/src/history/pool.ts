/**
 * Several runs, or cases of several, as one side of a comparison: `A+B`. Their trials count like those of one run. That
 * is correct if the runs differ no more than their trials do; otherwise the interval is too narrow, which is tested and
 * reported.
 */
import { BenchError } from '../errors.ts';
import { type EstimandFacts, resolutionOf, valuesOf } from '../report/estimand.ts';
import { formatP } from '../report/numbers.ts';
import { LEVEL } from '../stats/sample-test.ts';
import { placeKey } from './axes.ts';
import { isByDifference, testDifference, testRatios } from './compare.ts';
import type { Entry, EntryCase } from './entry.ts';
import type { Selected } from './select.ts';

/** Joins the names of pooled runs, and separates them where a user writes them. */
export const POOL_SIGN = '+';

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** The value that all share; null if they differ. */
function common<T>(values: readonly T[]): T | null {
  const [first, ...others] = distinct(values);
  return others.length === 0 ? (first ?? null) : null;
}

function mergeCases(members: readonly EntryCase[]): EntryCase[] {
  return [...Map.groupBy(members, (item) => placeKey(item)).values()].flatMap((items) => {
    const [first] = items;
    if (first === undefined) return [];
    return [
      {
        ...first,
        bounds: distinct(items.flatMap(({ bounds }) => bounds)),
        foreign: distinct(items.flatMap(({ foreign }) => foreign)),
        contended: items.some(({ contended }) => contended),
        trials: items.flatMap(({ trials }) => trials),
        failedTrials: items.reduce((sum, { failedTrials }) => sum + failedTrials, 0),
      },
    ];
  });
}

/** The entry with rounds from `offset` on, so that no two runs share one, and where the next may begin. */
function shifted(cases: readonly EntryCase[], offset: number): EntryCase[] {
  const shift = (round: number | null) => (round === null ? null : round + offset);
  return cases.map((item) => ({
    ...item,
    trials: item.trials.map((trial) => ({ ...trial, round: shift(trial.round) })),
  }));
}

function roundsOf({ cases }: Entry): number {
  return cases.reduce(
    (most, { trials }) => trials.reduce((inner, { round }) => Math.max(inner, (round ?? -1) + 1), most),
    0,
  );
}

function mergeEnvironments(entries: readonly Entry[]): Record<string, string> {
  const names = distinct(entries.flatMap(({ environment }) => Object.keys(environment)));
  return Object.fromEntries(
    names.map((name) => {
      const values = distinct(entries.map(({ environment }) => environment[name] ?? 'not recorded'));
      // A server that only some of them have is not a difference of environments.
      const told = name.startsWith('server ') ? values.filter((value) => value !== 'not recorded') : values;
      return [name, told.join(' and ')];
    }),
  );
}

function refuseRepeated(parts: readonly Selected[]): void {
  const all = parts.flatMap(({ entry, cases }) => cases.map(({ key }) => `${entry.id}: ${key}`));
  const repeated = all.filter((name, index) => all.indexOf(name) !== index);
  if (repeated.length === 0) return;
  throw new BenchError('E_USAGE', 'a trial cannot count twice on one side of a comparison', {
    fix: `Name each run once: A${POOL_SIGN}B, or different cases of it, A:tier=1${POOL_SIGN}A:tier=2.`,
    evidence: distinct(repeated).slice(0, 6),
  });
}

/** Where pooled runs are shown to differ among themselves, in sentences. */
function disagreements(parts: readonly Selected[], estimands: readonly EstimandFacts[]): string[] {
  const cases = parts.flatMap(({ entry, cases }) => cases.map((item) => ({ id: entry.id, item })));
  return [...Map.groupBy(cases, ({ item }) => placeKey(item)).values()].flatMap((items) => {
    const [first, ...others] = items;
    if (first === undefined) return [];
    return estimands.flatMap((estimand) => {
      const { name, title } = estimand;
      const test = isByDifference(estimand, null) ? testDifference : testRatios;
      const results = others.flatMap(({ id, item }) => {
        const [candidate, reference] = [valuesOf(item.trials, name), valuesOf(first.item.trials, name)];
        const resolution = resolutionOf(estimand, [...candidate, ...reference]);
        const result = test({ candidate, reference, pairs: null, resolution }, {});
        return result === null ? [] : [{ id, pValue: result.pValue * others.length }];
      });
      const worst = results.toSorted((a, b) => a.pValue - b.pValue)[0];
      if (worst === undefined || worst.pValue > LEVEL) return [];
      return [
        `${first.item.key}: ${title} of the pooled runs ${first.id} and ${worst.id} differ (p ${formatP(worst.pValue)}), ` +
          'so the interval and its verdict claim too much.',
      ];
    });
  });
}

/** Duets pooled with other runs, in a sentence. */
function mixedTrials(entries: readonly Entry[]): string[] {
  const duets = entries.filter((entry) => entry.isDuet === true).map(({ id }) => id);
  const others = entries.filter((entry) => entry.isDuet === false).map(({ id }) => id);
  if (duets.length === 0 || others.length === 0) return [];
  return [
    `Of the pooled runs, ${duets.join(', ')} ${duets.length === 1 ? 'is a duet' : 'are duets'} and ${others.join(', ')} measured ` +
      'one server at a time. These are different measurements, and no verdict about them together holds.',
  ];
}

/** One side of a comparison, from several runs. Throws `E_USAGE` where a trial would count twice. */
export function poolSelected(parts: readonly Selected[], estimands: readonly EstimandFacts[]): Selected {
  const [first] = parts;
  if (first === undefined) throw new RangeError('nothing to pool');
  if (parts.length === 1) return first;
  refuseRepeated(parts);
  // Always in the same order, so that the same runs on both sides are recognized and paired.
  const entries = [...new Map(parts.map(({ entry }) => [entry.id, entry])).values()].sort((a, b) =>
    a.id.localeCompare(b.id),
  );
  const offsets = new Map<string, number>();
  let rounds = 0;
  for (const entry of entries) {
    offsets.set(entry.id, rounds);
    rounds += roundsOf(entry);
  }
  const offsetOf = ({ id }: Entry) => offsets.get(id) ?? 0;
  const [oldest = first.entry] = entries;
  const entry: Entry = {
    ...oldest,
    id: entries.map(({ id }) => id).join(POOL_SIGN),
    kind: entries.some(({ kind }) => kind === 'imported') ? 'imported' : 'run',
    status: distinct(entries.map(({ status }) => status)).join(', '),
    git: null,
    environment: mergeEnvironments(entries),
    machine: distinct(entries.map(({ machine }) => machine)).join('; '),
    isDuet: common(entries.map((member) => member.isDuet)),
    level: Math.min(...entries.map(({ level }) => level)),
    cases: mergeCases(entries.flatMap((member) => shifted(member.cases, offsetOf(member)))),
  };
  const fixed = Object.entries(first.selector).filter(([name]) =>
    parts.every(({ selector }) => name in selector),
  );
  return {
    entry,
    selector: Object.fromEntries(fixed),
    cases: mergeCases(parts.flatMap((part) => shifted(part.cases, offsetOf(part.entry)))),
    runs: entries.map(({ id }) => id),
    notes: [...mixedTrials(entries), ...disagreements(parts, estimands)],
  };
}
