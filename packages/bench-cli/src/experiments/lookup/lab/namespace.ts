/**
 * Network namespaces without a name: each is held by a process that sleeps, which the kernel kills when bench ends, even
 * by SIGKILL (see `wrapping.ts`). The namespace goes away with the last process in it, and its interfaces with it.
 */
import { BenchError } from '../../../errors.ts';
import { type Completed, heardWithin, runToEnd, type StartOptions } from '../../../process.ts';
import type { World } from '../../../world.ts';

/** Paths of the programs that namespaces need. */
export type NamespaceTools = Readonly<Record<'ip' | 'unshare' | 'nsenter' | 'setpriv', string>>;

export interface Namespace extends AsyncDisposable {
  readonly name: string;
  /** Of the process that holds it. */
  readonly pid: number;
  /** The command, to be run within it; it ends with bench. */
  enter(command: readonly string[]): readonly string[];
  /** Runs a command within it. @throws BenchError `E_LIMITS_UNAVAILABLE` unless its exit status is 0. */
  run(command: readonly string[], input?: string): Promise<Completed>;
  /** The world as processes see it that start within the namespace. */
  readonly world: World;
}

const START_SECONDS = 10;

function failed(command: readonly string[], { code, stderr, stdout }: Completed): BenchError {
  return new BenchError('E_LIMITS_UNAVAILABLE', `${command.join(' ')} failed (exit status ${code})`, {
    evidence: `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== ''),
    fix: 'Network namespaces need root and a kernel with veth. Without --local, bench lookup needs neither.',
  });
}

/** Runs a command to its end and rejects unless it succeeds. */
export async function demandSuccess(
  world: World,
  command: readonly string[],
  options: StartOptions = {},
): Promise<Completed> {
  const completed = await runToEnd(world, command, options);
  if (completed.code !== 0) throw failed(command, completed);
  return completed;
}

const HOLD = `echo ready
exec sleep 2147483647`;

/** `$1` and further are the files. Bind mounts need what they cover to exist. A cache of names of the machine would answer in place of the resolver. */
const HOLD_MOUNTED = `while [ $# -gt 0 ]; do
  if [ -e "$1" ]; then mount --bind "$2" "$1" || exit 1; fi
  shift 2
done
for cache in /run/nscd /var/run/nscd; do
  if [ -d "$cache" ]; then mount -t tmpfs none "$cache" || exit 1; fi
done
${HOLD}`;

/** @param files To put in the place of others, for the processes of the namespace only: path → path of the replacement. */
export async function openNamespace(
  world: World,
  tools: NamespaceTools,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<Namespace> {
  const lifeline = [tools.setpriv, '--pdeathsig', 'KILL', '--'];
  const ready = Promise.withResolvers<boolean>();
  const isMounted = Object.keys(files).length > 0;
  const hold = [
    ...[tools.unshare, '--net', ...(isMounted ? ['--mount'] : [])],
    ...['/bin/sh', '-c', isMounted ? HOLD_MOUNTED : HOLD, `bench-${name}`],
  ];
  const holder = await world.processes.start([...lifeline, ...hold, ...Object.entries(files).flat()], {
    onStdoutLine: (line) => ready.resolve(line === 'ready'),
  });
  if ((await heardWithin(world.clock, holder, ready.promise, START_SECONDS)) !== true) {
    holder.kill('SIGKILL');
    const exit = await holder.exited;
    throw failed(hold.slice(0, 3), { ...exit, stdout: '', stderr: holder.lastLines.join('\n') });
  }
  const { pid } = holder;
  const enter = (command: readonly string[]) => [
    ...lifeline,
    tools.nsenter,
    `--net=/proc/${pid}/ns/net`,
    // The working directory does not survive the change of a mount namespace.
    ...(isMounted ? [`--mount=/proc/${pid}/ns/mnt`] : []),
    '--',
    ...command,
  ];
  const { processes } = world;
  return {
    name,
    pid,
    enter,
    run: (command, input) => demandSuccess(world, enter(command), input === undefined ? {} : { input }),
    world: {
      ...world,
      processes: {
        ...processes,
        start: (command, options) => processes.start(enter(command), options),
      },
    },
    [Symbol.asyncDispose]: async () => {
      holder.kill('SIGKILL');
      await holder.exited;
    },
  };
}
