/**
 * The command line: its commands, its error output and its exit status.
 */
import {
  EXIT_STATUS,
  exitStatusHelp,
  isHelp,
  isHelpInstead,
  reportError,
  usageError,
  versionIn,
  writeOut,
} from '@dinodns-bench/program';
import { Command } from 'commander';
import { addGenerate } from './generate.ts';
import { addListFormats } from './list-formats.ts';
import { addQueries } from './queries.ts';
import type { CliWorld } from './world.ts';

const EXIT_STATUS_HELP = `${exitStatusHelp(
  ['success', 'internal', 'usage', 'environment', 'output', 'interrupted', 'terminated'],
  { environment: 'an input file cannot be read' },
)}
Whatever goes wrong, nothing is left behind.`;

/** The program, not yet run. The output of help and version goes into `printed`. */
function buildProgram(world: CliWorld, printed: string[]): Command {
  const version = versionIn(new URL('../../package.json', import.meta.url));
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
      writeErr: (text) => world.stderr.write(text),
      outputError: () => undefined,
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
  const program = buildProgram(world, printed);
  try {
    await program.parseAsync(args, { from: 'user' }).catch(async (error: unknown) => {
      if (isHelpInstead(error)) throw error;
      if (!isHelp(error)) throw usageError(error, '`dinodns-zones --help` lists commands and flags');
      await writeOut(world, printed);
    });
    return EXIT_STATUS.success;
  } catch (error) {
    if (isHelpInstead(error)) return EXIT_STATUS.usage;
    return reportError(error, 'dinodns-zones', world);
  }
}
