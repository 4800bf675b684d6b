#!/usr/bin/env node
/** `dnscannon`: wiring only. A signal ends the run in order, so that what was measured is printed. */
import { setFlagsFromString } from 'node:v8';
import { restartForSingleCpu } from './cli/single-cpu.ts';

restartForSingleCpu();

const { runCli } = await import('./cli/run-cli.ts');
const { loadError } = await import('./errors.ts');

// For the workers' heaps: a garbage collection each second in place of five. Nothing else runs in this process.
setFlagsFromString('--min-semi-space-size=16');

const controller = new AbortController();
const stop = (code: 'E_INTERRUPTED' | 'E_TERMINATED', name: string) => () => {
  // Who asks twice does not want to wait.
  if (controller.signal.aborted) process.exit(code === 'E_INTERRUPTED' ? 130 : 143);
  controller.abort(loadError(code, `stopped by ${name}`, 'run it again'));
};
process.on('SIGINT', stop('E_INTERRUPTED', 'Ctrl-C'));
process.on('SIGTERM', stop('E_TERMINATED', 'SIGTERM'));

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: controller.signal,
});
