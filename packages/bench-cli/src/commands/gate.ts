/** `bench gate`: is a run worse than tolerated? For CI: an exit status and one paragraph. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { AXES } from '../config/case-filter.ts';
import { BenchError } from '../errors.ts';
import { differentTrials } from '../history/differences.ts';
import type { Entry } from '../history/entry.ts';
import { type Gate, gate } from '../history/gate.ts';
import type { Selector } from '../history/select.ts';
import { renderGate, renderGateMarkdown } from '../history/text/render-gate.ts';
import type { World } from '../world.ts';
import {
  checkNormalize,
  DEFAULT_COLUMNS,
  intervalFrom,
  knownRuns,
  metricsFrom,
  percentageFrom,
  printJson,
  selectRun,
} from './history-options.ts';

export interface GateCommandOptions {
  /** What is judged. */
  readonly run: string;
  readonly against: string;
  readonly maxRegression: string;
  readonly out: string;
  readonly format: string;
  readonly metric: string | undefined;
  readonly normalize: string | undefined;
  readonly interval: string | undefined;
  /** Too few trials fail as well. */
  readonly strict: boolean;
  /** Cases of both runs, by dimension. */
  readonly select: Readonly<Record<string, string | undefined>>;
}

/** A gate between the two kinds of measurement would judge the change of method. */
function refuseDifferentTrials(reference: Entry, candidate: Entry): void {
  const trials = differentTrials(reference, candidate);
  if (trials === null) return;
  throw new BenchError(
    'E_USAGE',
    `run ${candidate.id} (${trials[1]}) and its reference ${reference.id} (${trials[0]}) are different measurements`,
    { fix: 'Measure one of them again: both with --duet on, or both with --duet off.' },
  );
}

const FORMATS = ['text', 'github', 'json'];

function selectorFrom(values: GateCommandOptions['select']): Selector {
  return Object.fromEntries(
    AXES.flatMap((name) => {
      const value = values[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function statusOf({ outcome }: Gate, strict: boolean): number {
  if (outcome === 'failed') return EXIT_STATUS.threshold;
  return outcome === 'not enough trials' && strict ? EXIT_STATUS.undecided : EXIT_STATUS.success;
}

/** Resolves with 7 if a figure is shown to be worse than tolerated; 0 if not, or if it is undecided (8 with `strict`). */
export async function gateCommand(world: World, options: GateCommandOptions): Promise<number> {
  const metrics = metricsFrom(options.metric, ['qps']);
  const interval = intervalFrom(options.interval);
  const maxRegression = percentageFrom(options.maxRegression, '--max-regression');
  if (!FORMATS.includes(options.format)) {
    throw new BenchError('E_USAGE', `--format: "${options.format}" must be one of ${FORMATS.join(', ')}`, {
      fix: 'github is Markdown for a pull request comment.',
    });
  }
  const known = await knownRuns(world, options.out);
  const select = selectorFrom(options.select);
  const candidate = await selectRun(world, known, options.run, select);
  const reference = await selectRun(world, known, options.against, select, candidate.entry.id);
  if (reference.entry.id === candidate.entry.id) {
    throw new BenchError('E_USAGE', `--against ${options.against} is the run being judged`, {
      fix: 'Name another run: a branch, a commit, an id, or a name from `bench history tag`.',
    });
  }
  refuseDifferentTrials(reference.entry, candidate.entry);
  const normalize = checkNormalize(options.normalize, [reference.entry, candidate.entry]);
  const result = gate(reference, candidate, { metrics, interval, normalize, maxRegression });
  if (result.cases.length === 0) {
    throw new BenchError(
      'E_USAGE',
      `run ${candidate.entry.id} and run ${reference.entry.id} have no case in common`,
      {
        fix: 'Choose a reference that measured the same servers, tiers and modes.',
        evidence: [
          ...result.comparison.onlyReference.slice(0, 6),
          ...result.comparison.onlyCandidate.slice(0, 6),
        ],
      },
    );
  }
  if (options.format === 'json') printJson(world, result);
  else {
    world.stdout.write(
      options.format === 'github'
        ? renderGateMarkdown(result)
        : renderGate(result, world.stdout.columns ?? DEFAULT_COLUMNS),
    );
  }
  return statusOf(result, options.strict);
}
