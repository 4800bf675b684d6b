/** Which of the optional servers are on this machine. */

import { toolFromPath } from '../../src/provision/path-tools.ts';
import { realWorld } from '../../src/world.ts';

const OPTIONAL = { knot: 'knotd', nsd: 'nsd' } as const;

/** Names of the optional server kinds that are installed; all of them are demanded in CI. */
export async function installedServers(): Promise<string[]> {
  const world = realWorld();
  const names: string[] = [];
  for (const [name, tool] of Object.entries(OPTIONAL)) {
    const attempt = await toolFromPath(world, tool);
    if ('found' in attempt) names.push(name);
    else if (world.env.DINODNS_BENCH_REQUIRE_SERVERS === '1') throw new Error(`${name} is not installed`);
    else console.warn(`${name} is not installed here: it is left out`);
  }
  return names;
}
