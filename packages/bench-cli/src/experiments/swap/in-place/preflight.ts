/** Everything that is checked before the first change. Changes nothing. */
import { demandRest } from '../../../cluster-changes/at-rest.ts';
import {
  asMade,
  describeChange,
  findingOf,
  forwardPatch,
  inversePatch,
  MARK,
  markOf,
  type PlannedEdit,
} from '../../../cluster-changes/change.ts';
import { type ClusterApi, patch, read } from '../../../cluster-changes/cluster-api.ts';
import { placeOf, rightsOn } from '../../../cluster-changes/rights.ts';
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
  readonly signal: AbortSignal;
}

/** Beyond those of `bench run` and of changing the objects under a journal: of seeing what comes of the changes. */
export function watchingRights({ workload, edits }: Pick<PreflightRequest, 'workload' | 'edits'>): Right[] {
  // Also of what is paused: it rests when its pods are gone.
  const places = edits.flatMap(({ object }) => placeOf(object.path).namespace ?? []);
  return [
    ...[...new Set([workload.namespace, ...places])].flatMap((namespace) =>
      rightsOn({ group: '', resource: 'pods', namespace, name: '' }, 'list'),
    ),
    ...rightsOn({ group: '', resource: 'services', namespace: workload.namespace, name: '' }, 'list'),
  ];
}

/** Asks the API server to make each change, and to put it back, without doing so: admission webhooks have a say as well. */
async function tryEdits({ api, edits }: PreflightRequest): Promise<void> {
  for (const edit of edits) {
    const path = edit.object.path;
    // The way back only follows the way there, so it is tried behind it.
    const there = { operations: forwardPatch(edit), kind: 'after' };
    const back = { operations: [...forwardPatch(edit), ...inversePatch(edit)], kind: 'before' };
    for (const { operations, kind } of [there, back]) {
      const answer = await patch(api, path, operations, { dryRun: true });
      if (answer === null)
        throw clusterRefuses(
          `${edit.object.title} would not accept a change of its ${edit.what}`,
          'Somebody is writing it, or an admission policy forbids it. Nothing was changed; try again.',
        );
      if (findingOf(edit, answer).kind !== kind)
        throw clusterRefuses(
          `${edit.object.title} would not keep a change of its ${edit.what}: ${describeChange(asMade(edit, answer))}`,
          'An admission webhook rewrites it, such as tags of images into digests: give what it makes of it. Nothing was changed.',
        );
    }
  }
}

/** A run whose mark is left has no journal any more, or it would have been refused before. */
async function demandUnmarked({ api, edits }: PreflightRequest): Promise<void> {
  for (const { object } of edits) {
    const mark = markOf(await read(api, object.path));
    if (mark === '') continue;
    const { namespace, resource, group, name } = placeOf(object.path);
    const at = namespace === null ? '' : ` -n ${namespace}`;
    const kind = group === '' ? resource : `${resource}.${group}`;
    throw clusterRefuses(
      `${object.title} carries the mark of run ${mark}, whose journal is gone`,
      `Check that it is as it should be, then remove the mark: \`kubectl${at} label ${kind} ${name} ${MARK}-\`. Nothing was changed.`,
    );
  }
}

/** @throws BenchError that names a workload that is not at rest, a mark that is left, or a change that is refused */
export async function preflight(request: PreflightRequest): Promise<void> {
  await demandRest(request);
  await demandUnmarked(request);
  await tryEdits(request);
}
