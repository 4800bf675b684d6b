/** The flags of the commands about this machine or a cluster: servers, doctor, cleanup. */
import { type Command, Option } from 'commander';
import type { Call } from '../engine/registered.ts';
import type { CleanupOptions } from './cleanup.ts';
import type { DoctorOptions } from './doctor.ts';

export function addServers(program: Command, call: Call): void {
  program
    .command('servers')
    .option('--check <server>', 'start this one and check its answers, as a run would: my=./server.yaml')
    .option('--json', 'as JSON')
    .action(async ({ check, json = false }: { check?: string; json?: boolean }) => {
      if (check === undefined) {
        const { serversCommand } = await import('./servers.ts');
        call.status = await serversCommand(call.world, { json });
      } else {
        const { checkServerCommand } = await import('./check-server.ts');
        call.status = await checkServerCommand(call.world, check, { json });
      }
    });
}

export function addDoctor(program: Command, call: Call): void {
  program
    .command('doctor')
    .option('--fix', 'install the missing tools')
    .addOption(
      new Option('--for <what>', 'check requirements for: run, tests')
        .choices(['run', 'tests'])
        .default('run'),
    )
    .option('--json', 'as JSON')
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import('./doctor.ts');
      call.status = await doctorCommand(call.world, options);
    });
}

export function addCleanup(program: Command, call: Call): void {
  program
    .command('cleanup')
    .option('--run <id>', 'this run, even if its bench may still be running')
    .option('--older-than <time>', 'runs older than this, also from other machines: 1h')
    .option('--dry-run', 'list the leftovers without removing them')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--json', 'as JSON')
    .action(async (options: CleanupOptions) => {
      const { cleanupCommand } = await import('./cleanup.ts');
      call.status = await cleanupCommand(call.world, options);
    });
}
