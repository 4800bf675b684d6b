/** The DinoDNS server of this workspace (or of node_modules, once it is installed from npm). */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@dinodns-bench/program';
import { z } from 'zod';
import { readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import {
  type Attempt,
  firstThatWorks,
  inspectionOf,
  type Program,
  type ProvisionOptions,
  type WantedVersion,
  type Way,
} from '../../provision/provision.ts';
import { demandKnownVersion } from '../../provision/versions.ts';
import type { ProvisionedTool } from '../../results/record.ts';
import type { World } from '../../world.ts';
import {
  type Framework,
  type FrameworkAttempt,
  frameworkFromCache,
  frameworkFromNpm,
  frameworkVersion,
} from './framework.ts';

const PACKAGE = '@dinodns-bench/server-cluster';
const packageSchema = z.object({ name: z.string(), version: z.string() });

/** The nearest package.json above `directory` with this name. */
async function packageAbove(world: World, directory: string, name: string) {
  for (let current = directory; ; current = dirname(current)) {
    const text = await readIfThere(world, join(current, 'package.json'));
    const found = text === null ? null : packageSchema.safeParse(JSON.parse(text)).data;
    if (found?.name === name) return { directory: current, version: found.version };
    if (dirname(current) === current) return null;
  }
}

/** Version of a package as `directory` would import it; null if it cannot be found. */
async function installedVersion(world: World, directory: string, name: string): Promise<string | null> {
  for (let current = directory; ; current = dirname(current)) {
    const text = await readIfThere(world, join(current, 'node_modules', name, 'package.json'));
    if (text !== null) return packageSchema.safeParse(JSON.parse(text)).data?.version ?? null;
    if (dirname(current) === current) return null;
  }
}

/** The script to run with Node.js, with the framework beside it or another one, and the versions of its parts. */
async function dinodnsServer(world: World, other?: { version: string; from: Framework }): Promise<Attempt> {
  try {
    const entry = fileURLToPath(import.meta.resolve(PACKAGE));
    const found = await packageAbove(world, dirname(entry), PACKAGE);
    if (found === null) return { problem: `no package.json of ${PACKAGE} above ${entry}` };
    // In the workspace the sources run; from npm, what was built from them.
    const executable = join(dirname(entry), entry.endsWith('.ts') ? 'cli.ts' : 'cli.js');
    await world.fs.access(executable);
    const own = (await installedVersion(world, found.directory, 'dinodns')) ?? 'unknown';
    const framework = other === undefined ? own : `${other.version} (${other.from.origin})`;
    const node = await runToEnd(world, [world.processes.nodePath, '--version']);
    return {
      found: {
        tool: 'dinodns-server',
        version: found.version,
        executable,
        source: 'workspace',
        origin: `${PACKAGE} ${found.version} with dinodns ${framework} on Node.js ${node.stdout.trim().replace(/^v/, '')}`,
        sizeBytes: null,
        ...(other === undefined ? {} : { arguments: ['--framework', other.from.directory] }),
      },
    };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The version of the framework that comes with bench; null if it is missing. */
async function ownFramework(world: World): Promise<string | null> {
  const entry = fileURLToPath(import.meta.resolve(PACKAGE));
  return installedVersion(world, dirname(entry), 'dinodns');
}

async function withFramework(
  world: World,
  version: string,
  attempt: Promise<FrameworkAttempt>,
): Promise<Attempt> {
  const outcome = await attempt;
  return 'found' in outcome ? dinodnsServer(world, { version, from: outcome.found }) : outcome;
}

async function provide(world: World, { version, ...options }: ProvisionOptions): Promise<ProvisionedTool> {
  if (version === null || version === (await ownFramework(world))) {
    const workspace: Way = { name: 'workspace', attempt: () => dinodnsServer(world) };
    return firstThatWorks('dinodns-server', [workspace], 'Run `pnpm install` in the workspace.');
  }
  const cache: Way = {
    name: 'cache',
    attempt: () => withFramework(world, version, frameworkFromCache(world, version)),
  };
  const npm: Way = {
    name: 'npm',
    attempt: () => withFramework(world, version, frameworkFromNpm(world, { ...options, version })),
  };
  return options.allowed
    ? firstThatWorks(
        `dinodns ${version}`,
        [cache, npm],
        'Install npm, which comes with Node.js, and check that it reaches its registry.',
      )
    : firstThatWorks(`dinodns ${version}`, [cache], 'Omit --no-provision, and bench gets it.');
}

async function demandVersion(world: World, { version }: WantedVersion): Promise<void> {
  if (version === null || version === (await ownFramework(world))) return;
  if ('found' in (await frameworkFromCache(world, version))) return;
  demandKnownVersion('dinodns', version, await frameworkVersion(world, version));
}

/** From this workspace, with its framework or another version of it; `executable` is a script for Node.js. */
export const dinodnsProgram: Program = {
  name: 'dinodns-server',
  optional: false,
  provide,
  demandVersion,
  inspect: async (world) => inspectionOf(await dinodnsServer(world)),
};
