/** Text for people on standard output: folded to the width of a terminal, and as it is for programs. */
import { foldLines } from '../text.ts';
import type { World } from '../world.ts';

const DEFAULT_COLUMNS = 80;

export function writeText({ stdout }: Pick<World, 'stdout'>, text: string): void {
  stdout.write(stdout.isTerminal ? foldLines(text, stdout.columns ?? DEFAULT_COLUMNS) : text);
}
