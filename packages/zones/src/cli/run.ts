/**
 * The command line: which commands there are, and how everything that goes wrong is shown and becomes an exit
 * status.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { EXIT_STATUS, messageOf, ZonesError } from '../errors.ts';
import { addGenerate } from './generate.ts';
import { addListFormats } from './list-formats.ts';
import { addQueries } from './queries.ts';
import { type CliWorld, OutputClosed, say, writeOut } from './world.ts';

const EXIT_STATUS_HELP = `
Exit status:
  0    done
  1    a bug in this program
  2    the command line or a specification is not valid; nothing was written
  3    a file that is named cannot be read
  7    the output cannot be written; nothing was left behind
  130  stopped by Ctrl-C, 143 by SIGTERM; nothing was left behind`;

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const manifest: unknown = JSON.parse(text);
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version);
  throw new Error('package.json has no version');
}

/** The program, not yet run. What help and version print goes into `printed`. */
function buildProgram(world: CliWorld, printed: string[]): Command {
  const version = packageVersion();
  const program = new Command('dinodns-zones')
    .description('Generates DNS zones, server configurations and query files.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', EXIT_STATUS_HELP)
    .configureOutput({
      writeOut: (text) => {
        printed.push(text);
      },
      writeErr: (text) => {
        world.stderr.write(text);
      },
      getOutHelpWidth: () => 110,
      getErrHelpWidth: () => 110,
    })
    .showSuggestionAfterError()
    .exitOverride();
  for (const command of [
    addGenerate(program, world),
    addQueries(program, world),
    addListFormats(program, world),
  ]) {
    command
      .version(version, '--version', 'print the version')
      .helpOption('-h, --help', 'print this help')
      .addHelpText('after', EXIT_STATUS_HELP);
  }
  return program;
}

/** Runs the command line and resolves with the exit status. Never rejects. */
export async function runCli(args: readonly string[], world: CliWorld): Promise<number> {
  const printed: string[] = [];
  try {
    try {
      await buildProgram(world, printed).parseAsync(args, { from: 'user' });
      return EXIT_STATUS.success;
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      // Commander has already shown what is wrong with the command line.
      if (error.exitCode !== 0) return EXIT_STATUS.usage;
      await writeOut(world, printed);
      return EXIT_STATUS.success;
    }
  } catch (error) {
    return report(error, world);
  }
}

function report(error: unknown, world: CliWorld): number {
  if (error instanceof OutputClosed) return EXIT_STATUS.success;
  if (error instanceof ZonesError) {
    say(world, describe(error));
    return error.exitStatus;
  }
  say(
    world,
    `error: ${messageOf(error)}\n  This is a bug in dinodns-zones; please report it with what follows.`,
  );
  if (error instanceof Error && error.stack !== undefined) say(world, error.stack);
  return EXIT_STATUS.internal;
}

/** Every problem with its fix below it. */
function describe(error: ZonesError): string {
  const [first, ...others] = error.problems;
  if (first === undefined || others.length === 0) return `error: ${error.message}\n  fix: ${error.fix}`;
  const [subject] = error.message.split('\n');
  return [
    `error: ${subject}`,
    ...error.problems.map(({ problem, fix }) => `  - ${problem}\n    fix: ${fix}`),
  ].join('\n');
}
