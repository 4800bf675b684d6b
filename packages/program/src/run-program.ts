/** How a program ends: every error is shown once and becomes an exit status. */
import { exitStatusOf, ProgramError } from './errors.ts';
import { EXIT_STATUS, HELP_COLUMNS } from './exit-status.ts';
import { type Output, OutputClosed, terminalOf, writeOut } from './output.ts';
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

/** Everything that a command line uses of the outside world, so that a test can supply its own. */
export interface ProgramWorld {
  /** Results. */
  readonly stdout: Output;
  /** Everything else. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted, with the error to report, when the user or the system stops the program. */
  readonly signal: AbortSignal;
}

/** The part of a commander `Command` used here. */
interface Commands {
  name(): string;
  version(version: string, flags: string, description: string): this;
  helpOption(flags: string, description: string): this;
  helpCommand(enabled: boolean): this;
  addHelpText(position: 'after', text: string): this;
  showSuggestionAfterError(): this;
  configureOutput(output: {
    writeOut(text: string): void;
    writeErr(text: string): void;
    outputError(): void;
    getOutHelpWidth(): number;
    getErrHelpWidth(): number;
  }): unknown;
  exitOverride(): unknown;
  parseAsync(args: readonly string[], options: { readonly from: 'user' }): Promise<unknown>;
}

export interface CommandSet<Program, World> {
  readonly version: string;
  /** Follows the help of the program and of each command: the exit statuses. */
  readonly helpAfter: string;
  /** Each adds a command and returns it. */
  readonly commands: readonly ((program: Program, world: World) => Program)[];
}

/**
 * Parses a command line, and runs its command if there are any. False if help or the version was requested, and is printed.
 * @throws ProgramError `E_USAGE`, or as the command does.
 */
export async function parseCommands<Program extends Commands, World extends ProgramWorld>(
  args: readonly string[],
  world: World,
  program: Program,
  { version, helpAfter, commands }: CommandSet<Program, World>,
): Promise<boolean> {
  const printed: string[] = [];
  const common = (command: Program) =>
    command
      .version(version, '--version', 'print the version')
      .helpOption('-h, --help', 'print this help')
      .addHelpText('after', helpAfter);
  common(program).helpCommand(false).showSuggestionAfterError();
  program.configureOutput({
    writeOut: (text) => {
      printed.push(text);
    },
    writeErr: (text) => world.stderr.write(text),
    outputError: () => undefined,
    getOutHelpWidth: () => HELP_COLUMNS,
    getErrHelpWidth: () => HELP_COLUMNS,
  });
  program.exitOverride();
  // A subcommand inherits only what was configured before it was added.
  for (const add of commands) common(add(program, world));
  try {
    await program.parseAsync(args, { from: 'user' });
    return true;
  } catch (error) {
    if (isHelpInstead(error)) throw error;
    const listed = commands.length === 0 ? 'the flags' : 'commands and flags';
    if (!isHelp(error)) throw usageError(error, `\`${program.name()} --help\` lists ${listed}`);
    await writeOut(world, printed);
    return false;
  }
}

/** Runs the command line of a program with commands, and resolves with the exit status; never rejects. */
export async function runCommands<Program extends Commands, World extends ProgramWorld>(
  args: readonly string[],
  world: World,
  program: Program,
  set: CommandSet<Program, World>,
): Promise<number> {
  try {
    await parseCommands(args, world, program, set);
    return EXIT_STATUS.success;
  } catch (error) {
    if (isHelpInstead(error)) return EXIT_STATUS.usage;
    return reportError(error, program.name(), world);
  }
}

/** Only the flags that were given: `exactOptionalPropertyTypes` tells "not given" from "given as undefined". */
export function given<T extends object>(flags: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
