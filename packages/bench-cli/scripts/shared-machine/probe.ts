/**
 * `node packages/bench-cli/scripts/shared-machine/probe.ts`
 *
 * Ten times a second, does a fixed piece of work (about 2 ms: arithmetic, and reads all over 4 MiB) and prints a line: when it
 * ended, in milliseconds since 1970, the CPU time and the time that it took, in microseconds. CPU time sees what `/proc/stat` does
 * not: the clock's frequency, the other thread of the core, shared caches. Ends with its standard input.
 */
import { setInterval } from 'node:timers/promises';

const WORDS = 1 << 20;
const STEPS = 150_000;
const PERIOD_MILLISECONDS = 100;

const words = new Int32Array(WORDS).map((_, index) => Math.imul(index, 0x9e3779b1));

function work(): number {
  let at = 1;
  for (let step = 0; step < STEPS; step += 1)
    at = (Math.imul(at, 0x01000193) ^ (words[at & (WORDS - 1)] ?? 0)) | 0;
  return at;
}

process.stdin.on('end', () => process.exit(0)).resume();
for (let warm = 0; warm < 50; warm += 1) work();
for await (const _ of setInterval(PERIOD_MILLISECONDS)) {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  work();
  const { user, system } = process.cpuUsage(cpu);
  const took = Math.round((performance.now() - began) * 1000);
  process.stdout.write(`${Date.now()} ${user + system} ${took}\n`);
}
