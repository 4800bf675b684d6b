/** `bench report`: renders the reports of a run from its record. */
import { dirname, relative, resolve } from 'node:path';
import type { FormatFacts } from '../engine/records.ts';
import {
  hasCharts,
  renderOptions,
  routineFormats,
  withRawOutput,
  writeFiles,
} from '../engine/write-reports.ts';
import { BenchError, choiceFix } from '../errors.ts';
import { allFormats, formatNamed, openRun, recordsFor } from '../experiments/registry.ts';
import { findFormat, type ReportFile } from '../report/renderer.ts';
import { createStore, type FoundRun } from '../results/store.ts';
import type { World } from '../world.ts';
import { runPath } from './history-options.ts';
import { type PostFlags, postSettings } from './post-flags.ts';

export interface ReportOptions extends PostFlags {
  /** Tag, `latest`, id, branch, commit, folder or file. */
  readonly run: string;
  readonly delta?: string;
  /** Names separated by commas. */
  readonly format?: string;
  readonly out: string;
  /** Where files go. Default: beside the record. */
  readonly to?: string;
}

export function deltaOf(delta: string | undefined): 'relative' | 'symmetric' | undefined {
  if (delta === undefined || delta === 'relative' || delta === 'symmetric') return delta;
  throw new BenchError('E_USAGE', `--delta: "${delta}" must be relative or symmetric`, {
    fix: 'relative: (value − baseline) ÷ baseline; symmetric: ÷ the mean of both, as in the published tables.',
  });
}

/** Every requested format once, in the order given. */
async function formatsOf(text: string): Promise<FormatFacts[]> {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const knownNames = async () => (await allFormats()).flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const wanted: FormatFacts[] = [];
  for (const name of names) {
    const format = await formatNamed(name);
    if (format !== undefined) {
      wanted.push(format);
      continue;
    }
    const known = await knownNames();
    throw new BenchError('E_USAGE', `--format: unknown format "${name}"`, {
      fix: choiceFix(name, known),
    });
  }
  if (wanted.length === 0) {
    throw new BenchError('E_USAGE', '--format: no format given', {
      fix: `Choose from ${(await knownNames()).join(', ')}.`,
    });
  }
  return [...new Set(wanted)];
}

/** The same formats, if the run's experiment has them all. */
async function checkFormats(
  wanted: readonly FormatFacts[] | null,
  run: FoundRun,
): Promise<readonly FormatFacts[] | null> {
  const { formats, kind } = await recordsFor(run);
  const found = wanted?.map(({ name }) => {
    const format = findFormat(name, formats);
    if (format !== undefined) return format;
    throw new BenchError('E_USAGE', `--format: a run of "${kind.experiment}" has no format "${name}"`, {
      fix: `Choose from ${formats.map((each) => each.name).join(', ')}.`,
    });
  });
  return found ?? null;
}

/** The same files; calls `look` with each as it passes. */
async function* passing(files: AsyncIterable<ReportFile>, look: (file: ReportFile) => void) {
  for await (const file of files) {
    look(file);
    yield file;
  }
}

/** True if `format`, asked for alone, goes to stdout. */
function isShown({ shown }: FormatFacts, isTerminal: boolean): boolean {
  return shown === 'text' || shown === 'always' || (shown === 'piped' && !isTerminal);
}

/** The same failure to write, of the directory that `--to` gave. */
function blamingTo(error: unknown): unknown {
  if (!(error instanceof BenchError) || !['E_WRITE_FAILED', 'E_DISK_FULL'].includes(error.code)) return error;
  return new BenchError(error.code, error.message, {
    fix: 'Give a writable directory with enough space with --to.',
    cause: error.cause,
  });
}

/**
 * - Without `format`: rewrites the reports that every run has, and shows the table.
 * - With one text format: it goes to stdout, and nothing is written. A blog post goes to stdout and, with its
 *   charts, to files; so does the page, unless stdout is a terminal.
 * - With several formats, with images, or with `to`: writes files; their paths go to stdout, one per line.
 *
 * A text shows the charts that lie beside it, and they are written with it. Beside a run of a folder within the results, such as
 * the published ones, nothing is written unless that folder was given.
 */
export async function reportCommand(world: World, options: ReportOptions): Promise<number> {
  const delta = deltaOf(options.delta);
  const asked = options.format === undefined ? null : await formatsOf(options.format);
  const post = postSettings(options, asked?.map(({ name }) => name) ?? []);
  const store = createStore(world, options.out);
  const found = await store.find(await runPath(world, options.out, options.run));
  const wanted = await checkFormats(asked, found);
  const { directory } = found;
  const opened = await openRun(found);
  if (opened.header.status !== 'complete' && wanted?.some(({ name }) => name === 'blog') === true) {
    throw new BenchError('E_USAGE', `--format blog: run ${opened.header.id} is not finished`, {
      fix: `A post needs a finished run. \`bench report ${options.run}\` shows the results so far and how to continue.`,
    });
  }
  const target = options.to === undefined ? directory : resolve(world.cwd, options.to);
  const charts = await hasCharts(world, target);
  const look = { ...renderOptions(world, delta ?? opened.delta), post, hasCharts: charts };
  const shorten = (path: string) => relative(world.cwd, path) || path;
  const tell = (paths: readonly string[]) =>
    world.stderr.write(`\nWritten: ${paths.map(shorten).join(', ')}\n`);

  const alone = wanted?.length === 1 && options.to === undefined ? wanted[0] : undefined;
  const shown = alone !== undefined && isShown(alone, world.stdout.isTerminal) ? alone : null;
  if (shown?.shown === 'text') {
    world.stdout.write(opened.render(shown.name, look) ?? '');
    return 0;
  }
  const isGiven = `${resolve(world.cwd, options.run)}/`.startsWith(`${directory}/`);
  const mayWrite = options.to !== undefined || isGiven || dirname(directory) === store.resultsDirectory;
  const place = `run ${opened.header.id} is in ${shorten(dirname(directory))}, not among your own`;
  const instead = `bench report ${shorten(directory)}`;
  if (!mayWrite && wanted !== null && shown === null) {
    throw new BenchError('E_USAGE', `--format: ${place}: nothing is written there unasked`, {
      fix: `Say where the files go with --to, or give the run's folder: ${instead}.`,
    });
  }
  if (wanted === null) world.stdout.write(opened.render('terminal', look) ?? '');
  if (!mayWrite && wanted === null) {
    world.stderr.write(`\nNo reports written: ${place}. To write them: ${instead}\n`);
    return 0;
  }
  const render = await withRawOutput(world, look, directory, opened.trials);
  const formats = (wanted ?? routineFormats((await recordsFor(found)).formats)).map(({ name }) => name);
  const names = charts && formats.includes('markdown') ? [...new Set([...formats, 'svg'])] : formats;
  let isFirst = true;
  const files = passing(opened.files(names, render), ({ content }) => {
    if (shown !== null && isFirst && typeof content === 'string') world.stdout.write(content);
    isFirst = false;
  });
  if (!mayWrite) {
    await files.next();
    return 0;
  }
  const paths = await writeFiles(store, target, files).catch((error) => {
    throw options.to === undefined ? error : blamingTo(error);
  });
  if (wanted === null || shown !== null) tell(paths);
  else world.stdout.write(paths.map((path) => `${shorten(path)}\n`).join(''));
  return 0;
}
