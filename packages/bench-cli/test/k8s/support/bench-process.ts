/** `bench` in a process of its own, for tests that stop or kill it between two of its steps: see halting-bench.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Halted {
  readonly child: ChildProcess;
  /** Its standard error so far. */
  said(): string;
  /** Its standard output so far. */
  told(): string;
  /** Resolves when it has written a text; rejects if it ends before. */
  says(text: string): Promise<void>;
  /** Resolves when it has written a text and has then stopped itself (SIGSTOP). */
  stops(text: string): Promise<void>;
  /** Lets it go on after that. */
  wake(): void;
  /** Resolves with its exit status, or null after a signal. */
  readonly exited: Promise<number | null>;
}

export interface HaltOptions {
  readonly kubeconfig: string;
  /** Namespaces of its run begin with this. */
  readonly prefix: string;
  readonly at?: string;
  readonly signal?: NodeJS.Signals;
}

/** Whether a process is stopped. One that has told that it stops itself may still be about to. */
async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return /^\) T /.test(stat.slice(stat.lastIndexOf(')')));
}

const POLL_MS = 10;

/** Starts `bench` in a process of its own, which sends itself the signal when it has written the text. */
export async function startBench(argv: readonly string[], options: HaltOptions): Promise<Halted> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-swap-'));
  const program = new URL('./halting-bench.ts', import.meta.url).pathname;
  const { at = '', signal = 'SIGKILL', kubeconfig, prefix } = options;
  const child = spawn(process.execPath, [program, at, signal, ...argv], {
    cwd: directory,
    env: {
      ...process.env,
      KUBECONFIG: kubeconfig,
      DINODNS_BENCH_NAMESPACE_PREFIX: prefix,
      DINODNS_BENCH_SCHEDULE_TIME: '150',
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let told = '';
  const listeners = new Set<() => void>();
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    for (const listener of listeners) listener();
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    told += chunk;
  });
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', (status) => resolve(status));
  }).finally(() => rm(directory, { recursive: true, force: true }));
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (said.includes(text)) resolve();
      };
      listeners.add(check);
      check();
      exited.then((status) => {
        if (!said.includes(text))
          reject(new Error(`it ended with ${status} before it said "${text}": ${said}`));
      });
    });
  return {
    child,
    said: () => said,
    told: () => told,
    says,
    stops: async (text) => {
      await says(text);
      // It has a pid, because it has written something.
      while (!(await isStopped(child.pid ?? 0))) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    },
    wake: () => {
      child.kill('SIGCONT');
    },
    exited,
  };
}

/** How long it took to put everything back, as a swap says at its end. */
export function restoreSeconds({ said }: Halted): number {
  return Number(/([\d.]+) s after the last placement/.exec(said())?.[1]);
}
