/**
 * Everything that can go wrong in a way a user should read about is a `ZonesError`: a stable code, and for
 * every single problem what is wrong and what would be right. The code alone decides the exit status.
 */

/** Exit statuses of `dinodns-zones`. 130 and 143 follow the shell's convention of 128 + signal number. */
export const EXIT_STATUS = {
  success: 0,
  /** A bug in this package: an exception nobody expected. */
  internal: 1,
  /** The command line, a specification or a file asks for something impossible. Nothing was written. */
  usage: 2,
  /** The machine lacks something: a file that is named cannot be read. */
  environment: 3,
  /** The output cannot be written: no right, no space, not a directory. Nothing was left behind. */
  output: 7,
  /** Ctrl-C (SIGINT). Nothing was left behind. */
  interrupted: 130,
  /** SIGTERM. Nothing was left behind. */
  terminated: 143,
} as const;

/** Stable error codes and the exit status each belongs to. */
export const ERROR_CODES = {
  /** A command line that cannot be understood. */
  E_USAGE: 'usage',
  /** A zone set's specification is not valid. */
  E_ZONE_SET: 'usage',
  /** A workload's specification is not valid. */
  E_WORKLOAD: 'usage',
  /** There is no format of that name. */
  E_UNKNOWN_FORMAT: 'usage',
  /** The format cannot hold the zone set's records, or a render option is not valid. */
  E_FORMAT: 'usage',
  /** A configuration file is not valid JSON. */
  E_CONFIG: 'usage',
  /** A `zones.ndjson` file is damaged, shortened, of another version or something else. */
  E_ZONES_FILE: 'usage',
  E_UNREADABLE: 'environment',
  E_WRITE_FAILED: 'output',
  E_INTERRUPTED: 'interrupted',
  E_TERMINATED: 'terminated',
} as const satisfies Record<string, keyof typeof EXIT_STATUS>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One thing that is wrong, and what would be right. */
export interface Problem {
  /** What is wrong, with the offending value. */
  readonly problem: string;
  /** What to write instead, as an imperative sentence without a full stop. */
  readonly fix: string;
}

/** An error with a stable `code`, all of its `problems`, their `fix` and an exit status. */
export class ZonesError extends Error {
  override readonly name = 'ZonesError';
  readonly code: ErrorCode;
  /** Never empty. */
  readonly problems: readonly Problem[];

  /** `subject` says what is not valid ("the zone set"); it is used when there is more than one problem. */
  constructor(code: ErrorCode, subject: string, problems: readonly Problem[], cause?: unknown) {
    super(messageFor(subject, problems), cause === undefined ? undefined : { cause });
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

function messageFor(subject: string, problems: readonly Problem[]): string {
  const [first, ...others] = problems;
  if (first === undefined) return subject;
  if (others.length === 0) return first.problem;
  return `${subject}: ${problems.length} problems\n${problems.map(({ problem }) => `- ${problem}`).join('\n')}`;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
