/** What is wrong with a zone file, where, and what would be right. */
import type { Problem } from '@dinodns-bench/program';
import { ZonesError } from '../errors.ts';

/** A place in a zone file. */
export interface ZoneFilePlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in octets. */
  readonly column: number;
}

/** A problem with its place; `problem` begins with `file:line:column: `. */
export interface ZoneFileProblem extends Problem, ZoneFilePlace {}

/** Thrown where a token cannot be read; whoever knows the file adds the place. */
export class TokenError extends Error {
  readonly fix: string;
  /** Of the token that is wrong; undefined: the one that was read last. */
  readonly token: number | undefined;

  constructor(problem: string, fix: string, token?: number) {
    super(problem);
    this.fix = fix;
    this.token = token;
  }
}

/** Thrown for text that does not even split into tokens; nothing behind it can be read. */
export class LexicalError extends Error {
  readonly fix: string;
  readonly line: number;
  readonly column: number;

  constructor(problem: string, fix: string, line: number, column: number) {
    super(problem);
    this.fix = fix;
    this.line = line;
    this.column = column;
  }
}

export function problemAt(place: ZoneFilePlace, problem: string, fix: string): ZoneFileProblem {
  const { file, line, column } = place;
  return { problem: `${file}:${line}:${column}: ${problem}`, fix, file, line, column };
}

/** A zone file that cannot be used: `problems` have their places. */
export class ZoneFileError extends ZonesError {
  override readonly problems: readonly ZoneFileProblem[];

  constructor(file: string, problems: readonly ZoneFileProblem[]) {
    super('E_ZONE_FILE', `the zone file ${file} cannot be used`, problems);
    this.problems = problems;
  }
}
