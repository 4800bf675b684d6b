/** How many CPUs this process may use, and what limits it. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { cgroupQuota, type ReadFile } from './cgroup.ts';

export interface UsableCpus {
  /** A sensible number of worker processes: the limit rounded up, at least 1. */
  readonly cpus: number;
  /** The limit itself, in CPUs; a quota may be a fraction. */
  readonly limit: number;
  /** What set the limit: a CFS quota, the affinity mask, or the machine as Node.js sees it. */
  readonly source: 'quota' | 'affinity' | 'machine';
  /** A human-readable reason, with the file or call that sets the limit. */
  readonly reason: string;
}

/** The number of CPUs in a kernel list such as `0-3,8` (cpuset(7), "List format"). */
export function countCpuList(list: string): number {
  let count = 0;
  for (const range of list.trim().split(',')) {
    const [first, last = first] = range.split('-').map(Number);
    if (first === undefined || last === undefined || Number.isNaN(first) || Number.isNaN(last)) continue;
    if (range !== '') count += last - first + 1;
  }
  return count;
}

function affinity(readFile: ReadFile): number {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFile('/proc/self/status') ?? '')?.[1];
  return list === undefined ? 0 : countCpuList(list);
}

function readFileIfPossible(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The machine as Node.js sees it. */
const MACHINE = { available: availableParallelism(), installed: cpus().length };

/**
 * The smallest of CFS quota (cgroup v1 and v2, including ancestor groups), CPU affinity and
 * `os.availableParallelism()`. Never throws: a source that cannot be read does not count.
 */
export function usableCpus(readFile: ReadFile = readFileIfPossible, machine = MACHINE): UsableCpus {
  const candidates: Omit<UsableCpus, 'cpus'>[] = [];
  const quota = cgroupQuota(readFile);
  if (quota !== undefined) {
    const reason = `CFS quota of ${quota.cpus} CPUs (${quota.file})`;
    candidates.push({ limit: quota.cpus, source: 'quota', reason });
  }
  const allowed = affinity(readFile);
  // A mask that allows every CPU limits nothing.
  if (allowed > 0 && allowed < machine.installed) {
    const reason = `affinity to ${allowed} of ${machine.installed} CPUs (/proc/self/status)`;
    candidates.push({ limit: allowed, source: 'affinity', reason });
  }
  const reason = `${machine.available} CPUs (os.availableParallelism())`;
  candidates.push({ limit: machine.available, source: 'machine', reason });
  const decisive = candidates.reduce((least, candidate) =>
    candidate.limit < least.limit ? candidate : least,
  );
  return { ...decisive, cpus: Math.max(1, Math.ceil(decisive.limit)) };
}
