/** Starts the real command line program and waits for its readiness line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface ReadyLine {
  ready: true;
  address: string;
  addresses: string[];
  port: number;
  pid: number;
  workers: number;
  udpBackend: string;
  metricsPort?: number;
  tlsPort?: number;
  httpsPort?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout: string;
  stderr: string;
  readonly exited: Promise<Exit>;
}

export interface RunningServer extends Program {
  readonly ready: ReadyLine;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<Exit>;
}

const running = new Set<Program>();

/** Runs a program with this Node.js in its own process group. */
export function run(file: string, args: readonly string[], wrapper: readonly string[] = []): Program {
  const [command = process.execPath, ...rest] = [...wrapper, process.execPath, file, ...args];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const program: Program = { child, pid: child.pid ?? -1, stdout: '', stderr: '', exited };
  child.stdout?.on('data', (data) => {
    program.stdout += data;
  });
  child.stderr?.on('data', (data) => {
    program.stderr += data;
  });
  running.add(program);
  void exited.then(() => running.delete(program));
  return program;
}

/** Runs the command line program to its end. */
export async function runToEnd(args: readonly string[]): Promise<Exit & { stdout: string; stderr: string }> {
  const program = run(CLI, args);
  const exit = await program.exited;
  return { ...exit, stdout: program.stdout, stderr: program.stderr };
}

/** Starts a program that prints a readiness line, by default the server on a free port. */
export async function startServer(
  args: readonly string[] = [],
  { file = CLI, wrapper = [] as readonly string[] } = {},
): Promise<RunningServer> {
  const program = run(file, file === CLI ? ['--port', '0', ...args] : args, wrapper);
  // The framework of an example may say something before, on the same output.
  const readyLine = () => /^\{.*\}$/m.exec(program.stdout)?.[0];
  const line = await Promise.race([
    until(() => readyLine() !== undefined, 60),
    program.exited.then(({ code }) => {
      throw new Error(`The server ended with ${code} before it was ready: ${program.stderr}`);
    }),
  ]);
  if (!line) throw new Error(`The server was not ready in time: ${program.stderr}`);
  const ready: ReadyLine = JSON.parse(readyLine() ?? '');
  return Object.assign(program, {
    ready,
    stop: () => {
      program.child.kill('SIGTERM');
      return program.exited;
    },
  });
}

/** A port that was free a moment ago, over TCP. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** IDs of processes started here that have not ended. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/**
 * Whether a process still has its sockets, which its last thread closes. The first thread of a killed process may be a
 * zombie while others are yet to end: until then, the kernel goes on giving datagrams to its socket.
 */
export function isAlive(pid: number): boolean {
  return globSync(`/proc/${pid}/task/*/status`).some((status) => {
    try {
      return !/^State:\s*[ZX]/m.test(readFileSync(status, 'utf8'));
    } catch {
      // It has ended in the meantime.
      return false;
    }
  });
}

/** Kills whatever a test left running, and removes the zone copies that killed servers could not remove. */
export async function killAll(): Promise<void> {
  for (const { pid } of running) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended in the meantime.
    }
  }
  await Promise.all([...running].map(({ exited }) => exited));
  const copies = readdirSync(tmpdir()).filter((name) => name.startsWith('dinodns-server-'));
  for (const name of copies) rmSync(join(tmpdir(), name), { recursive: true, force: true });
}

/** Whether `check` became true within `seconds`. */
export async function until(check: () => boolean | Promise<boolean>, seconds: number): Promise<boolean> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await check())) {
    if (performance.now() > deadline) return false;
    await sleep(0.02);
  }
  return true;
}

export function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
