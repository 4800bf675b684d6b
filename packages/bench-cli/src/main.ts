/** Entry point of `bench`: the real world, and the exit status of the CLI. */
import { outputError, reportError } from '@dinodns-bench/program';
import { main } from './cli.ts';
import { realWorld } from './world.ts';

// A reader that stops reading (`| head`) or a closed terminal must not end a run without stopping its servers; a
// result that cannot be written is a failure, but the record is on disk.
process.stdout.on('error', (error) => {
  const status = reportError(outputError(error), 'bench', process);
  if (status !== 0) process.exitCode = status;
});
process.stderr.on('error', () => undefined);

const status = await main(process.argv.slice(2), realWorld());
process.exitCode ??= status;
