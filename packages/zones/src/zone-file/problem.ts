/** Problems in zone files: what is wrong, where, and how to fix it. */
import type { Problem } from '@dinodns-bench/program';
import { ZonesError } from '../errors.ts';

/** A place in a zone file. */
export interface ZoneFilePlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in bytes. */
  readonly column: number;
}

/** A problem with its place; `problem` begins with `file:line:column: `. */
export interface ZoneFileProblem extends Problem, ZoneFilePlace {}

/** Thrown for a token that is not valid; the parser adds the place. */
export class TokenError extends Error {
  readonly fix: string;
  /** Index of the token in its entry; undefined for the one that was read last. */
  readonly token: number | undefined;

  constructor(problem: string, fix: string, token?: number) {
    super(problem);
    this.fix = fix;
    this.token = token;
  }
}

/** Thrown for text that cannot be split into tokens, so that the rest of the file cannot be read. */
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

/** Thrown for a zone file that cannot be used; each of its `problems` has a place. */
export class ZoneFileError extends ZonesError {
  override readonly problems: readonly ZoneFileProblem[];

  constructor(file: string, problems: readonly ZoneFileProblem[]) {
    super('E_ZONE_FILE', `the zone file ${file} cannot be used`, problems);
    this.problems = problems;
  }
}
