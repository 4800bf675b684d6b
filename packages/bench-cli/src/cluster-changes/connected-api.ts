/** The API of the cluster of a kubeconfig, for changes: patient while the API server is away. */
import { BenchError } from '../errors.ts';
import { ApiError, explainApiError, isTransient } from '../kubernetes-api/api-error.ts';
import { withBackoff } from '../kubernetes-api/backoff.ts';
import { AWAY_SECONDS, answerOnce, createClient, type KubeClient } from '../kubernetes-api/client.ts';
import type { Connection } from '../kubernetes-api/connect.ts';
import type { Clock, World } from '../world.ts';
import { bodyOf, type ClusterApi, Refusal } from './cluster-api.ts';
import { describeRight, placeOf } from './rights.ts';

/** @param signal Ends requests and the pauses between them. */
export function connectedApi(connection: Connection, clock: Clock, signal: AbortSignal): ClusterApi {
  return {
    send: (request) =>
      withBackoff({ clock, signal, forSeconds: AWAY_SECONDS }, async () => {
        const { status, text, error } = await answerOnce(connection, clock, { ...request, signal });
        if (isTransient(error)) throw error;
        return { status, body: bodyOf(text) };
      }),
  };
}

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
  const apiUntil = (until: AbortSignal) => connectedApi(connection, clock, until);
  return { client: createClient(connection, { clock }), api: apiUntil(signal), apiUntil };
}

/** `patch /apis/apps/v1/namespaces/a/deployments/b` → `patch deployments.apps b in namespace a`. */
function inWords(action: string): string {
  const [verb = '', path = ''] = action.split(' ');
  return describeRight({ ...placeOf(path), verb });
}

/** A failure of a request for changes, as an error that says what to do. */
export function explainRefusal(error: unknown): unknown {
  const known =
    error instanceof Refusal ? new ApiError(error.status, '', error.message, inWords(error.action)) : error;
  return explainApiError(known);
}
