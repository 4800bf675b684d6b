/**
 * Every failure that a user should read about is a `BenchError`: what failed, the value that failed, and the fix.
 * The code is stable (tests and scripts match on it, not on the text), and it alone decides the exit status.
 */
import { type ExitReason, messageOf, nearest, ProgramError } from '@dinodns-bench/program';

/** Stable error codes and the exit reason each belongs to. */
export const ERROR_CODES = {
  E_USAGE: 'usage',
  E_CONFIG: 'usage',
  E_UNKNOWN_SERVER: 'usage',
  E_UNREADABLE: 'environment',
  E_TOOL_MISSING: 'environment',
  E_PROVISION_FAILED: 'environment',
  E_PORT_TAKEN: 'environment',
  E_DISK_FULL: 'output',
  E_WRITE_FAILED: 'output',
  E_LIMITS_UNAVAILABLE: 'environment',
  E_UNSUPPORTED_PLATFORM: 'environment',
  E_CLUSTER_UNREACHABLE: 'environment',
  E_CLUSTER_FORBIDDEN: 'environment',
  E_CLUSTER_QUOTA: 'environment',
  E_CLUSTER_REFUSED: 'environment',
  E_CLUSTER_LEFTOVERS: 'environment',
  E_CLUSTER_BUSY: 'environment',
  E_CLUSTER_CHANGED: 'failedTrials',
  E_LEASE_LOST: 'environment',
  E_POD_IMAGE: 'environment',
  E_POD_UNSCHEDULABLE: 'environment',
  E_POD_TIMEOUT: 'environment',
  E_SERVER_START: 'server',
  E_SERVER_DIED: 'server',
  E_NO_ANSWER: 'server',
  E_WRONG_ANSWER: 'server',
  E_QUERIES_LOST: 'server',
  E_LOADER_FAILED: 'failedTrials',
  E_ALL_LOST: 'failedTrials',
  E_RESPONSE_CODES: 'failedTrials',
  E_NO_RATE: 'failedTrials',
  E_NO_FIGURES: 'failedTrials',
  E_TRIALS_FAILED: 'failedTrials',
  E_RECORD_UNREADABLE: 'record',
  E_RECORD_FOREIGN: 'record',
  E_RECORD_VERSION: 'record',
  E_INTERRUPTED: 'interrupted',
  E_TERMINATED: 'terminated',
  E_INTERNAL: 'internal',
} as const satisfies Record<string, ExitReason>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface BenchErrorDetails {
  /** What the user can do about it, as an imperative sentence. */
  fix: string;
  /** Evidence shown below the message: the last log lines of a server, the list of all problems. */
  evidence?: readonly string[];
  cause?: unknown;
}

/** An error with a stable `code`, a `fix` and an exit status. */
export class BenchError extends ProgramError<ErrorCode> {
  override readonly name = 'BenchError';

  constructor(code: ErrorCode, message: string, { fix, evidence, cause }: BenchErrorDetails) {
    super(code, ERROR_CODES[code], {
      problems: [{ problem: message, fix }],
      evidence: evidence ?? [],
      cause,
    });
  }
}

/** A server that runs takes too long for something, while the programs that measure it work. */
export class LateError extends BenchError {}

/** That a cluster lacks something, or does not let it be done. */
export const clusterRefuses = (problem: string, fix: string) =>
  new BenchError('E_CLUSTER_REFUSED', problem, { fix });

/** Of what was asked for: a problem and its fix, or false where there is none. */
export type Refusal = readonly [problem: string, fix: string] | false;

/** @throws BenchError `E_CONFIG` for the first of them, with all others */
export function refuse(...refusals: readonly Refusal[]): void {
  const [first, ...others] = refusals.filter((each) => each !== false);
  if (first === undefined) return;
  const [problem, fix] = first;
  throw new BenchError('E_CONFIG', problem, { evidence: others.map(([other]) => other), fix });
}

/** What `work` resolves with; null where it fails with one of these codes. */
export async function orNull<T>(codes: readonly ErrorCode[], work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BenchError && codes.includes(error.code)) return null;
    throw error;
  }
}

/** What failed, in the order in which it happened: several steps of a disposal may have, and what came before it. */
export function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof SuppressedError
    ? [...errorsOf(error.suppressed), ...errorsOf(error.error)]
    : [error];
}

/** One error that says all: the first is why it ended, so its code counts. */
export function joined(errors: readonly unknown[]): unknown {
  if (errors.length < 2) return errors[0];
  const known = errors.filter((error) => error instanceof BenchError);
  return new BenchError(known[0]?.code ?? 'E_INTERNAL', errors.map(messageOf).join('; '), {
    evidence: known.flatMap(({ evidence }) => evidence),
    fix: [...new Set(known.map(({ fix }) => fix))].join(' ') || 'Report this bug.',
    cause: errors[0],
  });
}

/** Of what cannot be, unless bench itself is wrong. */
export const internalError = (problem: string) =>
  new BenchError('E_INTERNAL', problem, { fix: 'Report this bug.' });

/** The fix for a name that is none of those that are known. */
export function choiceFix(name: string, known: readonly string[]): string {
  const suggestion = nearest(name, known);
  return suggestion === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean "${suggestion}"?`;
}
