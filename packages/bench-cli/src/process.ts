/**
 * Child processes: each in its own process group, so that Ctrl-C in the terminal reaches only bench, which then
 * stops its children in order. Output is kept line by line, bounded, for error messages and parsers.
 */
import { createWriteStream } from 'node:fs';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import type { z } from 'zod';
import { BenchError } from './errors.ts';
import { jsonIn } from './text.ts';

export interface StartOptions {
  cwd?: string;
  /** Added to the environment of bench. */
  env?: Readonly<Record<string, string>>;
  /** Called for every complete line, without the line break. */
  onStdoutLine?: (line: string) => void;
  onStderrLine?: (line: string) => void;
  /** Files that receive the raw output as it comes. */
  stdoutFile?: string;
  stderrFile?: string;
  /** Written to the process's standard input, which is then closed. Without it, standard input is empty. */
  input?: string;
}

export interface Exit {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly signal: string | null;
}

export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process has ended and all of its output has been read. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Set once the process has ended. */
  readonly exit: Exit | undefined;
  /** Everything kept of the output: the last `KEPT_LINES` lines of both streams, in order of arrival. */
  readonly lastLines: readonly string[];
  /** Sends the signal to the whole process group; does nothing once the process has ended. */
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT' | 'SIGSTOP' | 'SIGCONT' | 'SIGHUP'): void;
}

/** Enough to see why a server failed; bounded, because a broken server can log for ever. */
export const KEPT_LINES = 50;

function lineSplitter(onLine: (line: string) => void): { push(chunk: string): void; end(): void } {
  let rest = '';
  return {
    push(chunk) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    },
    end() {
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}

/** What to do where no program can start, by the system error. */
const EXHAUSTED: Readonly<Record<string, string>> = {
  EMFILE: 'Allow more open files: raise `ulimit -n`.',
  ENFILE: 'Allow more open files on this machine: end some programs, or raise fs.file-max.',
  EAGAIN: 'Allow more processes: end some, or raise `ulimit -u`.',
  ENOMEM: 'End some programs: no memory is left.',
};

function startError(file: string, cause: unknown): Error {
  const fix = EXHAUSTED[systemErrorCode(cause) ?? ''];
  if (fix !== undefined)
    return new BenchError('E_LIMITS_UNAVAILABLE', `cannot start ${file}: ${messageOf(cause)}`, {
      fix,
      cause,
    });
  return cause instanceof Error ? cause : new Error(`cannot start ${file}`);
}

/**
 * Starts `command` (executable and arguments, no shell). Rejects with the system error if it cannot start, and with
 * `E_LIMITS_UNAVAILABLE` where no program could.
 */
export async function startProcess(
  command: readonly string[],
  options: StartOptions = {},
): Promise<RunningProcess> {
  const [file, ...args] = command;
  if (file === undefined) throw new Error('startProcess: empty command');
  // Much to load, and most commands start nothing.
  const { execa } = await import('execa');
  const subprocess = execa(file, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...options.env },
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    buffer: false,
    reject: false,
    detached: true,
    cleanup: true,
    encoding: 'utf8',
  });
  const lastLines: string[] = [];
  const keep = (line: string) => {
    lastLines.push(line);
    if (lastLines.length > KEPT_LINES) lastLines.shift();
  };
  const attach = (
    stream: NodeJS.ReadableStream,
    onLine: ((line: string) => void) | undefined,
    path: string | undefined,
  ) => {
    const copy = path === undefined ? undefined : createWriteStream(path, { flags: 'a' });
    // A full disk must not take bench down: the saved record notices it and says so.
    copy?.on('error', () => copy.destroy());
    const splitter = lineSplitter((line) => {
      keep(line);
      onLine?.(line);
    });
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      copy?.write(chunk);
      splitter.push(chunk);
    });
    stream.on('end', () => {
      splitter.end();
      copy?.end();
    });
  };
  attach(subprocess.stdout, options.onStdoutLine, options.stdoutFile);
  attach(subprocess.stderr, options.onStderrLine, options.stderrFile);

  let exit: Exit | undefined;
  const finished = subprocess.then((result) => {
    exit = { code: result.exitCode ?? null, signal: result.signal ?? null };
    return { exit, cause: result.cause };
  });
  const pid = subprocess.pid;
  if (pid === undefined) {
    const { cause } = await finished;
    throw startError(file, cause);
  }
  return {
    pid,
    lastLines,
    exited: finished.then((result) => result.exit),
    get exit() {
      return exit;
    },
    kill(signal) {
      if (exit !== undefined) return;
      try {
        process.kill(-pid, signal);
      } catch {
        // The group is gone between the check and the call: nothing left to signal.
      }
    },
  };
}

/** Output of a command that ran to its end. */
export interface Completed extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** The part of the world that `runToEnd` needs. */
export interface RunnerWorld {
  readonly processes: {
    start(command: readonly string[], options?: StartOptions): Promise<RunningProcess>;
  };
  readonly clock: { after(seconds: number, action: () => void): () => void };
}

/**
 * Runs a short command to its end and collects its output. Resolves whatever its exit code is; rejects
 * only if it cannot be started. It is killed after `timeoutSeconds` (default 20).
 */
export async function runToEnd(
  { processes, clock }: RunnerWorld,
  command: readonly string[],
  options: StartOptions & { timeoutSeconds?: number; signal?: AbortSignal } = {},
): Promise<Completed> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const { timeoutSeconds = 20, signal, ...startOptions } = options;
  const running = await processes.start(command, {
    ...startOptions,
    onStdoutLine: (line) => {
      stdout.push(line);
      options.onStdoutLine?.(line);
    },
    onStderrLine: (line) => {
      stderr.push(line);
      options.onStderrLine?.(line);
    },
  });
  const kill = () => running.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  if (signal?.aborted) kill();
  const cancel = clock.after(timeoutSeconds, kill);
  const exit = await running.exited;
  cancel();
  signal?.removeEventListener('abort', kill);
  return { ...exit, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
}

type Sleep = { readonly sleep: (seconds: number, signal?: AbortSignal) => Promise<void> };

/** What `heard` resolves with; null where the process ends first, this time passes, or `signal` is aborted. */
export async function heardWithin<T>(
  clock: Sleep,
  { exited }: RunningProcess,
  heard: Promise<T>,
  seconds: number,
  signal?: AbortSignal,
): Promise<T | null> {
  const over = new AbortController();
  const nothing = () => null;
  const signals = signal === undefined ? [over.signal] : [over.signal, signal];
  const late = clock.sleep(seconds, AbortSignal.any(signals)).then(nothing, nothing);
  const first = await Promise.race([heard, exited.then(nothing), late]);
  over.abort();
  return first;
}

/** True if the process ends within this time, and before `signal` is aborted. */
export async function endsWithin(
  clock: Sleep,
  running: RunningProcess,
  seconds: number,
  signal?: AbortSignal,
): Promise<boolean> {
  return (await heardWithin(clock, running, running.exited, seconds, signal)) !== null;
}

/** Asks the process to end, and kills it where it has not within this time. */
export async function endProcess(
  clock: Sleep,
  running: RunningProcess,
  ask: 'SIGTERM' | 'SIGINT',
  seconds: number,
): Promise<void> {
  running.kill(ask);
  if (!(await endsWithin(clock, running, seconds))) running.kill('SIGKILL');
  await running.exited;
}

/** As `Promise.all`, but nothing is under way any more when it rejects: the first to fail aborts the others. */
export async function allOrAbort<const T extends readonly Promise<unknown>[]>(
  tasks: T,
  failed: AbortController,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  try {
    return (await Promise.all(tasks)) as { -readonly [K in keyof T]: Awaited<T[K]> };
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(tasks);
    throw error;
  }
}

/** Does it when it is first asked for; then it is the same result. */
export function once<T>(make: () => T): () => T {
  let made: { readonly result: T } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}

/** What a program of ours printed; null for a line that is not the program's, such as a warning of Node.js, or is cut short. */
export function parseLine<S extends z.ZodType>(schema: S, line: string): z.output<S> | null {
  return line.startsWith('{') ? (schema.safeParse(jsonIn(line)).data ?? null) : null;
}
