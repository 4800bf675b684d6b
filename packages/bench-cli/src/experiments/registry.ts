/** Every experiment, in the order of `bench --help`. To add one, add a folder and a line here. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@dinodns-bench/program';
import type { FormatFacts, OpenedRecord, Records } from '../engine/records.ts';
import type { Experiment } from '../engine/registered.ts';
import { BenchError } from '../errors.ts';
import type { FoundRun } from '../results/store.ts';
import type { World } from '../world.ts';
import { capacity } from './capacity/index.ts';
import { compare } from './compare/index.ts';
import { lookup } from './lookup/index.ts';
import { loss } from './loss/index.ts';
import { swap } from './swap/index.ts';

const OWN: readonly Experiment[] = [compare, loss, capacity, swap, lookup];

/** Those of users, by the file they come from. */
const loaded = new Map<string, Experiment>();

export function allExperiments(): readonly Experiment[] {
  return [...OWN, ...loaded.values()];
}

/** Every kind of record. */
export function allRecords(): readonly Records[] {
  return allExperiments().flatMap(({ records }) => records ?? []);
}

/** What `--format` takes: the formats of all experiments, each name once. */
export function allFormats(): readonly FormatFacts[] {
  const formats = allRecords().flatMap((records) => records.formats);
  return [...Map.groupBy(formats, ({ name }) => name).values()].flatMap(([first]) => first ?? []);
}

function isExperiment(value: unknown): value is Experiment {
  return typeof value === 'object' && value !== null && 'addCommands' in value && 'records' in value;
}

/**
 * Adds the experiment that is the default export of a user's file.
 * @throws BenchError `E_USAGE` for a file that has none, or one of a name that is taken
 */
export async function loadExperiment(world: World, file: string): Promise<void> {
  const path = resolve(world.cwd, file);
  const problem = (what: string, fix: string, cause?: unknown) =>
    new BenchError('E_USAGE', `--experiment ${file}: ${what}`, { fix, cause });
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href).catch((cause) => {
    throw problem(
      `it cannot be loaded: ${messageOf(cause).split('\n')[0]}`,
      'Correct the file or its path.',
      cause,
    );
  });
  const found = module.default;
  if (!isExperiment(found)) {
    throw problem(
      'its default export is no experiment',
      'Export what defineExperiment of @dinodns-bench/bench-cli/engine returns: export default defineExperiment({ … }).',
    );
  }
  const taken = [...OWN, ...[...loaded].flatMap(([other, each]) => (other === path ? [] : [each]))];
  if (taken.some(({ name }) => name === found.name))
    throw problem(`there is an experiment "${found.name}" already`, 'Give it another name.');
  loaded.set(path, found);
}

/**
 * The kind of record that this is.
 * @throws BenchError `E_RECORD_VERSION` for an experiment that this version does not know.
 */
export function recordsFor({ experiment, directory }: Pick<FoundRun, 'experiment' | 'directory'>): Records {
  const known = allRecords();
  const found = known.find(({ kind }) => kind.experiment === experiment);
  if (found !== undefined) return found;
  throw new BenchError('E_RECORD_VERSION', `${directory} is a run of the experiment "${experiment}"`, {
    fix: `This version of bench knows ${known.map(({ kind }) => kind.experiment).join(', ')}. Use the version that wrote it, or name the file of your own experiment: bench --experiment FILE …`,
  });
}

/** Reads a run of any experiment. Throws as `recordsFor` and the record's parser do. */
export function openRun(run: FoundRun): OpenedRecord {
  return recordsFor(run).open(run);
}
