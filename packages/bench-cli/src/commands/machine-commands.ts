/** The flags of the commands about this machine or a cluster: servers, doctor, cleanup. */
import { type Command, Option } from 'commander';
import type { Call } from '../engine/registered.ts';
import { checkServerCommand } from './check-server.ts';
import { cleanupCommand, cleanupOptions } from './cleanup.ts';
import { doctorCommand } from './doctor.ts';
import { serversCommand } from './servers.ts';

export function addMachineCommands(program: Command, call: Call): void {
  const { world } = call;
  program
    .command('servers')
    .description('list the servers that can be compared, and whether they are installed')
    .option('--check <server>', 'start this one and check its answers, as a run would: my=./server.yaml')
    .option('--json', 'as JSON')
    .action(async (values: { check?: string; json?: boolean }) => {
      const options = { json: values.json === true };
      call.status =
        values.check === undefined
          ? await serversCommand(world, options)
          : await checkServerCommand(world, values.check, options);
    });
  program
    .command('doctor')
    .description('check what this machine has and what it lacks')
    .option('--fix', 'install the missing tools')
    .addOption(
      new Option('--for <what>', 'what it is looked at for: a run, or the tests of this workspace')
        .choices(['run', 'tests'])
        .default('run'),
    )
    .option('--json', 'as JSON')
    .action(async (values: { fix?: boolean; for: 'run' | 'tests'; json?: boolean }) => {
      call.status = await doctorCommand(world, {
        for: values.for,
        fix: values.fix === true,
        json: values.json === true,
      });
    });
  program
    .command('cleanup')
    .description('remove from a cluster what killed runs left behind')
    .option('--run <id>', 'this run, even if its bench may still be running')
    .option('--older-than <time>', 'runs older than this, also from other machines: 1h')
    .option('--dry-run', 'list what would be removed, remove nothing')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--json', 'as JSON')
    .action(async (values: Record<string, unknown>) => {
      call.status = await cleanupCommand(world, cleanupOptions(values));
    });
}
