/**
 * Files with failed tests. On a shared machine a neighbour can make a test miss its time, so CI runs such files once
 * more, alone: what fails twice is a fault. What passed only then is named in the closing lines, so that nobody forgets it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const OUTCOME_FILE = 'outcome.json';

/** Given before the arguments of vitest: failed files are run once more. */
export const AGAIN_FLAG = '--again';

/** More files than this fail for a common reason; a second run would only take time. */
const MAX_FILES = 5;

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface FailedFile extends Counts {
  /** Relative to the workspace. */
  readonly file: string;
  /** Names of the tests that failed; empty if the file itself did, before its tests. */
  readonly tests: readonly string[];
}

/** Of one run of vitest. */
export interface Outcome extends Counts {
  readonly failedFiles: readonly FailedFile[];
}

/** What the reporter wrote into the runner's folder; null if vitest ended before. */
export function readOutcome(folder: string): Outcome | null {
  const path = join(folder, OUTCOME_FILE);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}

/** Whether a second run of the failed files can tell chance from fault. */
export function isWorthRepeating({ failedFiles }: Outcome): boolean {
  return failedFiles.length > 0 && failedFiles.length <= MAX_FILES;
}

/** As vitest's own closing line, which counts only one of the two runs. */
export function totalLine(first: Outcome, again: Outcome): string {
  const of = (state: keyof Counts) =>
    first[state] - first.failedFiles.reduce((sum, file) => sum + file[state], 0) + again[state];
  const parts = (['failed', 'passed', 'skipped'] as const)
    .map((state) => ({ state, count: of(state) }))
    .filter(({ count }) => count > 0);
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  return `      Tests  ${parts.map(({ state, count }) => `${count} ${state}`).join(' | ')} (${total})`;
}

function listed({ file, tests }: FailedFile): string[] {
  return tests.length === 0 ? [`  ${file}`] : tests.map((test) => `  ${file}: ${test}`);
}

/** The failed tests once more, because they are far up in the log; `again` are the files that failed a second time. */
export function failedLines(failed: readonly FailedFile[], again: readonly FailedFile[] | null): string[] {
  if (failed.length === 0) return [];
  if (again === null) return ['Failed:', ...failed.flatMap(listed)];
  const passed = failed.filter(({ file }) => !again.some((other) => other.file === file));
  return [
    ...(again.length === 0 ? [] : ['Failed twice:', ...again.flatMap(listed)]),
    ...(passed.length === 0 ? [] : ['Failed at first, and passed alone:', ...passed.flatMap(listed)]),
  ];
}
