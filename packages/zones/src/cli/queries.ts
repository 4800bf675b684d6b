/** `queries`: the query file of a workload. */

import { resolve } from 'node:path';
import { say, writeOut } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { defineWorkload, renderQueryFile, type WorkloadInput } from '../workload.ts';
import { writeFileWhole } from '../write-files.ts';
import { addRange, type CliWorld, collect, type SpecFlags, specOf } from './options.ts';

interface QueriesFlags extends SpecFlags {
  readonly type?: string[];
}

const EXAMPLES = `
By default half of the names exist in the default zone set. For another zone
set, make its query file with generate --format dnsperf.

Examples:
  dinodns-zones queries --out queries.txt
  dinodns-zones queries --to 2000 --type A --type AAAA --host @ \\
    --host www | head`;

export function addQueries(program: Command, world: CliWorld): Command {
  const command = program
    .command('queries')
    .description(
      'Write the query file of a workload, for dnsperf and others: a name and a type on each line.',
    )
    .option('--out <file>', 'file to write (default: standard output)')
    .option(
      '--config <file>',
      'workload as JSON: pattern, from, to, parity, hosts, types; flags override it',
    );
  return addRange(command, 'all')
    .option('--type <type>', 'query type; repeat it for more (default: A)', collect)
    .option('--host <name>', 'name in each zone, @ is the apex; repeat it for more (default: @)', collect)
    .addHelpText('after', EXAMPLES)
    .action((flags: QueriesFlags) => queries(flags, world));
}

async function queries(flags: QueriesFlags, world: CliWorld): Promise<void> {
  const workload = defineWorkload((await specOf(flags, { types: flags.type }, world)) as WorkloadInput);
  const chunks = renderQueryFile(workload);
  if (flags.out === undefined) return writeOut(world, chunks);
  const written = await writeFileWhole(resolve(world.cwd, flags.out), chunks, { signal: world.signal });
  await writeOut(
    world,
    written.map(({ path }) => `${path}\n`),
  );
  say(world, workload.description);
}
