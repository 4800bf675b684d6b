/** What both methods ask: names of the cluster's own, and names outside of it. */
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { clusterWorkload } from '../../targets/kubernetes/cluster-workloads.ts';
import { writeQueryFile } from '../../workload/load-workload.ts';
import type { World } from '../../world.ts';

/** Writes the query files of both workloads into `directory`; resolves with their paths. */
export async function writeQueries(
  world: World,
  client: KubeClient,
  directory: string,
  signal: AbortSignal,
): Promise<{ readonly internal: string; readonly external: string }> {
  const files = {
    internal: `${directory}/queries-internal.txt`,
    external: `${directory}/queries-external.txt`,
  };
  await writeQueryFile(world, files.internal, await clusterWorkload(client, 'service', signal));
  await writeQueryFile(world, files.external, await clusterWorkload(client, 'outside', signal));
  return files;
}
