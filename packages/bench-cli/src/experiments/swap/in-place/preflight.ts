/** Everything that is checked before the first change. Changes nothing. */
import { demandRest } from '../../../cluster-changes/at-rest.ts';
import { forwardPatch, inversePatch, type PlannedEdit } from '../../../cluster-changes/change.ts';
import { type ClusterApi, patch } from '../../../cluster-changes/cluster-api.ts';
import { sessionRights } from '../../../cluster-changes/guard.ts';
import { demandRights, placeOf, rightsOn } from '../../../cluster-changes/rights.ts';
import { demandNoJournal } from '../../../cluster-changes/session.ts';
import { clusterRefuses } from '../../../errors.ts';
import type { Right } from '../../../kubernetes-api/access.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import type { DnsWorkload } from '../../../targets/kubernetes/dns-copy/find-workload.ts';

/** The file that grants the rights. */
export const ROLE_FILE = 'k8s/rbac-swap.yaml';

export interface PreflightRequest {
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly workload: DnsWorkload;
  readonly edits: readonly PlannedEdit[];
  readonly leaseNamespace: string;
  /** The namespace that the run will have. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Every right that the run takes beyond those of `bench run`: for each change, its inverse, the journal and the guard. */
export function inPlaceRights({
  workload,
  edits,
  leaseNamespace,
  namespace,
}: Omit<PreflightRequest, 'client' | 'api' | 'signal'>): Right[] {
  const paths = edits.map(({ object }) => object.path);
  // Also of what is paused: it rests when its pods are gone.
  const namespaces = new Set([workload.namespace, ...paths.flatMap((path) => placeOf(path).namespace ?? [])]);
  return [
    ...sessionRights(paths, leaseNamespace, namespace),
    ...[...namespaces].flatMap((item) =>
      rightsOn({ group: '', resource: 'pods', namespace: item, name: '' }, 'list'),
    ),
    ...rightsOn({ group: '', resource: 'services', namespace: workload.namespace, name: '' }, 'list'),
  ];
}

/** Asks the API server to make each change, and to put it back, without doing so: admission webhooks have a say as well. */
async function tryEdits({ api, edits }: PreflightRequest): Promise<void> {
  for (const edit of edits) {
    const path = edit.object.path;
    // The way back only follows the way there, so it is tried behind it.
    const tries = [forwardPatch(edit), [...forwardPatch(edit), ...inversePatch(edit)]];
    for (const operations of tries) {
      if ((await patch(api, path, operations, { dryRun: true })) !== null) continue;
      throw clusterRefuses(
        `${edit.object.title} would not accept a change of its ${edit.what}`,
        'Somebody is writing it, or an admission policy forbids it. Nothing was changed; try again.',
      );
    }
  }
}

/**
 * @throws BenchError that names a missing right, a workload that is not at rest or a change that is refused;
 * JournalPending if another run has not put everything back.
 */
export async function preflight(request: PreflightRequest): Promise<void> {
  const { client, api, leaseNamespace, signal } = request;
  await demandRights(client, inPlaceRights(request), ROLE_FILE, signal);
  await demandNoJournal(api, leaseNamespace);
  await demandRest(request);
  await tryEdits(request);
}
