/** What tests may need beyond the workspace, where to find it, and how to get it. */
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import table from '../requirements.json' with { type: 'json' };
import { SUITES, type Suite } from './suites.ts';

/**
 * A program; `root`: permission to make network namespaces and to switch users; or `conformance data`: a directory of
 * third-party test data, which is too large for the repository and not ours.
 */
export type Requirement = Program | 'root' | 'conformance data';
export type Program = keyof typeof table;

const WORKSPACE = resolve(import.meta.dirname, '../../..');

/** The suite whose tests may have this requirement. */
export function suiteOf(requirement: Requirement): Suite {
  if (requirement === 'conformance data') return 'conformance';
  const name = requirement === 'root' ? 'servers' : table[requirement].suite;
  return SUITES.find((suite) => suite === name) ?? 'servers';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where `bench` caches CoreDNS. */
function cachedCoredns(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'dinodns-bench', 'coredns', table.coredns.release, 'coredns');
}

/** The path of a program in PATH, or in the `sbin` next to a `bin` in PATH: many users' PATH lacks the one with daemons. */
export function findInPath(program: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  const beside = directories
    .filter((directory) => basename(directory) === 'bin')
    .map((directory) => join(dirname(directory), 'sbin'));
  return [...directories, ...beside].map((directory) => join(directory, program)).find(isExecutable);
}

/** The path of a program; undefined if it is not on this machine. */
export function findProgram(program: Program): string | undefined {
  // A CoreDNS in PATH may be any version; tests use the same one as runs.
  if (program === 'coredns') return [process.env.COREDNS ?? '', cachedCoredns()].find(isExecutable);
  const override = program === 'chromium' ? process.env.CHROMIUM_PATH : undefined;
  return override || findInPath(program);
}

/** The directory of the conformance data: `DINODNS_BENCH_CONFORMANCE`, else next to the workspace. */
export function conformanceDirectory(): string {
  return process.env.DINODNS_BENCH_CONFORMANCE || join(WORKSPACE, '../shared/conformance');
}

/** Why this machine does not meet the requirement; null if it does. */
export function problemWith(requirement: Requirement): string | null {
  if (requirement === 'root') {
    return process.platform === 'linux' && process.getuid?.() === 0 ? null : 'needs root on Linux';
  }
  if (requirement === 'conformance data') {
    const directory = conformanceDirectory();
    return existsSync(directory) ? null : `${directory} is missing (set DINODNS_BENCH_CONFORMANCE)`;
  }
  return findProgram(requirement) === undefined ? `${requirement} is missing` : null;
}

const REQUIREMENTS = [...(Object.keys(table) as Program[]), 'root', 'conformance data'] as const;

/** Programs of the suite that are missing on this machine. */
export function problemsOf(suite: Suite): string[] {
  return REQUIREMENTS.filter((requirement) => suiteOf(requirement) === suite).flatMap(
    (requirement) => problemWith(requirement) ?? [],
  );
}
