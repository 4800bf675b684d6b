/** The real program in a process of its own, or its command line in this one. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { buildCommand, type Flags } from '../../src/cli/flags.ts';
import { inputOf } from '../../src/cli/options.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { type CannonOptions, optionsSchema } from '../../src/options.ts';

const PROGRAM = new URL('../../src/cli.ts', import.meta.url).pathname;

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<Ended>;
}

/** `prefix` goes before node: `['prlimit', '--nofile=64']`. */
export function start(args: readonly string[], prefix: readonly string[] = []): Started {
  const [command = '', ...rest] = [...prefix, process.execPath, PROGRAM, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { child, ended: output.then(([stdout, stderr]) => ({ status: child.exitCode, stdout, stderr })) };
}

export function dnscannon(args: readonly string[], prefix: readonly string[] = []): Promise<Ended> {
  return start(args, prefix).ended;
}

/** The same command line without a process: for arguments that it rejects before it starts anything. */
export async function refusedBy(args: readonly string[]): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const output = Promise.all([text(stdout), text(stderr)]);
  const env = { NO_COLOR: '1' };
  const status = await runCli(args, { stdout, stderr, env, signal: new AbortController().signal });
  stdout.end();
  stderr.end();
  const [out, err] = await output;
  return { status, stdout: out, stderr: err };
}

/** The options that a command line stands for. */
export function optionsFrom(...args: readonly string[]): CannonOptions {
  const command = buildCommand().exitOverride();
  command.parse([...args], { from: 'user' });
  const [server = '', ...names] = command.args;
  return optionsSchema.parse(inputOf(server, names, command.opts<Flags>()));
}
