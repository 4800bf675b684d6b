/**
 * `bench` that sends itself a signal (SIGKILL, SIGSTOP) at the very moment at which it has written a text: a kill between two
 * of its steps that no outside process could time. `halting-bench.ts TEXT SIGNAL ARGUMENT…`; no TEXT: never.
 */
import { writeSync } from 'node:fs';
import { main } from '../../../src/cli.ts';
import { realWorld } from '../../../src/world.ts';

const [at = '', signal = 'SIGKILL', ...argv] = process.argv.slice(2);
const world = realWorld();
const status = await main(argv, {
  ...world,
  stderr: {
    ...world.stderr,
    write: (text) => {
      // Written at once: nothing must be lost with the process.
      writeSync(2, text);
      if (at !== '' && text.includes(at)) process.kill(process.pid, signal);
    },
  },
});
process.exitCode = status;
