/** Records which tests were left out, and why, and which failed, for the closing lines. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { type Counts, type FailedFile, OUTCOME_FILE, type Outcome } from './failed-files.ts';
import { FOLDER_VARIABLE } from './marks.ts';
import { LEFT_OUT_FILES } from './needs.ts';

export interface LeftOutTests {
  /** Relative to the workspace. */
  readonly file: string;
  readonly count: number;
  /** Empty for tests that are skipped for no stated reason. */
  readonly reasons: readonly string[];
}

export const LEFT_OUT_FILE = 'left-out.json';

type LeftOutFile = Omit<LeftOutTests, 'count'>;

function leftOutFiles(folder: string): LeftOutFile[] {
  const path = join(folder, LEFT_OUT_FILES);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function leftOutOf(module: TestModule, files: readonly LeftOutFile[]): LeftOutTests | null {
  const skipped = [...module.children.allTests('skipped')];
  if (skipped.length === 0) return null;
  const ofFile = files.filter(({ file }) => file === module.moduleId).flatMap(({ reasons }) => reasons);
  const reasons = new Set([...ofFile, ...skipped.flatMap((test) => test.meta().leftOut ?? [])]);
  return { file: relative(process.cwd(), module.moduleId), count: skipped.length, reasons: [...reasons] };
}

function countsOf(modules: readonly TestModule[]): Counts {
  const count = (state: keyof Counts) =>
    modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

function failedFileOf(module: TestModule): FailedFile {
  const tests = [...module.children.allTests('failed')].map((test) => test.fullName);
  return { file: relative(process.cwd(), module.moduleId), tests, ...countsOf([module]) };
}

function outcomeOf(modules: readonly TestModule[]): Outcome {
  const failed = modules.filter((module) => module.state() === 'failed');
  return { ...countsOf(modules), failedFiles: failed.map(failedFileOf) };
}

export default class ClosingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const folder = process.env[FOLDER_VARIABLE];
    if (folder === undefined) return;
    const files = leftOutFiles(folder);
    const leftOut = modules.map((module) => leftOutOf(module, files)).filter((entry) => entry !== null);
    writeFileSync(join(folder, LEFT_OUT_FILE), JSON.stringify(leftOut));
    writeFileSync(join(folder, OUTCOME_FILE), JSON.stringify(outcomeOf(modules)));
  }
}
