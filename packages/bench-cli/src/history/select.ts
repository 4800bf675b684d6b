/** Selects cases of a run: `server=dinodns,tier=1`. */
import { nearest } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { axesOf, fits, type Selector } from './axes.ts';
import type { Entry, EntryCase } from './entry.ts';

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

const PAIR = String.raw`[A-Za-z][\w-]*=[^,]*`;
const SELECTOR = new RegExp(`^(?<run>.*?)(?::(?<selector>${PAIR}(?:,${PAIR})*))?$`);

/** `server=dinodns,tier=1`. Throws `E_USAGE`. */
export function parseSelector(text: string): Selector {
  const pairs = text.split(',').map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    if (name !== '' && value.join('=') !== '') return [name, value.join('=')];
    throw new BenchError('E_USAGE', `selector ${JSON.stringify(pair)} must be NAME=VALUE`, {
      fix: 'For example server=dinodns,tier=1.',
    });
  });
  return Object.fromEntries(pairs);
}

/** `latest:server=dinodns,tier=1` → the run's name and the selector. Throws `E_USAGE`. */
export function parseReference(text: string): { run: string; selector: Selector } {
  const { run = text, selector } = SELECTOR.exec(text)?.groups ?? {};
  if (run === '' || run.endsWith(':')) {
    throw new BenchError(
      'E_USAGE',
      `${JSON.stringify(text)} ${run === '' ? 'names no run' : 'ends before its selector'}`,
      {
        fix: 'Write RUN, RUN:server=NAME, or RUN+RUN for several runs as one.',
      },
    );
  }
  return { run, selector: selector === undefined ? {} : parseSelector(selector) };
}

/** Throws `E_USAGE` for a selector of something that none of the cases has. */
export function checkAxes(selector: Selector, axes: readonly string[]): void {
  for (const [name, value] of Object.entries(selector)) {
    if (axes.includes(name)) continue;
    const suggestion = nearest(name, [...axes]);
    throw new BenchError('E_USAGE', `unknown selector ${JSON.stringify(`${name}=${value}`)}`, {
      fix:
        suggestion === undefined
          ? `Write RUN:name=value, with the names ${axes.join(', ')}.`
          : `Did you mean "${suggestion}"?`,
    });
  }
}

/** The cases of `entry` that match. Throws `E_USAGE` if none does. */
export function selectCases(entry: Entry, selector: Selector): Selected {
  if (entry.cases.length > 0) checkAxes(selector, axesOf(entry.cases));
  const cases = entry.cases.filter((item) => fits(item, selector));
  if (cases.length > 0) return { entry, selector, cases };
  // Where cases have no other servers, that is what a user calls their subjects.
  const areServers = entry.cases.every(({ point }) => point.server === undefined);
  const wanted = Object.entries(selector).map(
    ([name, value]) => `${name === 'subject' && areServers ? 'server' : name}=${value}`,
  );
  throw new BenchError(
    'E_USAGE',
    `run ${entry.id} has no case ${wanted.length === 0 ? 'at all' : `with ${wanted.join(', ')}`}`,
    {
      fix: 'Choose from its cases.',
      evidence: entry.cases.slice(0, 12).map(({ key }) => key),
    },
  );
}
