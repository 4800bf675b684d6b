/** Load generators and an echo on a core each, and what their CPU time was. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { CannonResult, Interval } from '@dinodns-bench/load';

/** The program of dnscannon. */
export const CANNON = new URL('../../packages/load/src/cli.ts', import.meta.url).pathname;

/**
 * Runs a command on one core. Where that is allowed (root), before what else wants it: a shell that wakes up for 3 ms makes queries at
 * 100,000 a second late and fills the buffer of a socket, which says nothing of either program.
 */
function onCore(core: string, command: readonly string[]): string[] {
  const first = process.getuid?.() === 0 ? ['nice', '-n', '-15'] : [];
  return [...first, 'taskset', '-c', core, ...command];
}

export interface Listening {
  readonly port: number;
  readonly child: ChildProcess;
}

/** Starts a program on a core. */
export function spawnOn(core: string, command: readonly string[], stdout: 'pipe' | 'ignore'): ChildProcess {
  const [program = '', ...args] = onCore(core, command);
  return spawn(program, args, { stdio: ['ignore', stdout, 'inherit'] });
}

/**
 * Starts a program on a core; the first line of its output is a JSON object with its port.
 * @throws Error if it ends before that.
 */
export async function startPinned(core: string, command: readonly string[]): Promise<Listening> {
  const child = spawnOn(core, command, 'pipe');
  if (child.stdout === null) throw new Error('no output');
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`${command.join(' ')} ended with status ${status} before it was ready`);
  });
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  const { port } = JSON.parse(line) as { port: number };
  return { port, child };
}

/** Compiles an echo in C into `directory`. Returns the command that starts it on a port of the kernel's choice. */
export function compileEcho(directory: string, source: string, args: readonly string[]): string[] {
  const program = join(directory, 'udp-echo');
  execFileSync('cc', ['-O2', '-o', program, new URL(source, import.meta.url).pathname]);
  return [program, ...args];
}

/** Writes a query file for half of whose names there is a zone of `bench`; returns its path. */
export function writeQueries(directory: string): string {
  const path = join(directory, 'queries');
  writeFileSync(path, Array.from({ length: 200 }, (_, i) => `example${i + 1}.com A\n`).join(''));
  return path;
}

/** Runs a command on a core; returns its output and CPU time, which the shell's `times` reports. */
export async function pinned(
  core: string,
  command: readonly string[],
): Promise<{ output: string; cpuSeconds: number }> {
  const child = spawn('bash', ['-c', '"$@"; times', 'bash', ...onCore(core, command)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const all = await text(child.stdout);
  const times = all.trim().split('\n').at(-1) ?? '';
  const cpuSeconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  );
  return { output: all.slice(0, all.lastIndexOf('}') + 1) || all, cpuSeconds };
}

/** Runs dnscannon with one worker on a core. */
export async function runCannon(
  core: string,
  port: number,
  queries: string,
  flags: readonly string[],
): Promise<{ result: CannonResult; intervals: readonly Interval[] }> {
  const { output } = await pinned(core, [
    ...[process.execPath, CANNON, '-w', '1', '--queries', queries, '--ndjson'],
    ...flags,
    `127.0.0.1:${port}`,
  ]);
  const lines = output.split('\n').map((line) => JSON.parse(line));
  const result = lines.find(({ type }) => type === 'result');
  if (result === undefined) throw new Error(`dnscannon has no result:\n${output}`);
  return { result, intervals: lines.filter(({ type }) => type === 'interval') };
}

/** CPU time of a process with all its threads, user and system, seconds, to the nanosecond (schedstat). */
export function cpuSecondsOf(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e9;
}

export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
