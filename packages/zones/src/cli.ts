/** `dinodns-zones`: wiring only. On signals the program ends cleanly and leaves no temporary files behind. */
import { abortOnSignals } from '@dinodns-bench/program';
import { runCli } from './cli/run.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signal: abortOnSignals(process, 'run it again: nothing was written'),
});
