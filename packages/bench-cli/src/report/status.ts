/**
 * How a run ended. The exit status, the report's headline and the summary all come from this function, so they cannot
 * contradict each other.
 */
import { EXIT_STATUS, type ExitReason } from '@dinodns-bench/program';
import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import type { FailedTrial, RunRecord } from '../results/record.ts';
import { counted } from '../text.ts';

export interface RunStatus {
  readonly state: 'complete' | 'failed-trials' | 'interrupted';
  /** For a run that a signal ended, the caller knows whether it is `terminated` instead of `interrupted`. */
  readonly exitStatus: number;
  /** One sentence. */
  readonly headline: string;
  /** Trials that succeeded. */
  readonly ok: number;
  /** The failed trials, in the order in which they were tried. */
  readonly failures: readonly FailedTrial[];
}

function headlineOf(
  record: RunRecord,
  state: RunStatus['state'],
  counts: Record<'planned' | 'ok' | 'failed', number>,
) {
  const { planned, ok, failed } = counts;
  if (state === 'complete') return `Complete: ${ok} of ${counted(planned, 'trial')} measured.`;
  if (state === 'interrupted') {
    const how = record.status === 'running' ? 'Not finished' : 'Interrupted';
    const failures = failed === 0 ? '' : ` ${failed} failed.`;
    return `${how}: ${ok} of ${counted(planned, 'trial')} measured.${failures} Continue with \`bench run --resume ${record.id}\`.`;
  }
  if (ok === 0)
    return `No result: ${planned === 1 ? 'the only trial' : `all ${counted(planned, 'trial')}`} failed.`;
  return `Finished, but ${failed} of ${counted(planned, 'trial')} failed.`;
}

/** Of a run with failed trials: where nothing succeeded, the first failure says whose fault it was. */
function reasonOf(failures: readonly Pick<FailedTrial, 'failure'>[], ok: number): ExitReason {
  const code = failures[0]?.failure.code ?? '';
  return ok === 0 && code in ERROR_CODES ? ERROR_CODES[code as ErrorCode] : 'failedTrials';
}

/** State and exit status of a run of any experiment. */
export function outcomeOf(
  isWhole: boolean,
  failures: readonly Pick<FailedTrial, 'failure'>[],
  ok: number,
): Pick<RunStatus, 'state' | 'exitStatus'> {
  if (!isWhole) return { state: 'interrupted', exitStatus: EXIT_STATUS.interrupted };
  return failures.length === 0
    ? { state: 'complete', exitStatus: EXIT_STATUS.success }
    : { state: 'failed-trials', exitStatus: EXIT_STATUS[reasonOf(failures, ok)] };
}

/** See `RunStatus`. A record that still says `running` counts as interrupted: bench was killed, or is still running. */
export function runStatus(record: RunRecord): RunStatus {
  const sum = (of: 'planned' | 'ok' | 'failed') =>
    record.cases.reduce((total, { trials }) => total + trials[of], 0);
  const [planned, ok, failed] = [sum('planned'), sum('ok'), sum('failed')];
  const isWhole = record.status === 'complete' && ok + failed >= planned;
  const failures = record.trials
    .filter((trial): trial is FailedTrial => trial.status === 'failed')
    .toSorted((a, b) => a.order - b.order);
  const outcome = outcomeOf(isWhole, failures, ok);
  const headline = headlineOf(record, outcome.state, { planned, ok, failed });
  return { ...outcome, headline, ok, failures };
}
