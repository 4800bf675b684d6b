/** Commands put before a server's own, each replacing itself with the next (exec), so that the PID stays the same. */
import { shellCommand } from '../../text.ts';

/**
 * Makes the kernel kill the process when the thread that started it ends, even by SIGKILL
 * (PR_SET_PDEATHSIG in prctl(2)). It is kept over exec but not by children of the process: those of Node's
 * cluster mode end by themselves when the channel to their parent closes; whatever else is left in a
 * control group is killed by the next run. `setpriv` is in util-linux from 2.33.
 */
export function withParentDeathSignal(setpriv: string | null, command: readonly string[]): readonly string[] {
  return setpriv === null ? command : [setpriv, '--pdeathsig', 'KILL', '--', ...command];
}

/**
 * Starts other commands first, in the background, and then becomes the command. What they print is on standard error,
 * because the command's own first line may say that it is ready. They end with it: the kernel kills them
 * when it ends, if there is `setpriv`; otherwise the removal of their group does.
 */
export function withBeside(
  setpriv: string | null,
  beside: readonly (readonly string[])[],
  command: readonly string[],
): readonly string[] {
  if (beside.length === 0) return command;
  const starts = beside.map((other) => `${shellCommand(withParentDeathSignal(setpriv, other))} >&2 &`);
  return ['/bin/sh', '-c', [...starts, 'exec "$@"'].join('\n'), 'beside', ...command];
}

/** Ends with status 125, which no server uses, if a group cannot be joined. */
const JOIN_SCRIPT = [
  'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done',
  'shift',
  'exec "$@"',
].join('; ');

/** Moves the process into control groups (paths of `cgroup.procs` files) before the command begins. */
export function joiningCgroups(procsFiles: readonly string[], command: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', JOIN_SCRIPT, 'join-cgroups', ...procsFiles, '--', ...command];
}

/** Pins to CPUs by their numbers. `taskset` is in util-linux. */
export function onCpus(
  taskset: string,
  cpus: readonly number[],
  command: readonly string[],
): readonly string[] {
  return [taskset, '--cpu-list', cpus.join(','), ...command];
}
