/** How a program ends: every error is shown once and becomes an exit status. */
import { exitStatusOf, ProgramError } from './errors.ts';
import { EXIT_STATUS } from './exit-status.ts';
import { OutputClosed, terminalOf } from './output.ts';
import { renderError } from './render-error.ts';

/** What commander throws after `exitOverride()`. */
interface CommandLineEnd extends Error {
  readonly exitCode: number;
  readonly code: string;
}

function isCommandLineEnd(error: unknown): error is CommandLineEnd {
  return error instanceof Error && error.name === 'CommanderError' && 'exitCode' in error;
}

/** True if commander ended because help or the version was requested. */
export function isHelp(error: unknown): boolean {
  return isCommandLineEnd(error) && error.exitCode === 0;
}

/** True if a command was missing, and commander wrote the help to standard error instead. */
export function isHelpInstead(error: unknown): boolean {
  return isCommandLineEnd(error) && error.exitCode !== 0 && error.code === 'commander.help';
}

/** Converts commander's errors to `E_USAGE`, with its suggestion or else `fix`; returns others unchanged. */
export function usageError(error: unknown, fix: string): unknown {
  if (!isCommandLineEnd(error)) return error;
  const [problem = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const hint = rest.join(' ').replace(/[()]/g, '').trim();
  return new ProgramError('E_USAGE', 'usage', { problems: [{ problem, fix: hint === '' ? fix : hint }] });
}

export interface ProgramStreams {
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
  /** For `NO_COLOR` and `TERM`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Shows an error on standard error and returns its exit status. `OutputClosed` is not an error. */
export function reportError(error: unknown, program: string, { stderr, env = {} }: ProgramStreams): number {
  if (error instanceof OutputClosed) return EXIT_STATUS.success;
  stderr.write(renderError(error, { program, colours: terminalOf(stderr, env).colours }));
  return exitStatusOf(error);
}
