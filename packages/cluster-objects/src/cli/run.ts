/** The command line: its commands, its error output and its exit status. */
import { exitStatusHelp, type ProgramWorld, runCommands, versionIn } from '@dinodns-bench/program';
import { Command } from 'commander';
import { addCorefile, addObjects, addQueries } from './print.ts';
import { addApi, addUpstream } from './serve.ts';

const EXIT_STATUS_HELP = exitStatusHelp(
  ['success', 'internal', 'usage', 'environment', 'output', 'interrupted', 'terminated'],
  { success: 'done; or a server was stopped', environment: 'the address or the port cannot be used' },
);

const READY_HELP = `
When it serves, it prints one line: {"ready":true,"address":"127.0.0.1","port":8001,"pid":4711,…}. It stops on SIGTERM and
Ctrl-C, and when npx or pnpm, which started it, has ended.`;

/** Runs the command line and resolves with the exit status. Never rejects. */
export function runCli(args: readonly string[], world: ProgramWorld): Promise<number> {
  const version = versionIn(new URL('../../package.json', import.meta.url));
  const common = (command: Command) =>
    command
      .version(version, '--version', 'print the version')
      .helpOption('-h, --help', 'print this help')
      .addHelpText('after', EXIT_STATUS_HELP);
  const program = common(new Command('dinodns-cluster'))
    .description('A Kubernetes cluster for CoreDNS without a cluster.')
    .helpCommand(false)
    .showSuggestionAfterError();
  return runCommands(args, world, program, () => {
    for (const add of [addApi, addUpstream]) common(add(program, world).addHelpText('after', READY_HELP));
    for (const add of [addCorefile, addQueries, addObjects]) common(add(program, world));
  });
}
