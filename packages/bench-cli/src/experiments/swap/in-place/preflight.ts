/** Everything that is checked before the first change. Changes nothing. */
import { forwardPatch, inversePatch, type PlannedEdit } from '../../../cluster-changes/change.ts';
import { type ClusterApi, patch, read } from '../../../cluster-changes/cluster-api.ts';
import { sessionRights } from '../../../cluster-changes/guard.ts';
import { textAt, valueAt } from '../../../cluster-changes/json.ts';
import { placeOf } from '../../../cluster-changes/place.ts';
import { demandRights, type Right, rightsOn } from '../../../cluster-changes/rights.ts';
import { rolloutOf } from '../../../cluster-changes/rollout.ts';
import { demandNoJournal } from '../../../cluster-changes/session.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { type DnsWorkload, podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { imageIn } from './await-rollout.ts';

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

/** A cluster in the middle of something else is no place to begin. */
async function demandRest({ client, api, workload, signal }: PreflightRequest): Promise<void> {
  const object = await read(api, workload.path);
  const problem = (message: string, fix: string) =>
    new BenchError('E_CONFIG', `${workload.title} ${message}`, { fix: `${fix} Nothing was changed.` });
  if (textAt(object, '/spec/updateStrategy/type') === 'OnDelete')
    throw problem(
      'replaces pods only when they are deleted (OnDelete)',
      'Set its update strategy to RollingUpdate.',
    );
  if (valueAt(object, '/spec/paused') === true)
    throw problem('is paused', 'Resume it: `kubectl rollout resume`.');
  const rollout = rolloutOf(object);
  if (rollout !== null)
    throw problem(`is not at rest: ${rollout}`, 'Wait for its rollout: `kubectl rollout status`.');
  const pods = await podsOf(client, workload, signal);
  const other = pods.find((pod) => imageIn(pod, workload) !== workload.image);
  if (pods.length === 0) throw problem('has no pods', 'Scale it up.');
  if (other !== undefined)
    throw problem(`has a pod with another image: ${imageIn(other, workload)}`, 'Wait for its rollout.');
}

/** Asks the API server to make each change, and to put it back, without doing so: admission webhooks have a say as well. */
async function tryEdits({ api, edits }: PreflightRequest): Promise<void> {
  for (const edit of edits) {
    const path = edit.object.path;
    // The way back only follows the way there, so it is tried behind it.
    const tries = [forwardPatch(edit), [...forwardPatch(edit), ...inversePatch(edit)]];
    for (const operations of tries) {
      if ((await patch(api, path, operations, { dryRun: true })) !== null) continue;
      throw new BenchError(
        'E_CLUSTER_REFUSED',
        `${edit.object.title} would not accept a change of its ${edit.what}`,
        {
          fix: 'Somebody is writing it, or an admission policy forbids it. Nothing was changed; try again.',
        },
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
