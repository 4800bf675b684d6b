/** The DinoDNS server of this workspace (or of node_modules, once it is installed from npm). */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@dinodns-bench/program';
import { z } from 'zod';
import { readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import { type Attempt, firstThatWorks } from '../../provision/attempt.ts';
import { inspectionOf, type Program } from '../../provision/provision.ts';
import type { World } from '../../world.ts';

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

/** The script to run with Node.js, and the versions of its parts. */
async function dinodnsServer(world: World): Promise<Attempt> {
  try {
    const entry = fileURLToPath(import.meta.resolve(PACKAGE));
    const found = await packageAbove(world, dirname(entry), PACKAGE);
    if (found === null) return { problem: `no package.json of ${PACKAGE} above ${entry}` };
    // In the workspace the sources run; from npm, what was built from them.
    const executable = join(dirname(entry), entry.endsWith('.ts') ? 'cli.ts' : 'cli.js');
    await world.fs.access(executable);
    const framework = (await installedVersion(world, found.directory, 'dinodns')) ?? 'unknown';
    const node = await runToEnd(world, [world.processes.nodePath, '--version']);
    return {
      found: {
        tool: 'dinodns-server',
        version: found.version,
        executable,
        source: 'workspace',
        origin: `${PACKAGE} ${found.version} with dinodns ${framework} on Node.js ${node.stdout.trim().replace(/^v/, '')}`,
        sizeBytes: null,
      },
    };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** From this workspace; `executable` is a script for Node.js. */
export const dinodnsProgram: Program = {
  name: 'dinodns-server',
  optional: false,
  provide: (world) =>
    firstThatWorks(
      'dinodns-server',
      [{ name: 'workspace', attempt: () => dinodnsServer(world) }],
      'Run `pnpm install` in the workspace.',
    ),
  inspect: async (world) => inspectionOf(await dinodnsServer(world)),
};
