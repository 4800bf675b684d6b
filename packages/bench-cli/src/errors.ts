/**
 * Everything that can go wrong in a way a user should read about is a `BenchError`: what failed, the value
 * that failed, and what to do about it. The code is stable (tests and scripts match on it, not on the
 * text), and it alone decides the exit status. See `EXIT_STATUS` for the documented list.
 */

/** Exit statuses of `bench`. 130 and 143 follow the shell's convention of 128 + signal number. */
export const EXIT_STATUS = {
  success: 0,
  /** A bug in bench itself: an exception nobody expected. */
  internal: 1,
  /** The command line, the environment or a configuration file asks for something impossible. */
  usage: 2,
  /** The machine lacks something the run needs: a tool, a right, a free port, disk space. */
  environment: 3,
  /** No trial succeeded, because a server under test did not start, died, or answered wrongly. */
  server: 4,
  /** The run finished, but at least one of its trials failed; the report says which and why. */
  failedTrials: 5,
  /** A record cannot be read: missing, damaged, of another schema version, or not a record at all. */
  record: 6,
  /** `bench gate`: a figure is shown to be worse than tolerated. */
  regression: 7,
  /** `bench gate --strict`: too few trials to tell whether a figure is worse than tolerated. */
  undecided: 8,
  /** Ctrl-C (SIGINT). What was measured so far is saved. */
  interrupted: 130,
  /** SIGTERM. What was measured so far is saved. */
  terminated: 143,
} as const;

export type ExitReason = keyof typeof EXIT_STATUS;

/** Stable error codes and the exit reason each belongs to. */
export const ERROR_CODES = {
  E_USAGE: 'usage',
  E_CONFIG: 'usage',
  E_UNKNOWN_SERVER: 'usage',
  E_TOOL_MISSING: 'environment',
  E_PROVISION_FAILED: 'environment',
  E_PORT_TAKEN: 'environment',
  E_DISK_FULL: 'environment',
  E_WRITE_FAILED: 'environment',
  E_LIMITS_UNAVAILABLE: 'environment',
  E_UNSUPPORTED_PLATFORM: 'environment',
  E_CLUSTER_UNREACHABLE: 'environment',
  E_CLUSTER_FORBIDDEN: 'environment',
  E_CLUSTER_QUOTA: 'environment',
  E_CLUSTER_REFUSED: 'environment',
  E_CLUSTER_LEFTOVERS: 'environment',
  E_POD_IMAGE: 'environment',
  E_POD_UNSCHEDULABLE: 'environment',
  E_POD_TIMEOUT: 'environment',
  E_SERVER_START: 'server',
  E_SERVER_DIED: 'server',
  E_WRONG_ANSWER: 'server',
  E_LOADER_FAILED: 'failedTrials',
  E_ALL_LOST: 'failedTrials',
  E_RESPONSE_CODES: 'failedTrials',
  E_NO_RATE: 'failedTrials',
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
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly code: ErrorCode;
  readonly fix: string;
  readonly evidence: readonly string[];

  constructor(code: ErrorCode, message: string, details: BenchErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.fix = details.fix;
    this.evidence = details.evidence ?? [];
  }

  get exitStatus(): number {
    return EXIT_STATUS[ERROR_CODES[this.code]];
  }
}

/** The `code` of a Node.js system error (`ENOENT`, `ENOSPC`, …), or undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
