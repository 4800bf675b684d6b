/**
 * A group of processes with a common CPU limit and common counters: the local counterpart of a pod.
 * Implementations: cgroup v2, cgroup v1, systemd scope, affinity only, nothing.
 */
import type { ObservedGroup } from '../../observe/group.ts';
import type { CpuLimitMethod } from '../../results/record.ts';

export interface ResourceGroup extends ObservedGroup {
  /** Turns a command into one that runs inside the group, limits included, from its first instruction. */
  wrap(command: readonly string[]): readonly string[];
  /** Must be called with the PID of `wrap`'s command, so that groups without a cgroup know their members. */
  adopt(pid: number): void;
  /** Kills what is left in the group and deletes it. Safe to call twice. */
  remove(): Promise<void>;
}

export interface GroupRequest {
  /** Unique within the run: lower case, digits, hyphens. */
  readonly name: string;
  /** Cores; null for no limit (the group only counts). */
  readonly cpuAllowance: number | null;
  /** CPUs to pin to under `--cpu pin`; ignored by quota methods. */
  readonly cpuSet: readonly number[] | null;
}

export interface ResourceGroups {
  readonly method: CpuLimitMethod;
  /** Why it is not the requested method; null if it is. */
  readonly reason: string | null;
  create(request: GroupRequest): Promise<ResourceGroup>;
  /** Removes every group that is left, then the run's parent directory. */
  close(): Promise<void>;
}
