/**
 * Everything that can go wrong in a way a user should read about is a `LoadError`: a stable code, what failed
 * with the value, and what to do about it. The code alone decides the exit status.
 */

/** Exit statuses of `dnscannon`. 130 and 143 follow the shell's convention of 128 + signal number. */
export const EXIT_STATUS = {
  success: 0,
  /** A bug in this package: an exception nobody expected. */
  internal: 1,
  /** The command line, an option or a query file is not valid. Nothing was sent. */
  usage: 2,
  /** The machine lacks something: a right, descriptors, a readable file, an address. Nothing was sent. */
  environment: 3,
  /** The server cannot be found or reached, or none of the queries was answered. The result is printed. */
  server: 4,
  /** A threshold of `--fail-if` was crossed. The result is printed. */
  threshold: 5,
  /** The output cannot be written. */
  output: 7,
  /** Ctrl-C (SIGINT). The result so far is printed. */
  interrupted: 130,
  /** SIGTERM. The result so far is printed. */
  terminated: 143,
} as const;

/** Stable error codes and the exit status each belongs to. */
export const ERROR_CODES = {
  /** A command line that cannot be understood. */
  E_USAGE: 'usage',
  /** An option's value is not valid, or options contradict one another. */
  E_OPTIONS: 'usage',
  /** A name that is no domain name, or a type that does not exist. */
  E_NAME: 'usage',
  /** A query file is empty or broken; the message has the line number. */
  E_QUERY_FILE: 'usage',
  /** The workload's options are not valid. */
  E_WORKLOAD: 'usage',
  /** A capture file is damaged, of another kind, or has no queries. */
  E_PCAP: 'usage',
  /** A file that is named cannot be read. */
  E_UNREADABLE: 'environment',
  /** No descriptors, ports or memory left for the sockets asked for. */
  E_LIMIT: 'environment',
  /** The system forbids what is asked for. */
  E_PERMISSION: 'environment',
  /** A source address is not one of this machine's, or a port is taken. */
  E_SOURCE: 'environment',
  /** The server's name has no address. */
  E_RESOLVE: 'server',
  /** No connection could be made, or no route leads there. */
  E_UNREACHABLE: 'server',
  /** Not one query was answered. */
  E_NO_ANSWER: 'server',
  E_WRITE_FAILED: 'output',
  E_INTERRUPTED: 'interrupted',
  E_TERMINATED: 'terminated',
} as const satisfies Record<string, keyof typeof EXIT_STATUS>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One thing that is wrong, and what would be right. */
export interface Problem {
  /** What is wrong, with the offending value. */
  readonly problem: string;
  /** What to do instead, as an imperative sentence without a full stop. */
  readonly fix: string;
}

/** An error with a stable `code`, all of its `problems`, their `fix` and an exit status. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
  readonly code: ErrorCode;
  /** Never empty. */
  readonly problems: readonly Problem[];

  constructor(code: ErrorCode, problems: readonly [Problem, ...Problem[]], cause?: unknown) {
    const [first, ...others] = problems;
    const message =
      others.length === 0
        ? first.problem
        : `${problems.length} problems\n${problems.map(({ problem }) => `- ${problem}`).join('\n')}`;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.problems = problems;
  }

  /** The fixes of all problems, one on each line. */
  get fix(): string {
    return this.problems.map(({ fix }) => fix).join('\n');
  }

  get exitStatus(): number {
    return EXIT_STATUS[ERROR_CODES[this.code]];
  }
}

/** A `LoadError` with one problem. */
export function loadError(code: ErrorCode, problem: string, fix: string, cause?: unknown): LoadError {
  return new LoadError(code, [{ problem, fix }], cause);
}

/** The `code` of a Node.js system error (`ENOENT`, `EMFILE`, …), or undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
