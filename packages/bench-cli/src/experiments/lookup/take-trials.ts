/** The trials of a run, one after the other; the record is saved after each. */
import { BenchError } from '../../errors.ts';
import type { Interruption } from '../../interruption.ts';
import type { Display } from '../../progress/display.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import type { Measured } from './measure.ts';
import { withTrials } from './new-record.ts';
import { type LookupRecord, type LookupTrial, lookupKind, type Subject } from './record.ts';
import type { Phases } from './sampling/sample.ts';
import { interleaved } from './subjects.ts';
import { subjectTitle } from './text/readable.ts';
import type { TrialHead } from './trial.ts';

/** A run with its folder. */
export interface Running {
  readonly world: World;
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  readonly rawDirectory: string;
  readonly display: Display;
  readonly interruption: Interruption;
  /** To be called when the record has its first trial. */
  readonly onTrial: () => void;
}

/** Takes the samples of one trial. */
export type Measure = (subject: Subject, head: Omit<TrialHead, 'startedAt'>) => Promise<Measured>;

function interrupted(running: Running, done: number, planned: number, cause: unknown): unknown {
  const { reason } = running.interruption.signal;
  if (!(reason instanceof BenchError)) return cause;
  return new BenchError(reason.code, `interrupted after ${done} of ${planned} trials`, {
    fix: `They are in ${running.directory}/run.json; run the command again for all.`,
    cause,
  });
}

/** Resolves with the complete record. A run with trials that ends early is saved as interrupted. */
export async function takeTrials(
  running: Running,
  start: LookupRecord,
  measure: Measure,
): Promise<LookupRecord> {
  const { world, store, directory, display, interruption, onTrial } = running;
  const { signal } = interruption;
  const seconds = start.durationSeconds / start.rounds;
  const planned = interleaved(start.subjects, start.rounds);
  const trials: LookupTrial[] = [];
  const pooled = new Map<string, Phases[]>();
  let record = start;
  const save = async (status: LookupRecord['status']) => {
    const endedAt = status === 'running' ? null : world.clock.now().toISOString();
    const next = { ...withTrials(record, trials, pooled), status, endedAt };
    record = withPortablePaths(next, { cwd: world.cwd, home: world.env.HOME });
    await store.saveAs(lookupKind, record, directory);
  };
  try {
    for (const { subject, round, order } of planned) {
      signal.throwIfAborted();
      display.live(`  ${order + 1} of ${planned.length}  ${subjectTitle(subject.key)}`);
      const head = { key: `${subject.key}#${round}`, subject: subject.key, round, order, seconds };
      const measured = await measure(subject, head);
      trials.push(measured.trial);
      pooled.set(subject.key, [...(pooled.get(subject.key) ?? []), ...measured.phases]);
      if (measured.trial.failure !== null)
        display.line(`  ${subjectTitle(head.key)}: ${measured.trial.failure}`);
      await save('running');
      onTrial();
    }
  } catch (error) {
    if (trials.length === 0) throw error;
    // The first error is the one to report; on a full disk saving fails again.
    await save('interrupted').catch(() => undefined);
    if (!signal.aborted) throw error;
    throw interrupted(running, trials.length, planned.length, error);
  }
  await save('complete');
  return record;
}
