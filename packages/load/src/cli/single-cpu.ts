/** V8 settings for a generator on a single CPU. */
import { availableParallelism } from 'node:os';

const FLAG = '--single-threaded';

/**
 * With one CPU, V8's compiler and garbage collector threads take it from the sender for milliseconds at a time:
 * p99 lateness at 100,000 queries per second was 3 to 9 ms, and 2 ms with all of V8's work in the thread that
 * causes it. V8 reads the flag only at start-up, so the program replaces itself once, under the same process id
 * (execve(2); Node.js 22.15 and later, not on Windows). Otherwise returns without doing anything.
 */
export function restartForSingleCpu(): void {
  const { execve, execPath, execArgv, argv, env } = process;
  if (availableParallelism() > 1 || execve === undefined || execArgv.includes(FLAG)) return;
  execve(execPath, [execPath, ...execArgv, FLAG, ...argv.slice(1)], env);
}
