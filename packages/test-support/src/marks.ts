/** Marks that link everything that tests start to the run and the test file. */
import { readdirSync, readFileSync } from 'node:fs';

/** The run's id, in the environment of every process of a run and its children. */
export const RUN_VARIABLE = 'DINODNS_TEST_RUN';
/** The same for everything that one test file starts. */
export const FILE_VARIABLE = 'DINODNS_TEST_FILE';
/** The folder of the run: temporary folders of its tests, and what its reporter leaves for the closing lines. */
export const FOLDER_VARIABLE = 'DINODNS_TEST_FOLDER';
/** In that folder: the temporary folders of the tests. */
export const TEMPORARY_FOLDER = 't';
/** Seconds to wait for processes that are about to end; on a busy machine that takes a while. */
export const GRACE_VARIABLE = 'DINODNS_TEST_GRACE_SECONDS';
export const graceSeconds = (): number => Number(process.env[GRACE_VARIABLE] ?? 5);
/** A file to which each test file adds a line of JSON, `FileCost`; unset in all runs but those of a benchmark. */
export const COSTS_VARIABLE = 'DINODNS_TEST_COSTS';
export interface FileCost {
  readonly file: string;
  /** Several files may run in one process, whose cost adds up. */
  readonly process: string;
  /** CPU seconds: of the process that runs the tests, and of the programs that it has started and waited for. */
  readonly own: number;
  readonly programs: number;
}
/** The PATH of a fresh machine, for the suite that needs only the workspace. */
export const PATH_VARIABLE = 'DINODNS_TEST_PATH';

/** Prefix of the names of all network namespaces of the running test file, by which leftovers are found. */
export function namespacePrefix(): string {
  return `dt-${process.env[FILE_VARIABLE] ?? process.pid}-`;
}

/** Prefix of all namespaces of a run. */
export function runNamespacePrefix(runId: string): string {
  return `dt-${runId}.`;
}

/** The name for a namespace of the running test file. */
export function namespaceName(label: string): string {
  return `${namespacePrefix()}${label}`;
}

export interface MarkedProcess {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks since boot: distinguishes a process from a later one with the same id. */
  readonly startTicks: number;
  readonly command: string;
  /** Its initial environment as `NAME=value`; empty if it may not be read. */
  readonly environment: readonly string[];
}

/** The fields of proc(5), /proc/pid/stat, from the third on: `state` is number 0. */
export function statOf(pid: number | 'self'): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may itself hold spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readProcess(pid: number): MarkedProcess | null {
  try {
    const fields = statOf(pid);
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return {
      pid,
      parent: Number(fields[1]),
      startTicks: Number(fields[19]),
      command,
      environment: environmentOf(pid),
    };
  } catch {
    // It has ended in the meantime.
    return null;
  }
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // Another user's process: not ours, unless it descends from ours.
    return [];
  }
}

/** All running processes; none if there is no `/proc`. */
export function allProcesses(): MarkedProcess[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/** Processes with this mark in their environment, and all descendants of these or of `ancestor`. */
export function markedProcesses(mark: string, ancestor?: number): MarkedProcess[] {
  const all = allProcesses();
  const found = new Map(
    all.filter(({ environment }) => environment.includes(mark)).map((marked) => [marked.pid, marked]),
  );
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const candidate of all) {
      if (candidate.parent === ancestor || found.has(candidate.parent)) found.set(candidate.pid, candidate);
    }
  }
  return [...found.values()];
}
