/** The programs that the test suites of this workspace need: which are here, and installing the rest. */
import { z } from 'zod';
import { BenchError } from '../errors.ts';
import { findDaemon } from '../machine/find-executable.ts';
import { findPackageManager, installPackages } from '../provision/package-manager.ts';
import type { ProvideTool, ProvisionOptions } from '../provision/provision.ts';
import { corednsFromCache } from '../servers/coredns/cache.ts';
import { corednsProgram } from '../servers/coredns/program.ts';
import type { World } from '../world.ts';

/** In a checkout only: the tests are not in the published package. */
const LIST = new URL('../../../test-support/requirements.json', import.meta.url);

const listSchema = z.record(
  z.string(),
  z.object({
    suite: z.string(),
    /** Its Debian packages. */
    packages: z.array(z.string()).default([]),
    /** The version that `bench` installs itself. */
    release: z.string().optional(),
  }),
);

export interface TestProgram {
  readonly program: string;
  readonly suite: string;
  /** Its path; null if it is missing. */
  readonly found: string | null;
  /** The Debian packages that contain it; empty if `bench` installs it without the package manager. */
  readonly packages: readonly string[];
}

async function readList(world: World): Promise<z.infer<typeof listSchema>> {
  try {
    return listSchema.parse(JSON.parse(await world.fs.readFile(LIST, 'utf8')));
  } catch (cause) {
    throw new BenchError('E_USAGE', '--for tests: there are no tests here', {
      fix: 'Run it in a checkout of the repository, as `pnpm bench doctor --for tests`.',
      cause,
    });
  }
}

async function pathOf(world: World, program: string, release: string | undefined): Promise<string | null> {
  if (release !== undefined) {
    const cached = await corednsFromCache(world, release);
    return 'found' in cached ? cached.found.executable : null;
  }
  return findDaemon(world, program);
}

/** Every program that a test may need, in the order of the list. Changes nothing. */
export async function inspectTestPrograms(world: World): Promise<readonly TestProgram[]> {
  const programs: TestProgram[] = [];
  for (const [program, { suite, packages, release }] of Object.entries(await readList(world))) {
    programs.push({ program, suite, found: await pathOf(world, program, release), packages });
  }
  return programs;
}

/**
 * Installs what is missing: CoreDNS as a run does, the rest with apt-get. Resolves with what could not be installed.
 * Rejects when aborted.
 */
export async function getTestPrograms(
  world: World,
  programs: readonly TestProgram[],
  provide: ProvideTool,
  options: ProvisionOptions,
): Promise<readonly string[]> {
  const missing = programs.filter(({ found }) => found === null);
  const problems: string[] = [];
  if (missing.some((item) => item.packages.length === 0)) {
    try {
      await provide(corednsProgram, options);
    } catch (error) {
      options.signal.throwIfAborted();
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  // Suite by suite: without Chromium, the servers are still installed.
  for (const suite of new Set(missing.map((item) => item.suite))) {
    const packages = new Set(missing.filter((item) => item.suite === suite).flatMap((item) => item.packages));
    if (packages.size > 0) problems.push(...(await installDebian(world, [...packages], options)));
  }
  return problems;
}

async function installDebian(
  world: World,
  packages: readonly string[],
  { progress, signal }: ProvisionOptions,
): Promise<string[]> {
  const system = await findPackageManager(world);
  if ('problem' in system) return [`${system.problem}. As root: apt-get install ${packages.join(' ')}`];
  // The names are Debian's; some differ in dnf and apk.
  if (system.manager.name !== 'apt-get')
    return [`Install the packages that provide them: ${packages.join(' ')}`];
  const installed = await installPackages(world, system.manager, packages, progress, signal);
  return 'problem' in installed ? [installed.problem] : [];
}
