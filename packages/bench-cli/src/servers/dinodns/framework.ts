/**
 * Other versions of the framework: installed from npm beside each other in the cache, as
 * `dinodns/<version>/node_modules/dinodns`. No script of a package is run.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { findExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import { cacheError, cacheRoot, withStaging } from '../../provision/cache.ts';
import type { VersionedOptions } from '../../provision/provision.ts';
import type { VersionAnswer } from '../../provision/versions.ts';
import { jsonIn } from '../../text.ts';
import type { World } from '../../world.ts';

const PACKAGE = 'dinodns';

/** Three small packages; slow mirrors included. */
const INSTALL_SECONDS = 120;
const ANSWER_SECONDS = 10;

/** What npm keeps of an installation: where each package came from, and its checksum. */
const LOCK_FILE = 'node_modules/.package-lock.json';
const lockSchema = z.object({
  packages: z.record(z.string(), z.looseObject({ version: z.string(), integrity: z.string().optional() })),
});

/** A framework in the cache. */
export interface Framework {
  /** Holds its package.json. */
  readonly directory: string;
  readonly origin: string;
  readonly source: 'cache' | 'npm';
}

/** The framework, or in words why this way does not work. */
export type FrameworkAttempt = { readonly found: Framework } | { readonly problem: string };

function placeOf(world: World, version: string): string {
  return join(cacheRoot(world), PACKAGE, version);
}

/** The checksum in npm's list; null if this is not that version. */
async function installedIntegrity(world: World, root: string, version: string): Promise<string | null> {
  const text = await readIfThere(world, join(root, LOCK_FILE));
  const lock = text === null ? undefined : lockSchema.safeParse(JSON.parse(text)).data;
  const entry = lock?.packages[`node_modules/${PACKAGE}`];
  return entry?.version === version ? (entry.integrity ?? 'no checksum') : null;
}

const originOf = (version: string, integrity: string) =>
  `npm install --ignore-scripts ${PACKAGE}@${version}, ${integrity}`;

/** From the cache. */
export async function frameworkFromCache(world: World, version: string): Promise<FrameworkAttempt> {
  const root = placeOf(world, version);
  const integrity = await installedIntegrity(world, root, version);
  if (integrity === null) return { problem: `${root} does not hold it` };
  const directory = join(root, 'node_modules', PACKAGE);
  return { found: { directory, source: 'cache', origin: originOf(version, integrity) } };
}

/** Installs and caches it. Rejects only if the cache cannot be written, or when aborted. */
export async function frameworkFromNpm(
  world: World,
  { version, progress, signal }: VersionedOptions,
): Promise<FrameworkAttempt> {
  const npm = await findExecutable(world, 'npm');
  if (npm === null) return { problem: 'npm is not installed' };
  progress.step(`Getting ${PACKAGE} ${version}: npm install --ignore-scripts ${PACKAGE}@${version}`);
  return withStaging(world, async (staging) => {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--save-exact'];
    const { code, stderr } = await runToEnd(
      world,
      [npm, 'install', '--prefix', staging, ...flags, `${PACKAGE}@${version}`],
      { cwd: staging, timeoutSeconds: INSTALL_SECONDS },
    );
    signal.throwIfAborted();
    const integrity = await installedIntegrity(world, staging, version);
    if (code !== 0 || integrity === null) {
      const said = stderr.split('\n').filter((line) => /^npm error (?!A complete log)/.test(line));
      return { problem: `npm install failed: ${said[0] ?? `exit status ${code}`}` };
    }
    const root = placeOf(world, version);
    try {
      await world.fs.mkdir(join(root, '..'), { recursive: true });
      await world.fs.rm(root, { recursive: true, force: true });
      await world.fs.rename(staging, root);
    } catch (cause) {
      throw cacheError(root, cause);
    }
    const directory = join(root, 'node_modules', PACKAGE);
    return { found: { directory, source: 'npm', origin: originOf(version, integrity) } };
  });
}

/** What `npm view` says as JSON; null if npm is missing, or says nothing that is. */
async function askNpm(world: World, ...words: readonly string[]): Promise<unknown> {
  const npm = await findExecutable(world, 'npm');
  if (npm === null) return null;
  const { stdout } = await runToEnd(
    world,
    [npm, 'view', ...words, '--json', '--fetch-retries=0', `--fetch-timeout=${ANSWER_SECONDS}000`],
    { cwd: '/', timeoutSeconds: ANSWER_SECONDS + 1 },
  );
  return jsonIn(stdout);
}

// npm prints a single version without brackets, and nothing for a range without a match.
const versionsSchema = z.union([z.array(z.string()), z.string()]).transform((found) => [found].flat());
const deniedSchema = z.object({ error: z.object({ code: z.literal('E404') }) });

/** Whether npm's registry has a version of the framework. Takes seconds at most. */
export async function frameworkVersion(world: World, version: string): Promise<VersionAnswer> {
  const said = await askNpm(world, `${PACKAGE}@${version}`, 'version');
  if (versionsSchema.safeParse(said).success) return { known: true, others: [] };
  if (!deniedSchema.safeParse(said).success) return { known: null, others: [] };
  const others = versionsSchema.safeParse(await askNpm(world, PACKAGE, 'versions'));
  return { known: false, others: others.data ?? [] };
}
