/** A world for tests: the real machine, with a directory, terminal, environment and signals of the test's own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../../src/cli.ts';
import type { RunningProcess } from '../../src/process.ts';
import { type FileSystem, realWorld, type TerminationSignal, type World } from '../../src/world.ts';

export interface TestWorld extends World {
  readonly directory: string;
  /** Everything written so far. */
  out(): string;
  err(): string;
  /** Every process that was started, by the name of its program (`coredns`, `dnsperf`, `cli.ts`). */
  readonly started: {
    readonly program: string;
    readonly command: readonly string[];
    readonly process: RunningProcess;
  }[];
  /** Delivers a signal as the terminal or `kill` would. */
  send(signal: TerminationSignal): void;
  /** Runs `bench` with these arguments in this world. */
  bench(...argv: string[]): Promise<number>;
  /** Resolves when stderr contains `text`. */
  errContains(text: string): Promise<void>;
  remove(): Promise<void>;
}

export interface TestWorldOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of a terminal on both outputs; undefined for none. */
  readonly columns?: number;
  /** Functions of the file system that fail or lie. */
  readonly fs?: Partial<FileSystem>;
  readonly machine?: Partial<World['machine']>;
  /** Functions of the clock that let time pass otherwise. */
  readonly clock?: Partial<World['clock']>;
}

const PROGRAMS = /(?:^|\/)(coredns|dnsperf|knotd|nsd|named|pdns_server|unbound|dnsmasq|cli\.ts|driver\.ts)$/;

/** The program behind the shell and setpriv that put it into its cgroup. */
function programOf(command: readonly string[]): string {
  const found = command.map((word) => PROGRAMS.exec(word)?.[1]).find((name) => name !== undefined);
  return found ?? command[0] ?? '';
}

export async function testWorld(options: TestWorldOptions = {}): Promise<TestWorld> {
  const real = realWorld();
  const directory = await mkdtemp(join(tmpdir(), 'bench-test-'));
  const handlers = new Map<TerminationSignal, Set<() => void>>();
  const watchers = new Set<() => void>();
  let out = '';
  let err = '';
  const output = (write: (text: string) => void) => ({
    write,
    isTerminal: options.columns !== undefined,
    columns: options.columns,
  });
  const started: TestWorld['started'] = [];
  const world: TestWorld = {
    ...real,
    started,
    processes: {
      ...real.processes,
      start: async (command, startOptions) => {
        const running = await real.processes.start(command, startOptions);
        started.push({ program: programOf(command), command, process: running });
        return running;
      },
    },
    directory,
    cwd: directory,
    // No test gets a program by itself: what is missing leaves tests out, and `bench doctor` gets it.
    // Nor is time spent on trying load generators first, or on more trials than show that there are several.
    env: {
      ...real.env,
      NO_COLOR: '1',
      DINODNS_BENCH_PROVISION: 'false',
      DINODNS_BENCH_CALIBRATE: 'false',
      DINODNS_BENCH_TRIALS: '3',
      ...options.env,
    },
    fs: { ...real.fs, ...options.fs },
    clock: { ...real.clock, ...options.clock },
    machine: { ...real.machine, ...options.machine },
    stdout: output((text) => {
      out += text;
    }),
    stderr: output((text) => {
      err += text;
      for (const watcher of watchers) watcher();
    }),
    signals: {
      on(signal, handler) {
        const set = handlers.get(signal) ?? new Set();
        handlers.set(signal, set.add(handler));
        return () => set.delete(handler);
      },
    },
    out: () => out,
    err: () => err,
    send: (signal) => {
      for (const handler of handlers.get(signal) ?? []) handler();
    },
    bench: (...argv) => main(argv, world),
    errContains: (text) =>
      new Promise((resolve) => {
        const check = () => {
          if (!err.includes(text)) return;
          watchers.delete(check);
          resolve();
        };
        watchers.add(check);
        check();
      }),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
  return world;
}
