/** `bench gate`: is a run worse than tolerated? For CI: an exit status and one paragraph. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { fits, type Selector, valueOn } from '../history/axes.ts';
import { differentTrials } from '../history/differences.ts';
import { gateDocument } from '../history/documents/gate.ts';
import { type Entry, isUnbound } from '../history/entry.ts';
import { type Gate, gate, type Limit } from '../history/gate.ts';
import type { RunRow } from '../history/listing.ts';
import type { RunIndex } from '../history/resolve.ts';
import { type Selected, selectCases } from '../history/select.ts';
import { type EstimandFacts, valuesOf } from '../report/estimand.ts';
import { METRIC_NAMES } from '../stats/metrics.ts';
import type { World } from '../world.ts';
import {
  answering,
  checkNormalize,
  commonEstimands,
  estimandsFrom,
  type FigureOptions,
  findEstimand,
  intervalFrom,
  knownRuns,
  percentageFrom,
  selectRun,
} from './history-options.ts';

export interface GateCommandOptions extends FigureOptions {
  /** What is judged. */
  readonly run: string;
  /** Another run; undefined with `base`. */
  readonly against?: string;
  /** A server of the same run, or what it compares besides, such as a fault. */
  readonly base?: string;
  readonly maxRegression?: string;
  readonly interval?: string;
  /** What cannot be told fails as well. */
  readonly strict?: boolean;
  /** Cases of both runs. */
  readonly select: Selector;
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

/** The cases of a run that are judged, and those of `base`, which were measured in turns with them. Throws `E_USAGE`. */
function sidesWithin({ entry, selector }: Selected, base: string) {
  const has = (axis: string) => entry.cases.some((item) => fits(item, { [axis]: base }));
  // Where something else than servers is compared, such as faults, a server is a part of the point.
  const axis = !has('subject') && has('server') ? 'server' : 'subject';
  const isPoint = entry.cases.some((item) => item.point.server !== undefined);
  // The selector may name what is judged.
  const judged = axis === 'server' || isPoint ? [axis] : ['subject', 'server'];
  const point = Object.fromEntries(Object.entries(selector).filter(([name]) => !judged.includes(name)));
  const on = (value: string) => selectCases(entry, { ...point, [axis]: value });
  const reference = on(base);
  const [first] = reference.cases;
  const selected = entry.cases.filter((item) => fits(item, selector)).map((item) => valueOn(item, axis));
  const others = [...new Set(selected)].filter(
    (name) => first === undefined || name !== valueOn(first, axis),
  );
  const [only = null, ...more] = others;
  if (only !== null && more.length === 0) return { reference, candidate: on(String(only)) };
  throw new BenchError(
    'E_USAGE',
    only === null
      ? `run ${entry.id} measured nothing beside ${base}`
      : `run ${entry.id} measured ${others.join(', ')} beside ${base}: which one is judged?`,
    { fix: `Name it: bench gate ${entry.id}:${axis}=NAME --base ${base}.` },
  );
}

const DEFAULT_LIMIT = '3%';

/**
 * The figure that is judged where none is named. Servers that hold a rate answer as many queries at whatever cost, so their throughput
 * cannot regress: there it is CPU per query, as for verdicts.
 */
function decisiveFor(sides: readonly Selected[], estimands: readonly EstimandFacts[]): EstimandFacts[] {
  const cpu = estimands.find(({ name }) => name === METRIC_NAMES.cpuSecondsPerQuery);
  const isHeld = sides.every(({ cases }) =>
    cases.every(
      (item) => !isUnbound(item) && cpu !== undefined && valuesOf(item.trials, cpu.name).length > 0,
    ),
  );
  return cpu !== undefined && isHeld ? [cpu] : estimands.slice(0, 1);
}

/**
 * `3%` for every figure of `--metric`, or `qps=3%,latency=10%`: those figures. Where neither flag names one, the one that decides.
 * Throws `E_USAGE`.
 */
function limitsFrom(
  text: string | undefined,
  metric: string | undefined,
  estimands: readonly EstimandFacts[],
  sides: readonly Selected[],
): Limit[] {
  const flag = '--max-regression';
  const isByName = text?.includes('=') === true;
  const limits = (isByName ? text.split(',') : []).map((part): [string, number] => {
    const at = part.lastIndexOf('=');
    return [part.slice(0, Math.max(0, at)).trim(), percentageFrom(part.slice(at + 1).trim(), flag)];
  });
  const maxRegression = percentageFrom((isByName ? undefined : text) ?? DEFAULT_LIMIT, flag);
  const wanted = metric === undefined ? [] : estimandsFrom(metric, estimands);
  const all = estimandsFrom(undefined, estimands);
  const named = limits.map(([name, own]) => ({
    estimand: findEstimand(name, all, flag),
    maxRegression: own,
  }));
  const others = isByName || metric !== undefined ? wanted : decisiveFor(sides, all);
  const isNamed = (name: string) => named.some(({ estimand }) => estimand.name === name);
  return [
    ...named,
    ...others.filter(({ name }) => !isNamed(name)).map((estimand) => ({ estimand, maxRegression })),
  ];
}

function statusOf({ outcome }: Gate, strict = false): number {
  if (outcome === 'failed') return EXIT_STATUS.threshold;
  return outcome !== 'passed' && strict ? EXIT_STATUS.undecided : EXIT_STATUS.success;
}

/** Throws `E_USAGE` where it is not clear which cases are judged by which. */
async function sidesOf(
  world: World,
  known: RunIndex,
  { run, against, base, select: further }: GateCommandOptions,
): Promise<{ readonly reference: Selected; readonly candidate: Selected }> {
  if (against === undefined && base === undefined) {
    throw new BenchError('E_USAGE', 'nothing to compare with', {
      fix: 'Pass --against RUN for another run, or --base SERVER for a server of the same run.',
    });
  }
  const candidate = await selectRun(world, known, run, { further });
  if (base !== undefined) return sidesWithin(candidate, base);
  const { id, experiment } = candidate.entry;
  // What a branch or a commit means is a run of the same experiment.
  const isWanted = (row: RunRow) => row.experiment === experiment;
  const reference = await selectRun(world, known, against ?? '', { further, except: id, isWanted });
  if (reference.entry.id === id) {
    throw new BenchError('E_USAGE', `--against ${against} is the run being judged`, {
      fix: 'Name another run: a branch, a commit, an id, or a name from `bench history tag`; or a server of this run with --base.',
    });
  }
  return { reference, candidate };
}

/** Resolves with 9 if a figure is shown to be worse than tolerated; 0 if not, or if it is undecided (8 with `strict`). */
export async function gateCommand(world: World, options: GateCommandOptions): Promise<number> {
  const answer = answering(world, options.format);
  const interval = intervalFrom(options.interval);
  const known = await knownRuns(world, options.out);
  const { reference, candidate } = await sidesOf(world, known, options);
  refuseDifferentTrials(reference.entry, candidate.entry);
  const normalize = checkNormalize(options.normalize, [reference.entry, candidate.entry]);
  const estimands = commonEstimands([candidate.entry.estimands, reference.entry.estimands]);
  const limits = limitsFrom(options.maxRegression, options.metric, estimands, [reference, candidate]);
  const result = gate(reference, candidate, { limits, interval, normalize });
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
  answer(result, gateDocument(result));
  return statusOf(result, options.strict);
}
