/**
 * `bench` that sends itself a signal (SIGKILL, SIGSTOP) at the very moment at which it has written a text, or is about to send
 * a request: between two of its steps, which no outside process could time. `halting-bench.ts AT SIGNAL ARGUMENT…`; AT is a
 * part of what it writes to standard error, or `sends 2: PATCH /path` for the second such request; empty: never.
 */
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { main } from '../../../src/cli.ts';
import { textAt } from '../../../src/cluster-changes/json.ts';
import { realWorld } from '../../../src/world.ts';

const [at = '', signal = 'SIGKILL', ...argv] = process.argv.slice(2);

// Each attempt counts, so only the first attempt of a request is halted.
const sent = new Map<string, number>();
subscribe('undici:request:create', (message) => {
  const request = `${textAt(message, '/request/method')} ${textAt(message, '/request/path')}`;
  const count = (sent.get(request) ?? 0) + 1;
  sent.set(request, count);
  const text = `sends ${count}: ${request}`;
  if (text !== at) return;
  writeSync(2, `${text}\n`);
  process.kill(process.pid, signal);
});

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
