/** What both methods ask: names of the cluster's own, and names outside of it. */
import { resolve } from 'node:path';
import { LoadError } from '@dinodns-bench/load/workload';
import { whyUnreadable } from '@dinodns-bench/program';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { clusterWorkload } from '../../targets/kubernetes/cluster-workloads.ts';
import { fileWorkload, writeQueryFile } from '../../workload/load-workload.ts';
import type { BenchWorkload } from '../../workload/workload.ts';
import type { World } from '../../world.ts';
import { NAME_SETS, type NameSet } from './evidence.ts';

/** What the user wants to be asked, by workload; the rest is the cluster's own. */
export type OwnQueries = Readonly<Partial<Record<NameSet, BenchWorkload>>>;

const FLAGS = {
  internal: ['--queries-internal', 'queriesInternal'],
  external: ['--queries-external', 'queriesExternal'],
} as const satisfies Record<NameSet, readonly [flag: string, name: string]>;

/**
 * The files of the flags, before anything is connected to.
 * @throws BenchError `E_UNREADABLE` for one that cannot be read; LoadError `E_QUERY_FILE` with the lines that are no queries.
 */
export async function readOwnQueries(
  world: Pick<World, 'fs' | 'cwd'>,
  values: Readonly<Record<string, unknown>>,
): Promise<OwnQueries> {
  const own: Partial<Record<NameSet, BenchWorkload>> = {};
  for (const kind of NAME_SETS) {
    const [flag, name] = FLAGS[kind];
    const file = values[name];
    if (typeof file !== 'string') continue;
    try {
      own[kind] = fileWorkload(file, await world.fs.readFile(resolve(world.cwd, file)));
    } catch (cause) {
      if (cause instanceof LoadError) throw cause;
      throw new BenchError('E_UNREADABLE', `${flag}: "${file}" ${whyUnreadable(cause)}`, {
        fix: 'Give the path of a file with a name and a type on each line.',
        cause,
      });
    }
  }
  return own;
}

/** Which names are asked for, where the user has given them: for conditions. */
export function queryConditions(own: OwnQueries): Record<string, string> {
  return Object.fromEntries(
    Object.entries(own).map(([names, { name, size }]) => [
      `queries of ${names}`,
      `${name}, ${size} different ones`,
    ]),
  );
}

/** Writes the query files of both workloads into `directory`; resolves with their paths. */
export async function writeQueries(
  world: World,
  client: KubeClient,
  directory: string,
  own: OwnQueries,
  signal: AbortSignal,
): Promise<{ readonly internal: string; readonly external: string }> {
  const files = {
    internal: `${directory}/queries-internal.txt`,
    external: `${directory}/queries-external.txt`,
  };
  for (const [kind, ofCluster] of [
    ['internal', 'service'],
    ['external', 'outside'],
  ] as const)
    await writeQueryFile(world, files[kind], own[kind] ?? (await clusterWorkload(client, ofCluster, signal)));
  return files;
}
