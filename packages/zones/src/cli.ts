#!/usr/bin/env node
/** `dinodns-zones`: wiring only. Signals end the program in order, so that no temporary file stays behind. */
import { runCli } from './cli/run.ts';
import { ZonesError } from './errors.ts';

const controller = new AbortController();
const interrupt = (code: 'E_INTERRUPTED' | 'E_TERMINATED', name: string) => {
  const problem = { problem: `stopped by ${name}`, fix: 'run it again: nothing was written' };
  controller.abort(new ZonesError(code, problem.problem, [problem]));
};
process.once('SIGINT', () => interrupt('E_INTERRUPTED', 'Ctrl-C'));
process.once('SIGTERM', () => interrupt('E_TERMINATED', 'SIGTERM'));

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
  signal: controller.signal,
});
