/** `dinodns-cluster`: wiring only. */
import { setFlagsFromString } from 'node:v8';

// What is served is made and forgotten at once: a small young generation keeps the memory of a large cluster's server
// small, and costs nothing that can be measured.
setFlagsFromString('--max-semi-space-size=2');
setFlagsFromString('--min-semi-space-size=1');

const { abortOnSignals } = await import('@dinodns-bench/program');
const { runCli } = await import('./cli/run.ts');

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: abortOnSignals(process, 'run it again'),
});
