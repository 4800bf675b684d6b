/** The command line: its commands, its error output and its exit status. */
import { exitStatusHelp, type ProgramWorld, runCommands, versionIn } from '@dinodns-bench/program';
import { Command } from 'commander';
import { addCorefile, addObjects, addQueries } from './print.ts';
import { addApi, addUpstream } from './serve.ts';

const EXIT_STATUS_HELP = exitStatusHelp(
  ['success', 'internal', 'usage', 'environment', 'output', 'interrupted', 'terminated'],
  { success: 'done; or a server was stopped', environment: 'the address or the port cannot be used' },
);

/** Runs the command line and resolves with the exit status. Never rejects. */
export function runCli(args: readonly string[], world: ProgramWorld): Promise<number> {
  const program = new Command('dinodns-cluster').description(
    'A Kubernetes cluster for CoreDNS without a cluster.',
  );
  return runCommands(args, world, program, {
    version: versionIn(new URL('../../package.json', import.meta.url)),
    helpAfter: EXIT_STATUS_HELP,
    commands: [addApi, addUpstream, addCorefile, addQueries, addObjects],
  });
}
