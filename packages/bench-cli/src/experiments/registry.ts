/** Every experiment, in the order of `bench --help`. To add one, add a folder and a line here. */
import { BenchError } from '../errors.ts';
import type { Format } from '../report/index.ts';
import type { LoadedRun } from '../results/store.ts';
import { capacity } from './capacity/index.ts';
import { compare } from './compare/index.ts';
import type { Experiment } from './experiment.ts';

export const EXPERIMENTS: readonly Experiment[] = [compare, capacity];

/** What `--format` takes: the formats of all experiments, each once. */
export const ALL_FORMATS: readonly Format[] = [...new Set(EXPERIMENTS.flatMap(({ formats }) => formats))];

/**
 * The experiment whose record this is.
 * @throws BenchError `E_RECORD_VERSION` for an experiment that this version does not know.
 */
export function experimentOf({
  experiment,
  directory,
}: Pick<LoadedRun, 'experiment' | 'directory'>): Experiment {
  const found = EXPERIMENTS.find(({ name }) => name === experiment);
  if (found !== undefined) return found;
  throw new BenchError('E_RECORD_VERSION', `${directory} is a run of the experiment "${experiment}"`, {
    fix: `This version of bench knows ${EXPERIMENTS.map(({ name }) => name).join(', ')}: use the one that wrote it.`,
  });
}
