/**
 * The name pattern of a zone set: `example{X}.com` stands for example1.com, example2.com, … The number is
 * parsed from a name, so no table of all names is needed.
 */
import type { Problem } from '@dinodns-bench/program';
import { nameProblem, normalizeName } from './names.ts';

/** Where the number goes. */
export const NUMBER_PLACEHOLDER = '{X}';

/**
 * Largest number in a zone set: far beyond what fits into memory or onto a disk, and small enough for
 * sums and doubled ranges to stay exact integers.
 */
export const MAX_NUMBER = 1_000_000_000_000;

/** Which numbers of the range are used. */
export const PARITIES = ['odd', 'even', 'all'] as const;
export type Parity = (typeof PARITIES)[number];

export interface Pattern {
  /** The text before and after the number, in lower case, without a trailing dot. */
  readonly prefix: string;
  readonly suffix: string;
  /** Number of labels in every name. */
  readonly labels: number;
  /** The pattern is the name of one zone, whose number is 0. */
  readonly isName?: true;
}

/** Parses a pattern that `patternProblem` accepts. */
export function parsePattern(text: string): Pattern {
  if (!text.includes(NUMBER_PLACEHOLDER)) {
    const prefix = normalizeName(text);
    return { prefix, suffix: '', labels: prefix.split('.').length, isName: true };
  }
  const [before = '', after = ''] = text.split(NUMBER_PLACEHOLDER);
  const prefix = before.toLowerCase();
  const suffix = after === '.' ? '' : normalizeName(after);
  return { prefix, suffix, labels: `${prefix}0${suffix}`.split('.').length };
}

export function nameOf(pattern: Pattern, number: number): string {
  return pattern.isName ? pattern.prefix : pattern.prefix + number + pattern.suffix;
}

/** The number in `name` (normalized), or undefined if the pattern does not make that name. */
export function numberIn(pattern: Pattern, name: string): number | undefined {
  const { prefix, suffix } = pattern;
  if (pattern.isName) return name === prefix ? 0 : undefined;
  if (!name.startsWith(prefix) || !name.endsWith(suffix)) return undefined;
  const digits = name.slice(prefix.length, name.length - suffix.length);
  // No leading zeros: the pattern makes example7.com, so example07.com is another name.
  return /^(?:0|[1-9]\d{0,15})$/.test(digits) ? Number(digits) : undefined;
}

/** A range of numbers; `first` and `last` are members, and `count` is at least 1. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
  readonly step: 1 | 2;
  readonly count: number;
}

/** The members of from … to with that parity; undefined if there are none. */
export function numberRange(from: number, to: number, parity: Parity): NumberRange | undefined {
  const step = parity === 'all' ? 1 : 2;
  const wanted = parity === 'odd' ? 1 : 0;
  const first = step === 1 || from % 2 === wanted ? from : from + 1;
  const last = step === 1 || to % 2 === wanted ? to : to - 1;
  return first > last ? undefined : { first, last, step, count: (last - first) / step + 1 };
}

export function isInRange(range: NumberRange, number: number): boolean {
  return number >= range.first && number <= range.last && (number - range.first) % range.step === 0;
}

/**
 * What is wrong with a pattern, if anything; lengths are those of the name with `largest`. Without a place for the number
 * it names one zone, if `largest` is 0.
 */
export function patternProblem(text: string, largest: number | undefined): Problem | undefined {
  const places = text.split(NUMBER_PLACEHOLDER).length - 1;
  if (places === 0 && largest !== 0) return missingPlaceholder(text);
  if (places > 1) {
    return {
      problem: `the pattern "${text}" has ${NUMBER_PLACEHOLDER} ${places} times`,
      fix: `keep ${NUMBER_PLACEHOLDER} once: it is replaced by the number`,
    };
  }
  const name = normalizeName(text.replace(NUMBER_PLACEHOLDER, String(largest ?? 0)));
  return nameProblem(name, `the pattern "${text}" gives an invalid name:`);
}

function missingPlaceholder(text: string): Problem {
  const problem = `the pattern "${text}" has no ${NUMBER_PLACEHOLDER} for the number`;
  const other = /\{[^}]*\}|%d|\$\{?\w+\}?|<\w+>/.exec(text)?.[0];
  if (other !== undefined) return { problem, fix: `write ${NUMBER_PLACEHOLDER} instead of ${other}` };
  const [label = '', ...rest] = text.split('.');
  const example = [label + NUMBER_PLACEHOLDER, ...(rest.length === 0 ? ['com'] : rest)].join('.');
  return { problem, fix: `put ${NUMBER_PLACEHOLDER} where the number goes, for example "${example}"` };
}
