/** The cluster of the kubeconfig, for commands that change it. */
import type { ClusterApi } from '../../cluster-changes/cluster-api.ts';
import { connectedApi } from '../../cluster-changes/connected-api.ts';
import { createClient, type KubeClient } from '../../kubernetes-api/client.ts';
import type { World } from '../../world.ts';

export interface SwapCluster {
  readonly client: KubeClient;
  /** Its requests end with the signal of `openSwapCluster`. */
  readonly api: ClusterApi;
  /** The same, whose requests end with another signal. */
  apiUntil(signal: AbortSignal): ClusterApi;
}

/** @param signal Ends requests; not the first Ctrl-C, after which everything is put back. */
export async function openSwapCluster(
  world: World,
  context: string | undefined,
  signal: AbortSignal,
): Promise<SwapCluster> {
  // client-node takes half a second to load; only commands for clusters need it.
  const { connect } = await import('../../kubernetes-api/connect.ts');
  const connection = await connect(world, context);
  const { clock } = world;
  const apiUntil = (until: AbortSignal) => connectedApi({ connection, clock, signal: until });
  return { client: createClient(connection, { clock }), api: apiUntil(signal), apiUntil };
}
