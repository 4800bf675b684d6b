/** Selects cases of a run: `server=dinodns,tier=1`. */
import { nearest } from '@dinodns-bench/program';
import { AXES, type CaseFilter, fitsFilter } from '../config/case-filter.ts';
import { BenchError } from '../errors.ts';
import type { Entry, EntryCase } from './entry.ts';

/** What cases must have, by axis. */
export type Selector = CaseFilter;

/** A run as it was named, and its selected cases. */
export interface Selected {
  readonly entry: Entry;
  readonly selector: Selector;
  readonly cases: readonly EntryCase[];
  /** Of a pool, the ids of its runs; else undefined. */
  readonly runs?: readonly string[];
  /** What makes a pool doubtful, in sentences. */
  readonly notes?: readonly string[];
}

const SELECTOR = /^(?<run>.*?)(?::(?<selector>(?:[a-z]+=[^,]*)(?:,[a-z]+=[^,]*)*))?$/;

/** `latest:server=dinodns,tier=1` → the run's name and the selector. Throws `E_USAGE`. */
export function parseReference(text: string): { run: string; selector: Selector } {
  const { run = text, selector } = SELECTOR.exec(text)?.groups ?? {};
  if (selector === undefined) return { run, selector: {} };
  const pairs = selector.split(',').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    if (AXES.some((axis) => axis === name) && value.join('=') !== '') {
      return [name, value.join('=')] as const;
    }
    const suggestion = nearest(name, [...AXES]);
    throw new BenchError('E_USAGE', `${text}: unknown selector ${JSON.stringify(pair)}`, {
      fix:
        suggestion === undefined || suggestion === name
          ? `Write RUN:name=value, with the names ${AXES.join(', ')}.`
          : `Did you mean "${suggestion}"?`,
    });
  });
  return { run, selector: Object.fromEntries(pairs) };
}

/** The cases of `entry` that match. Throws `E_USAGE` if none does. */
export function selectCases(entry: Entry, selector: Selector): Selected {
  const cases = entry.cases.filter((item) => fitsFilter(item, selector));
  if (cases.length > 0) return { entry, selector, cases };
  const wanted = Object.entries(selector).map(([name, value]) => `${name}=${value}`);
  throw new BenchError(
    'E_USAGE',
    `run ${entry.id} has no case ${wanted.length === 0 ? 'at all' : `with ${wanted.join(', ')}`}`,
    {
      fix: 'Choose from its cases.',
      evidence: entry.cases.slice(0, 12).map(({ key }) => key),
    },
  );
}
