/**
 * The one shape of errors for users: a stable code, what failed with the offending value, and the fix. Packages have
 * their own classes and codes; code that shows or handles errors checks only the shape, so that two copies of a
 * package understand each other.
 */
import { EXIT_STATUS, type ExitReason } from './exit-status.ts';

/** One thing that is wrong, and what would be right. */
export interface Problem {
  /** What is wrong, with the offending value. */
  readonly problem: string;
  /** What to do instead, as an imperative. */
  readonly fix: string;
}

export interface ErrorDetails {
  /** At least one, unless `subject` is enough. */
  readonly problems: readonly Problem[];
  /** How many there are, where `problems` has only the first of them. */
  readonly total?: number;
  /** What the problems are about ("the zone set is not valid"); used if there are several. */
  readonly subject?: string;
  /** Lines shown below the message, such as a server's last log lines or all invalid settings. */
  readonly evidence?: readonly string[];
  readonly cause?: unknown;
}

/** An error with a stable `code`, its `problems` with their fixes, and an exit status. */
export class ProgramError<Code extends string = string> extends Error {
  override readonly name: string = 'ProgramError';
  readonly code: Code;
  readonly reason: ExitReason;
  readonly problems: readonly Problem[];
  /** How many problems there are: as many as `problems` lists, or more. */
  readonly total: number;
  readonly evidence: readonly string[];

  constructor(code: Code, reason: ExitReason, details: ErrorDetails) {
    const { problems, evidence = [], cause, total = problems.length } = details;
    super(messageFor(details), cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = reason;
    this.problems = problems;
    this.total = total;
    this.evidence = evidence;
  }

  /** The fixes of all problems, one per line. */
  get fix(): string {
    return this.problems.map(({ fix }) => fix).join('\n');
  }

  get exitStatus(): number {
    return EXIT_STATUS[this.reason];
  }
}

/** The class of a package's errors: its codes, and why a program ends with each. */
export function errorClass<const Codes extends Readonly<Record<string, ExitReason>>>(codes: Codes) {
  return class extends ProgramError<Extract<keyof Codes, string>> {
    /** One problem and its fix; or what is not valid ("the zone set") and its problems, of which there may be one. */
    constructor(
      code: Extract<keyof Codes, string>,
      what: string,
      fix: string | readonly Problem[],
      cause?: unknown,
    ) {
      const problems = typeof fix === 'string' ? [{ problem: what, fix }] : fix;
      super(code, codes[code] as ExitReason, { subject: what, problems, cause });
    }
  };
}

/** If there are several problems, the first line is about all of them. */
function messageFor({ problems, subject, total = problems.length }: ErrorDetails): string {
  const [first, ...others] = problems;
  if (first === undefined) return subject ?? '';
  if (others.length === 0) return first.problem;
  const count = `${total} problems${total > problems.length ? `, the first ${problems.length} of them` : ''}`;
  const head = subject === undefined ? count : `${subject}: ${count}`;
  return `${head}\n${problems.map(({ problem }) => `- ${problem}`).join('\n')}`;
}

/** What every error of this project has, from any package or copy of it. */
export interface Explained extends Error {
  readonly code: string;
  readonly fix: string;
  readonly exitStatus?: number;
  readonly problems?: readonly Problem[];
  readonly evidence?: readonly string[];
}

/** True for an error with a code and a fix. With `codes`, only for one of these. */
export function isExplained(error: unknown, ...codes: readonly string[]): error is Explained {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'fix' in error &&
    typeof error.fix === 'string' &&
    (codes.length === 0 || codes.includes(error.code))
  );
}

/** The exit status of anything thrown; an error without explanation is a bug. */
export function exitStatusOf(error: unknown): number {
  return isExplained(error) ? (error.exitStatus ?? EXIT_STATUS.internal) : EXIT_STATUS.internal;
}

/** The `code` of a Node.js system error (`ENOENT`, `ENOSPC`, …) or any other error that has one, else undefined. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const UNREADABLE: Readonly<Record<string, string>> = { ENOENT: 'does not exist', EISDIR: 'is a directory' };

/** Why a file cannot be read, as the end of a sentence that begins with its path. */
export function whyUnreadable(error: unknown): string {
  return UNREADABLE[systemErrorCode(error) ?? ''] ?? `cannot be read: ${messageOf(error)}`;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
