/** What the history commands share: opening the history, naming runs, choosing figures. */
import { resolve } from 'node:path';
import { nearest, printable } from '@dinodns-bench/program';
import { ratioFromText } from '../config/value-schemas.ts';
import { renderOptions } from '../engine/write-reports.ts';
import { BenchError } from '../errors.ts';
import type { Selector } from '../history/axes.ts';
import type { Entry } from '../history/entry.ts';
import { listRuns, type RunRow } from '../history/listing.ts';
import { POOL_SIGN } from '../history/pool.ts';
import { findRun, loadEntry, locateRun, type RunIndex, type Wanted } from '../history/resolve.ts';
import { parseReference, type Selected, selectCases } from '../history/select.ts';
import { readTags } from '../history/tags.ts';
import { printJson } from '../output.ts';
import type { ReportDocument } from '../report/document/document.ts';
import { documentComment, documentMarkdown } from '../report/document/markdown.ts';
import { documentText } from '../report/document/terminal.ts';
import type { EstimandFacts } from '../report/estimand.ts';
import { findMetric, METRIC_NAMES } from '../stats/metrics.ts';
import { INTERVAL_CHOICES, type IntervalChoice } from '../stats/sample-test.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';

/** What every question takes. */
export interface QuestionOptions {
  /** Directory of the runs. */
  readonly out: string;
  readonly format: string;
}

/** What questions about figures take besides. */
export interface FigureOptions extends QuestionOptions {
  readonly metric?: string;
  readonly normalize?: string;
}

/** How many records that cannot be read every command names. */
const MAX_PROBLEMS = 3;

/** Records of any experiment; what reads them is loaded with the first. */
export async function readAnyEntry(world: World, path: string): Promise<Entry> {
  const { readEntry } = await import('../experiments/read-entry.ts');
  return readEntry(world, path);
}

/** Reads the history. Records that cannot be read are told on stderr, whatever the command is. */
export async function knownRuns(world: World, out: string, { isAnew = false } = {}): Promise<RunIndex> {
  const resultsDirectory = resolve(world.cwd, out);
  const read = (path: string) => readAnyEntry(world, path);
  const listing = await listRuns(world, resultsDirectory, read, isAnew);
  const told = isAnew ? listing.problems : listing.problems.slice(0, MAX_PROBLEMS);
  for (const { path, problem } of told)
    world.stderr.write(`Skipped ${printable(path)}: ${printable(problem)}\n`);
  if (told.length < listing.problems.length) {
    const others = listing.problems.length - told.length;
    world.stderr.write(`Skipped ${counted(others, 'more record')}: bench history rebuild names them\n`);
  }
  return { ...listing, resultsDirectory, read, tags: await readTags(world, resultsDirectory) };
}

/**
 * The path of the run that a person named. The newest, or that of a branch or commit, is one of the experiment, if one is given
 * and has any.
 */
export async function runPath(
  world: World,
  out: string,
  reference: string,
  experiment?: string,
): Promise<string> {
  const known = await knownRuns(world, out);
  const isWanted = (run: RunRow) => run.experiment === experiment;
  const ofExperiment = experiment === undefined ? undefined : findRun(known, reference, { isWanted });
  return ofExperiment?.path ?? locateRun(world, known, reference);
}

/** Throws `E_USAGE` for a run of an experiment without cases. */
function refuseOther({ id, experiment, cases }: Entry): void {
  if (cases.length > 0) return;
  throw new BenchError('E_USAGE', `run ${id} is one of "${experiment}", which has no cases to compare`, {
    fix: `Give another run. What this one found: bench report ${id}.`,
  });
}

/** The cases of a run, as a user writes them: `latest:server=dinodns`. `further` narrows them down. */
export async function selectRun(
  world: World,
  known: RunIndex,
  reference: string,
  { further = {}, ...wanted }: Wanted & { readonly further?: Selector } = {},
): Promise<Selected> {
  const { run, selector } = parseReference(reference);
  const { isWanted = () => true } = wanted;
  const entry = await loadEntry(world, known, run, {
    ...wanted,
    isWanted: (row) => row.cases.length > 0 && isWanted(row),
  });
  refuseOther(entry);
  return selectCases(entry, { ...further, ...selector });
}

/** A selector that ends with the name of a server, to which a variant may belong: `latest:tier=1,server=coredns`. */
const ENDS_WITH_SERVER = /[:,]server=[^,+]+$/;

/** What may follow the plus: `file`, or `file@1.13.1`. */
const VARIANT = /^[a-z][a-z0-9-]*(?:@[^@]+)?$/;

/** The runs of a pool. `server=coredns+file` is one name, unless there is a run called `file`. */
function splitPool(reference: string, known: RunIndex): string[] {
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
  known: RunIndex,
  reference: string,
  wanted: Wanted = {},
): Promise<readonly Selected[]> {
  // A branch may have the sign in its name.
  const isName = !reference.includes(':') && findRun(known, reference) !== undefined;
  const parts: Selected[] = [];
  for (const part of isName ? [reference] : splitPool(reference, known))
    parts.push(await selectRun(world, known, part, wanted));
  return parts;
}

const namesOf = (text: string) => [...new Set(text.split(',').map((name) => name.trim()))];

/** The estimand that `name` means, by its name or by that of the record's field. Throws `E_USAGE`, which lists those that exist. */
export function findEstimand(name: string, estimands: readonly EstimandFacts[], flag: string): EstimandFacts {
  const metric = findMetric(name);
  const alias = metric === undefined ? name : METRIC_NAMES[metric];
  const found = estimands.find((each) => each.name === name) ?? estimands.find((each) => each.name === alias);
  if (found !== undefined) return found;
  const known = estimands.map((each) => each.name);
  const suggestion = nearest(name, known);
  throw new BenchError('E_USAGE', `${flag}: unknown figure ${JSON.stringify(name)}`, {
    fix: `${suggestion === undefined ? '' : `Did you mean "${suggestion}"? `}Choose from ${known.join(', ')}.`,
  });
}

/** Estimands that all of these have, each in the same unit, and known as closely as the coarsest search knows them. */
export function commonEstimands(all: readonly (readonly EstimandFacts[])[]): EstimandFacts[] {
  const [first = []] = all;
  return first.flatMap((estimand) => {
    const found = all.flatMap((each) =>
      each.filter(({ name, unit }) => name === estimand.name && unit === estimand.unit),
    );
    if (found.length < all.length) return [];
    const steps = found.flatMap(({ resolution }) => resolution ?? []);
    if (steps.length === 0) return [estimand];
    const resolution = {
      share: Math.max(...steps.map(({ share }) => share)),
      least: Math.max(...steps.map(({ least }) => least)),
    };
    return [{ ...estimand, resolution }];
  });
}

/** `qps,latency` → those estimands; for undefined, all that are compared. Throws `E_USAGE`. */
export function estimandsFrom(
  text: string | undefined,
  estimands: readonly EstimandFacts[],
): EstimandFacts[] {
  const compared = estimands.filter((each) => each.compared !== 'no');
  return text === undefined
    ? compared
    : namesOf(text).map((name) => findEstimand(name, compared, '--metric'));
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
    const servers = [...new Set(entry.cases.flatMap(({ subject }) => subject ?? []))];
    if (servers.includes(server)) continue;
    throw new BenchError('E_USAGE', `--normalize: run ${entry.id} has no server ${JSON.stringify(server)}`, {
      fix:
        servers.length === 0
          ? 'It does not say which servers it measured: omit --normalize.'
          : `Choose a server that all runs have; this one has ${servers.join(', ')}.`,
    });
  }
  return server;
}

const markdown = (document: ReportDocument) => documentMarkdown(document);

const RENDERERS: Readonly<Record<string, (document: ReportDocument, world: World) => string>> = {
  text: (document, world) => documentText(document, renderOptions(world, 'relative')),
  markdown,
  md: markdown,
  github: documentComment,
};

/** Prints answers in a format, of which it throws `E_USAGE` at once if there is no such format. */
export function answering(world: World, format: string) {
  const render = Object.hasOwn(RENDERERS, format) ? RENDERERS[format] : undefined;
  if (render === undefined && format !== 'json') {
    throw new BenchError('E_USAGE', `--format: "${format}" must be one of text, markdown, github, json`, {
      fix: 'Omit it for text. github is Markdown for a pull request comment.',
    });
  }
  return (json: unknown, ...documents: readonly ReportDocument[]) => {
    if (render === undefined) printJson(world, json);
    else world.stdout.write(documents.map((document) => render(document, world)).join('\n'));
  };
}
