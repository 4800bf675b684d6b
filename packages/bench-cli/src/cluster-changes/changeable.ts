/** The cluster of a kubeconfig, for commands that change it. */
import { BenchError } from '../errors.ts';
import { createClient, type KubeClient } from '../kubernetes-api/client.ts';
import type { World } from '../world.ts';
import type { ClusterApi } from './cluster-api.ts';
import { connectedApi } from './connected-api.ts';

export interface ChangeableCluster {
  readonly client: KubeClient;
  /** Its requests end with the signal of `openChangeable`. */
  readonly api: ClusterApi;
  /** The same, whose requests end with another signal. */
  apiUntil(signal: AbortSignal): ClusterApi;
}

/**
 * Nobody changes the DNS of a cluster by a slip.
 * @throws BenchError `E_USAGE`
 */
export function demandConsent(
  { yesChangeClusterDns }: { readonly yesChangeClusterDns: boolean },
  change: string,
): void {
  if (yesChangeClusterDns) return;
  throw new BenchError('E_USAGE', `${change}, which all programs of the cluster use`, {
    fix: 'See what would be done with --dry-run; add --yes-change-cluster-dns to do it.',
  });
}

/** @param signal Ends requests; not the first Ctrl-C, after which everything is put back. */
export async function openChangeable(
  world: World,
  context: string | undefined,
  signal: AbortSignal,
): Promise<ChangeableCluster> {
  // client-node takes half a second to load; only commands for clusters need it.
  const { connect } = await import('../kubernetes-api/connect.ts');
  const connection = await connect(world, context);
  const { clock } = world;
  const apiUntil = (until: AbortSignal) => connectedApi({ connection, clock, signal: until });
  return { client: createClient(connection, { clock }), api: apiUntil(signal), apiUntil };
}
