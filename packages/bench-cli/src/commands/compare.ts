/** `bench compare`: runs, or sets of their cases, against the first of them. */
import { BenchError } from '../errors.ts';
import { compareRuns } from '../history/compare.ts';
import { compareDocument } from '../history/documents/compare.ts';
import type { RunRow } from '../history/listing.ts';
import { poolSelected } from '../history/pool.ts';
import type { Selected } from '../history/select.ts';
import type { World } from '../world.ts';
import {
  answering,
  checkNormalize,
  commonEstimands,
  estimandsFrom,
  type FigureOptions,
  intervalFrom,
  knownRuns,
  selectSide,
} from './history-options.ts';

export interface CompareCommandOptions extends FigureOptions {
  /** At least two; the first is what the others are compared with. */
  readonly references: readonly string[];
  readonly interval?: string;
}

/** Unless trials are paired, the same trials on both sides would be compared with themselves. */
function refuseShared(reference: Selected, candidate: Selected): void {
  if (reference.entry.id === candidate.entry.id) return;
  const idsOf = ({ entry, runs }: Selected) => runs ?? [entry.id];
  const shared = idsOf(reference).filter((id) => idsOf(candidate).includes(id));
  if (shared.length === 0) return;
  throw new BenchError('E_USAGE', `run ${shared.join(', ')} is on both sides of the comparison`, {
    fix: 'Give it on one side, or the same runs on both with different cases: A:server=x+B:server=x A:server=y+B:server=y.',
  });
}

export async function compareCommand(world: World, options: CompareCommandOptions): Promise<number> {
  const answer = answering(world, options.format);
  const interval = intervalFrom(options.interval);
  const [first, ...others] = options.references;
  if (first === undefined || others.length === 0) {
    throw new BenchError('E_USAGE', 'bench compare needs at least two runs', {
      fix: 'For example `bench compare main latest`, or `bench compare latest:server=coredns latest:server=dinodns`.',
    });
  }
  const known = await knownRuns(world, options.out);
  const firstParts = await selectSide(world, known, first);
  // What `latest` and a branch mean is a run of the same experiment.
  const experiment = firstParts[0]?.entry.experiment;
  const wanted = { isWanted: (run: RunRow) => run.experiment === experiment };
  const results = [];
  for (const other of others) {
    const parts = await selectSide(world, known, other, wanted);
    const all = [...firstParts, ...parts].map(({ entry }) => entry);
    const estimands = estimandsFrom(options.metric, commonEstimands(all.map((entry) => entry.estimands)));
    const reference = poolSelected(firstParts, estimands);
    const candidate = poolSelected(parts, estimands);
    refuseShared(reference, candidate);
    const normalize = checkNormalize(options.normalize, [reference.entry, candidate.entry]);
    const result = compareRuns(reference, candidate, { estimands, interval, normalize });
    if (result.cases.length === 0) {
      throw new BenchError('E_USAGE', `${first} and ${other} have no case in common`, {
        fix: 'Select cases that differ in only one respect, for example A:server=coredns B:server=dinodns.',
        evidence: [...result.onlyReference.slice(0, 6), ...result.onlyCandidate.slice(0, 6)],
      });
    }
    if (
      result.cases.every(({ figures }) =>
        figures.every(({ delta, trials }) => delta === null && trials.includes(0)),
      )
    ) {
      throw new BenchError('E_USAGE', `${first} and ${other} have no figure in common`, {
        fix: 'Choose other figures with --metric, or other runs.',
        evidence: result.cases.flatMap(({ label, figures }) =>
          figures.map(({ metric, trials }) => `${label}: ${metric} in ${trials[0]} and ${trials[1]} trials`),
        ),
      });
    }
    results.push(result);
  }
  answer(results, ...results.map(compareDocument));
  return 0;
}
