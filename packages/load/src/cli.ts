/** `dnscannon`: wiring only. A signal ends the run cleanly, so the measurements so far are printed. */
import { setFlagsFromString } from 'node:v8';
import { restartForSingleCpu } from './cli/single-cpu.ts';

restartForSingleCpu();

const { abortOnSignals } = await import('@dinodns-bench/program');
const { runCli } = await import('./cli/run-cli.ts');

// For the workers' heaps: one garbage collection a second instead of five. Nothing else runs in this process.
setFlagsFromString('--min-semi-space-size=16');

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: abortOnSignals(process, 'run it again'),
});
