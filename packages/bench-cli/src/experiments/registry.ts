/** Every experiment, in the order of `bench --help`. To add one, add a folder and a line here. */
import { BenchError } from '../errors.ts';
import type { FoundRun } from '../results/store.ts';
import { capacity } from './capacity/index.ts';
import { compare } from './compare/index.ts';
import type { Experiment } from './experiment.ts';
import { lookup } from './lookup/index.ts';
import { loss } from './loss/index.ts';
import type { FormatFacts, OpenedRecord, Records } from './records.ts';
import { swap } from './swap/index.ts';

export const EXPERIMENTS: readonly Experiment[] = [compare, loss, capacity, swap, lookup];

/** Every kind of record. */
export const ALL_RECORDS: readonly Records[] = EXPERIMENTS.flatMap(({ records }) => records ?? []);

/** What `--format` takes: the formats of all experiments, each name once. */
export const ALL_FORMATS: readonly FormatFacts[] = [
  ...Map.groupBy(
    ALL_RECORDS.flatMap(({ formats }) => formats),
    ({ name }) => name,
  ).values(),
].flatMap(([first]) => first ?? []);

/**
 * The kind of record that this is.
 * @throws BenchError `E_RECORD_VERSION` for an experiment that this version does not know.
 */
export function recordsFor({ experiment, directory }: Pick<FoundRun, 'experiment' | 'directory'>): Records {
  const found = ALL_RECORDS.find(({ kind }) => kind.experiment === experiment);
  if (found !== undefined) return found;
  throw new BenchError('E_RECORD_VERSION', `${directory} is a run of the experiment "${experiment}"`, {
    fix: `This version of bench knows ${ALL_RECORDS.map(({ kind }) => kind.experiment).join(', ')}: use the one that wrote it.`,
  });
}

/** Reads a run of any experiment. Throws as `recordsFor` and the record's parser do. */
export function openRun(run: FoundRun): OpenedRecord {
  return recordsFor(run).open(run);
}
