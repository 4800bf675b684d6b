/**
 * Every error that a user should see is a `LoadError`: a stable code, what failed and the value, and the fix.
 * The code alone decides the exit status.
 */
import { type ExitReason, type Problem, ProgramError, whyUnreadable } from '@dinodns-bench/program';

/** Stable error codes and why the program ends with each. */
export const ERROR_CODES = {
  /** The command line cannot be parsed. */
  E_USAGE: 'usage',
  /** An option's value is not valid, or options contradict one another. */
  E_OPTIONS: 'usage',
  /** An invalid domain name, or an unknown record type. */
  E_NAME: 'usage',
  /** A query file is empty or broken; the message has the line number. */
  E_QUERY_FILE: 'usage',
  /** The workload's options are not valid. */
  E_WORKLOAD: 'usage',
  /** A capture file is damaged, of another kind, or has no queries. */
  E_PCAP: 'usage',
  /** A given file cannot be read. */
  E_UNREADABLE: 'environment',
  /** No descriptors, ports or memory left for the requested sockets. */
  E_LIMIT: 'environment',
  /** The system denies permission. */
  E_PERMISSION: 'environment',
  /** A source address is not one of this machine's, or a port is taken. */
  E_SOURCE: 'environment',
  /** The server's name has no address. */
  E_RESOLVE: 'server',
  /** No connection could be made, or no route leads there. */
  E_UNREACHABLE: 'server',
  /** No query was answered. */
  E_NO_ANSWER: 'server',
  /** No answer was as `--expect` says. */
  E_UNEXPECTED: 'server',
  E_WRITE_FAILED: 'output',
  E_INTERRUPTED: 'interrupted',
  E_TERMINATED: 'terminated',
} as const satisfies Record<string, ExitReason>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error with a stable `code`, all of its `problems`, their `fix` and an exit status. */
export class LoadError extends ProgramError<ErrorCode> {
  override readonly name = 'LoadError';

  /** `total`: how many problems there are, where these are only the first. */
  constructor(
    code: ErrorCode,
    problems: readonly Problem[],
    { cause, total }: { readonly cause?: unknown; readonly total?: number } = {},
  ) {
    super(code, ERROR_CODES[code], { problems, cause, total: total ?? problems.length });
  }
}

/** A `LoadError` with one problem. */
export function loadError(code: ErrorCode, problem: string, fix: string, cause?: unknown): LoadError {
  return new LoadError(code, [{ problem, fix }], { cause });
}

/** The error for a file that cannot be read. */
export function unreadable(path: string, error: unknown): LoadError {
  return loadError(
    'E_UNREADABLE',
    `${path} ${whyUnreadable(error)}`,
    'give a file that this user can read',
    error,
  );
}
