/** What goes to standard output: text for people, folded to the width of a terminal, and JSON for programs. */
import { foldLines } from '../text.ts';
import type { World } from '../world.ts';

const DEFAULT_COLUMNS = 80;

export function writeText({ stdout }: Pick<World, 'stdout'>, text: string): void {
  stdout.write(stdout.isTerminal ? foldLines(text, stdout.columns ?? DEFAULT_COLUMNS) : text);
}

export function printJson({ stdout }: Pick<World, 'stdout'>, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
