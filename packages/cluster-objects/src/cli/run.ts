/** The command line: its commands, its error output and its exit status. */
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
import { addCorefile, addObjects, addQueries } from './print.ts';
import { addApi, addUpstream } from './serve.ts';
import type { CliWorld } from './world.ts';

const EXIT_STATUS_HELP = exitStatusHelp(
  ['success', 'internal', 'usage', 'environment', 'output', 'interrupted', 'terminated'],
  { success: 'done; or a server was stopped', environment: 'the address or the port cannot be used' },
);

const READY_HELP = `
When it serves, it prints one line: {"ready":true,"address":"127.0.0.1","port":8001,"pid":4711,…}. It stops on SIGTERM and
Ctrl-C, and when npx or pnpm, which started it, has ended.`;

/** The program, not yet run. The output of help and version goes into `printed`. */
function buildProgram(world: CliWorld, printed: string[]): Command {
  const version = versionIn(new URL('../../package.json', import.meta.url));
  const program = new Command('dinodns-cluster')
    .description('A Kubernetes cluster for CoreDNS without a cluster.')
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
  const servers = [addApi(program, world), addUpstream(program, world)];
  for (const command of servers) command.addHelpText('after', READY_HELP);
  for (const command of [
    ...servers,
    addCorefile(program, world),
    addQueries(program, world),
    addObjects(program, world),
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
      if (!isHelp(error)) throw usageError(error, '`dinodns-cluster --help` lists commands and flags');
      await writeOut(world, printed);
    });
    return EXIT_STATUS.success;
  } catch (error) {
    if (isHelpInstead(error)) return EXIT_STATUS.usage;
    return reportError(error, 'dinodns-cluster', world);
  }
}
