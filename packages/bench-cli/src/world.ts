/**
 * The world outside the program, as one value: file system, clock, environment, processes, terminal and
 * signals. Only two other files in `bench-cli` touch `process`, `node:fs`, the clock or timers directly:
 * `process.ts`, which starts processes, and `own-files.ts`, which reads the program's own files. The linter
 * enforces this. So a test can run the whole CLI with a directory, a terminal and faults of its choice.
 */
import * as fsPromises from 'node:fs/promises';
import * as os from 'node:os';
import { onLauncherDeath } from '@dinodns-bench/program';
import { usableCpus } from '@dinodns-bench/server-cluster/usable-cpus';
import { type RunningProcess, type StartOptions, startProcess } from './process.ts';

/** The part of `node:fs/promises` that bench uses. Tests replace functions to inject faults. */
export type FileSystem = Pick<
  typeof fsPromises,
  | 'access'
  | 'appendFile'
  | 'chmod'
  | 'constants'
  | 'cp'
  | 'mkdir'
  | 'mkdtemp'
  | 'open'
  | 'readdir'
  | 'readFile'
  | 'readlink'
  | 'realpath'
  | 'rename'
  | 'rm'
  | 'rmdir'
  | 'stat'
  | 'statfs'
  | 'unlink'
  | 'writeFile'
>;

export interface Clock {
  /** Wall-clock time, for time stamps only. */
  now(): Date;
  /** Seconds on a clock that never steps; only differences mean something. */
  monotonicSeconds(): number;
  /** Resolves after `seconds`; rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * For less than a millisecond, which timers cannot do: stops the thread, and resolves once the input that came meanwhile was
   * read. Zero or less only reads input.
   */
  nap(seconds: number): Promise<void>;
  /** Calls `action` once after `seconds`, unless the returned function is called before. */
  after(seconds: number, action: () => void): () => void;
  /** Calls `action` every `seconds` until the returned function is called. */
  every(seconds: number, action: () => void): () => void;
}

/** Where text goes. `columns` is undefined unless `isTerminal`. */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly hostname: string;
  readonly kernelRelease: string;
  readonly memoryBytes: number;
  /** Logical CPUs of the machine, including those that this process may not use. */
  readonly cpus: readonly { readonly model: string }[];
  /** CPUs that this process may use by its affinity and its quota; a quota may leave a fraction. */
  readonly availableCpus: number;
  readonly userId: number;
  /** The user's home directory, as `os.homedir()` returns it. */
  readonly homeDirectory: string;
}

export interface Processes {
  /** Id of this process. */
  readonly ownPid: number;
  /** The Node.js executable that runs this program. */
  readonly nodePath: string;
  /** Starts a process in a process group of its own. Rejects if it cannot be started at all. */
  start(command: readonly string[], options?: StartOptions): Promise<RunningProcess>;
  /** Sends a signal to a process, not necessarily a child. False if it does not exist or is not ours. */
  signal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean;
}

export type TerminationSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Signals {
  /** Calls `handler` for every such signal until the returned function is called. */
  on(signal: TerminationSignal, handler: () => void): () => void;
}

export interface World {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the directory that relative paths of the user start from. */
  readonly cwd: string;
  readonly machine: Machine;
  readonly processes: Processes;
  readonly signals: Signals;
  /** Results: the table, the record. */
  readonly stdout: Output;
  /** Everything else: progress, warnings, errors. */
  readonly stderr: Output;
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** A clock of the running process. */
export const realClock: Clock = {
  now: () => new Date(),
  monotonicSeconds: () => Number(process.hrtime.bigint()) / 1e9,
  after: (seconds, action) => {
    const timer = setTimeout(action, seconds * 1000);
    return () => clearTimeout(timer);
  },
  every: (seconds, action) => {
    const timer = setInterval(action, seconds * 1000);
    return () => clearInterval(timer);
  },
  sleep: (seconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, seconds * 1000);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  nap: (seconds) => {
    if (seconds > 0) Atomics.wait(sleeper, 0, 0, seconds * 1000);
    return new Promise((resolve) => setImmediate(resolve));
  },
};

function streamOutput(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => {
      stream.write(text);
    },
    get isTerminal() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
}

/** The real world, as the CLI's entry point uses it. */
export function realWorld(): World {
  let isSignalled = false;
  return {
    fs: fsPromises,
    clock: realClock,
    env: process.env,
    cwd: process.cwd(),
    machine: {
      platform: process.platform,
      architecture: process.arch,
      hostname: os.hostname(),
      kernelRelease: os.release(),
      memoryBytes: os.totalmem(),
      cpus: os.cpus().map(({ model }) => ({ model: model.trim() })),
      availableCpus: usableCpus().limit,
      userId: process.getuid?.() ?? -1,
      homeDirectory: os.homedir(),
    },
    processes: {
      ownPid: process.pid,
      nodePath: process.execPath,
      start: startProcess,
      signal: (pid, signal) => {
        try {
          return process.kill(pid, signal);
        } catch {
          return false;
        }
      },
    },
    signals: {
      on: (signal, handler) => {
        const heard = () => {
          isSignalled = true;
          handler();
        };
        process.on(signal, heard);
        // SIGTERM to `npx pnpm bench` stops only npx: its end counts as the signal, but not as a second one.
        const onEnd = () => {
          if (!isSignalled) heard();
        };
        const stopWatching = signal === 'SIGTERM' ? onLauncherDeath(onEnd) : () => undefined;
        return () => {
          process.off(signal, heard);
          stopWatching();
        };
      },
    },
    stdout: streamOutput(process.stdout),
    stderr: streamOutput(process.stderr),
  };
}
