/** What the history commands share: opening the history, naming runs, choosing figures. */
import { resolve } from 'node:path';
import { nearest } from '@dinodns-bench/program';
import { Ansis } from 'ansis';
import { ratioFromText } from '../config/value-schemas.ts';
import { BenchError } from '../errors.ts';
import type { Entry } from '../history/entry.ts';
import { openHistory } from '../history/history.ts';
import { POOL_SIGN, poolSelected } from '../history/pool.ts';
import { findRun, loadEntry, type RunIndex } from '../history/resolve.ts';
import { parseReference, type Selected, type Selector, selectCases } from '../history/select.ts';
import { readTags } from '../history/tags.ts';
import { compareKind } from '../results/compare-kind.ts';
import { COMPARED_METRICS, type ComparedMetric, findMetric, METRIC_NAMES } from '../stats/metrics.ts';
import { INTERVAL_CHOICES, type IntervalChoice } from '../stats/sample-test.ts';
import type { World } from '../world.ts';

/** Where the results are, and what is known of them. */
export interface KnownRuns extends RunIndex {
  readonly resultsDirectory: string;
}

/** Reads the history; its warnings go to stderr. */
export async function knownRuns(world: World, out: string): Promise<KnownRuns> {
  const resultsDirectory = resolve(world.cwd, out);
  const { database, notice } = await openHistory(world, resultsDirectory);
  try {
    if (notice !== null) world.stderr.write(`Note: ${notice}\n`);
    return { resultsDirectory, runs: database.runs(), tags: await readTags(world, resultsDirectory) };
  } finally {
    database.close();
  }
}

/**
 * The path of the run that a tag, an id, a branch or a commit means. `latest`, and what the history does not know, are returned as
 * they are: the store finds the newest run of a folder, and paths.
 */
export async function runPath(world: World, out: string, reference: string): Promise<string> {
  const resultsDirectory = resolve(world.cwd, out);
  const tags = await readTags(world, resultsDirectory);
  if (reference === 'latest' && !tags.has(reference)) return reference;
  const { database } = await openHistory(world, resultsDirectory);
  try {
    const runs = database.runs().filter(({ kind }) => kind === 'run');
    return findRun({ runs, tags }, reference)?.path ?? reference;
  } finally {
    database.close();
  }
}

/** What comparisons, trends and gates work on. */
const { experiment: COMPARABLE } = compareKind;

/** Throws `E_USAGE` for a run of an experiment that has no cases like those of a comparison. */
function refuseOther({ id, experiment }: Entry): void {
  if (experiment === COMPARABLE) return;
  throw new BenchError('E_USAGE', `run ${id} is one of "${experiment}", which has no cases to compare`, {
    fix: `Give a run of bench run or bench matrix. What this one found: bench report ${id}.`,
  });
}

/** The cases of a run, as a user writes them: `latest:server=dinodns`. `further` narrows them down. */
export async function selectRun(
  world: World,
  known: KnownRuns,
  reference: string,
  further: Selector = {},
  except: string | null = null,
): Promise<Selected> {
  const { run, selector } = parseReference(reference);
  const entry = await loadEntry(world, known.resultsDirectory, known, run, {
    except,
    experiments: [COMPARABLE],
  });
  refuseOther(entry);
  return selectCases(entry, { ...further, ...selector });
}

/** A selector that ends with the name of a server, to which a variant may belong: `latest:tier=1,server=coredns`. */
const ENDS_WITH_SERVER = /[:,]server=[^,+]+$/;

/** What may follow the plus: `file`, or `file@1.13.1`. */
const VARIANT = /^[a-z][a-z0-9-]*(?:@[^@]+)?$/;

/** The runs of a pool. `server=coredns+file` is one name, unless there is a run called `file`. */
function splitPool(reference: string, known: KnownRuns): string[] {
  const parts: string[] = [];
  for (const part of reference.split(POOL_SIGN)) {
    const last = parts.at(-1);
    const [name = ''] = part.split(',');
    const isVariant = last !== undefined && ENDS_WITH_SERVER.test(last) && VARIANT.test(name);
    if (isVariant && findRun(known, name) === undefined) parts[parts.length - 1] = `${last}+${part}`;
    else parts.push(part);
  }
  return parts;
}

/** One side of a comparison: a run, or several as one, `A+B`, each with its own selector. Throws `E_USAGE`. */
export async function selectSide(
  world: World,
  known: KnownRuns,
  reference: string,
  metrics: readonly ComparedMetric[],
): Promise<Selected> {
  // A branch may have the sign in its name.
  const isName = !reference.includes(':') && findRun(known, reference) !== undefined;
  const parts: Selected[] = [];
  for (const part of isName ? [reference] : splitPool(reference, known))
    parts.push(await selectRun(world, known, part));
  return poolSelected(parts, metrics);
}

/** `qps,latency` → metrics; all of them for undefined. Throws `E_USAGE`. */
export function metricsFrom(
  text: string | undefined,
  fallback: readonly ComparedMetric[] = COMPARED_METRICS,
): ComparedMetric[] {
  if (text === undefined) return [...fallback];
  const names = text.split(',').map((name) => name.trim());
  const metrics = names.map((name) => {
    const metric = findMetric(name);
    if (metric !== undefined) return metric;
    const known = COMPARED_METRICS.map((candidate) => METRIC_NAMES[candidate]);
    const suggestion = nearest(name, known);
    throw new BenchError('E_USAGE', `--metric: unknown figure ${JSON.stringify(name)}`, {
      fix: suggestion === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean "${suggestion}"?`,
    });
  });
  return [...new Set(metrics)];
}

export function intervalFrom(text: string | undefined): IntervalChoice {
  const choice = INTERVAL_CHOICES.find((candidate) => candidate === (text ?? 'auto'));
  if (choice !== undefined) return choice;
  throw new BenchError('E_USAGE', `--interval: ${JSON.stringify(text)} must be auto or bootstrap`, {
    fix: 'auto chooses the method by the number of trials; see docs/method.md.',
  });
}

/** `3%` → 0.03. Throws `E_USAGE` for anything but a percentage in [0 %, 100 %). */
export function percentageFrom(text: string, flag: string): number {
  const ratio = ratioFromText(text);
  if (typeof ratio === 'number' && ratio >= 0 && ratio < 1) return ratio;
  throw new BenchError(
    'E_USAGE',
    `${flag}: ${JSON.stringify(text)} must be a percentage from 0% to below 100%`,
    {
      fix: `Write it with its sign, for example ${flag} 3%.`,
    },
  );
}

/** Checks that every run has the server that figures are normalized to. Throws `E_USAGE` where one lacks it. */
export function checkNormalize(server: string | undefined, entries: readonly Entry[]): string | null {
  if (server === undefined) return null;
  for (const entry of entries) {
    if (entry.cases.some((item) => item.server === server)) continue;
    const servers = [...new Set(entry.cases.flatMap((item) => item.server ?? []))];
    throw new BenchError('E_USAGE', `--normalize: run ${entry.id} has no server ${JSON.stringify(server)}`, {
      fix:
        servers.length === 0
          ? 'It does not say which servers it measured: omit --normalize.'
          : `Choose a server that all runs have; this one has ${servers.join(', ')}.`,
    });
  }
  return server;
}

/** Colours only on a terminal, and unless NO_COLOR says otherwise. */
export function paintFor({ stdout, env }: World): InstanceType<typeof Ansis> {
  return new Ansis(stdout.isTerminal && (env.NO_COLOR ?? '') === '' ? 1 : 0);
}

export const DEFAULT_COLUMNS = 80;

export function printJson({ stdout }: World, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
