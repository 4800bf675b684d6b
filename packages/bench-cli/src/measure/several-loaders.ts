/** What each of several loaders did, and whether they did it at the same time. Pure. */
import type { RunConfiguration } from '../config/configuration.ts';
import { BenchError } from '../errors.ts';
import { overlapOf } from '../loaders/gate/gate.ts';
import type { LoadOutcome } from '../loaders/loader.ts';
import { formatSize } from '../report/numbers.ts';
import type { OkTrial, Trial } from '../results/record.ts';

type SeveralLoaders = NonNullable<OkTrial['loaders']>;

/** With less of the duration in common, the sum of the loads never existed: the trial fails. */
const MIN_OVERLAP = 0.9;
/** With less than this, readers are told. */
const FULL_OVERLAP = 0.99;

type LoaderFacts = Pick<LoadOutcome, 'observation' | 'wasTheLimit' | 'node' | 'window' | 'clock'>;

/** Each by itself, for the record. */
export function eachLoader(outcomes: readonly LoaderFacts[]): SeveralLoaders['each'] {
  return outcomes.map(({ observation, wasTheLimit, node, window, clock }) => ({
    startSeconds: window?.startSeconds ?? null,
    endSeconds: window?.endSeconds ?? null,
    cpuSeconds: observation?.cpuSeconds ?? null,
    cpuCores: observation?.cpuCores ?? null,
    wasTheLimit,
    ...(node === undefined ? {} : { node }),
    ...(clock === undefined ? {} : { clock: { ...clock } }),
  }));
}

/**
 * For the record; nothing for a single loader.
 * @throws BenchError `E_LOADER_FAILED` if they sent together for too little of the time.
 */
export function describeLoaders(
  outcomes: readonly LoaderFacts[],
  { loaders, durationSeconds }: Pick<RunConfiguration, 'loaders' | 'durationSeconds'>,
): Pick<OkTrial, 'loaders'> {
  if (loaders === 1) return {};
  const windows = outcomes.flatMap(({ window }) => window ?? []);
  const overlap = windows.length < outcomes.length ? null : overlapOf(windows, durationSeconds);
  if (overlap !== null && overlap < MIN_OVERLAP) {
    throw new BenchError(
      'E_LOADER_FAILED',
      `the ${outcomes.length} loaders sent together for only ${formatSize(overlap)} of the time`,
      {
        evidence: windows.map(
          ({ startSeconds, endSeconds }, index) =>
            `loader ${index + 1} sent from ${startSeconds.toFixed(3)} to ${endSeconds.toFixed(3)} s`,
        ),
        fix: 'See their output in the run folder under raw/: one began late or ended early. Use fewer loaders or more CPU.',
      },
    );
  }
  return { loaders: { overlap, each: eachLoader(outcomes) } };
}

/** What a reader of a trial with several loaders must know. */
export function overlapWarnings(trial: Trial): string[] {
  const loaders = trial.status === 'ok' ? trial.loaders : undefined;
  if (loaders === undefined) return [];
  if (loaders.overlap === null)
    return ['when each loader sent is not known: their loads may not have been simultaneous'];
  if (loaders.overlap >= FULL_OVERLAP) return [];
  return [`the loaders of ${trial.key} sent together for ${formatSize(loaders.overlap)} of the time only`];
}
