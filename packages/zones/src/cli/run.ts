/**
 * The command line: its commands, its error output and its exit status.
 */
import { exitStatusHelp, runCommands, versionIn } from '@dinodns-bench/program';
import { Command } from 'commander';
import { addGenerate } from './generate.ts';
import { addListFormats } from './list-formats.ts';
import type { CliWorld } from './options.ts';
import { addQueries } from './queries.ts';

const EXIT_STATUS_HELP = `${exitStatusHelp(
  ['success', 'internal', 'usage', 'environment', 'output', 'interrupted', 'terminated'],
  { environment: 'an input file cannot be read' },
)}
Whatever goes wrong, nothing is left behind.`;

/** Runs the command line and resolves with the exit status. Never rejects. */
export function runCli(args: readonly string[], world: CliWorld): Promise<number> {
  const program = new Command('dinodns-zones').description(
    'Generates DNS zones, server configurations and query files.',
  );
  return runCommands(args, world, program, {
    version: versionIn(new URL('../../package.json', import.meta.url)),
    helpAfter: EXIT_STATUS_HELP,
    commands: [addGenerate, addQueries, addListFormats],
  });
}
