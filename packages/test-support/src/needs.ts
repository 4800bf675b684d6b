/** How a test declares what it needs beyond the workspace. */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, type TestOptions } from 'vitest';
import { FOLDER_VARIABLE } from './marks.ts';
import { findProgram, type Program, problemWith, type Requirement, suiteOf } from './requirements.ts';
import type { Suite } from './suites.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The suite of the running test file. */
    readonly suite: Suite;
  }
  interface TaskMeta {
    /** Why the test is left out, if it is. */
    leftOut?: readonly string[];
  }
}

/** Without this, tests whose needs are missing are skipped; with it, as in CI, a missing need is an error. */
export const REQUIRE_VARIABLE = 'DINODNS_BENCH_REQUIRE_SERVERS';

/**
 * Options for `it` or `describe`: `it('…', needs('dig', 'named'), async () => …)`. If one is missing, the tests are
 * left out, and the last lines of the run say so. Throws if such tests belong to another suite, and, with
 * `DINODNS_BENCH_REQUIRE_SERVERS=1`, if anything is missing.
 */
export function needs(...requirements: readonly Requirement[]): TestOptions {
  const suite = inject('suite');
  for (const requirement of requirements) {
    const owner = suiteOf(requirement);
    if (owner !== suite) {
      throw new Error(
        `A test of the suite "${suite}" needs ${requirement}. Move it to a file named *.${owner}.test.ts, which "pnpm test:${owner}" runs.`,
      );
    }
  }
  const leftOut = requirements.map(problemWith).filter((problem) => problem !== null);
  if (leftOut.length === 0) return {};
  if (process.env[REQUIRE_VARIABLE] === '1') {
    throw new Error(`${leftOut.join(', ')}, and ${REQUIRE_VARIABLE}=1 lets nothing be left out.`);
  }
  return { skip: true, meta: { leftOut } };
}

/** The same for a file that no program brings along: without it, or without a path, the test is left out. */
export function needsFile(path: string | undefined, reason: string): TestOptions {
  return path !== undefined && existsSync(path) ? {} : { skip: true, meta: { leftOut: [reason] } };
}

/** In the folder of the run: a line of JSON for each file that is left out as a whole. */
export const LEFT_OUT_FILES = 'left-out-files.jsonl';

export interface FileApi {
  readonly it: ReturnType<typeof it.skipIf>;
  readonly describe: ReturnType<typeof describe.skipIf>;
}

/**
 * For a file whose tests all have the same needs: `const { describe, it } = fileNeeds('named')` replaces the imports
 * from vitest. Hooks of a file that is left out do not run.
 */
export function fileNeeds(...requirements: readonly Requirement[]): FileApi {
  const { skip, meta } = needs(...requirements);
  if (skip !== true) return { it: it.skipIf(false), describe: describe.skipIf(false) };
  const folder = process.env[FOLDER_VARIABLE];
  if (folder !== undefined) {
    const line = { file: expect.getState().testPath, reasons: meta?.leftOut ?? [] };
    appendFileSync(join(folder, LEFT_OUT_FILES), `${JSON.stringify(line)}\n`);
  }
  return { it: it.skipIf(true), describe: describe.skipIf(true) };
}

/** The path of a program that the test has declared with `needs`. */
export function pathOf(program: Program): string {
  const path = findProgram(program);
  if (path === undefined) throw new Error(`${program} is missing: declare it with needs('${program}')`);
  return path;
}
