#!/usr/bin/env node
/** Entry point of `bench`: the real world, and the exit status of the CLI. */
import { main } from './cli.ts';
import { EXIT_STATUS, systemErrorCode } from './errors.ts';
import { realWorld } from './world.ts';

// A reader that has seen enough (`| head`) or a terminal that was closed is no reason to drop a run without
// stopping its servers; a result that cannot be written is a failure, but the record is on disk.
process.stdout.on('error', (error) => {
  if (systemErrorCode(error) === 'EPIPE') return;
  process.exitCode = EXIT_STATUS.environment;
  process.stderr.write(`Error [E_WRITE_FAILED] cannot write to standard output: ${error.message}\n`);
});
process.stderr.on('error', () => undefined);

const status = await main(process.argv.slice(2), realWorld());
process.exitCode ??= status;
