/** What people and programs read: text, folded to the width of a terminal, JSON, and errors. */
import { reportError } from '@dinodns-bench/program';
import { foldLines } from './text.ts';
import type { World } from './world.ts';

const DEFAULT_COLUMNS = 80;

export function writeText({ stdout }: Pick<World, 'stdout'>, text: string): void {
  stdout.write(stdout.isTerminal ? foldLines(text, stdout.columns ?? DEFAULT_COLUMNS) : text);
}

/** Returns the exit status that the error stands for. */
export function printError({ stderr, env }: Pick<World, 'stderr' | 'env'>, error: unknown): number {
  return reportError(error, 'bench', { stderr: { write: stderr.write, isTTY: stderr.isTerminal }, env });
}

export function printJson({ stdout }: Pick<World, 'stdout'>, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
