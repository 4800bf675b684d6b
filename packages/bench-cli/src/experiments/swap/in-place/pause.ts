/** Pauses what would put the image back. */
import type { PlannedEdit } from '../../../cluster-changes/change.ts';
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import { isObject, valueAt } from '../../../cluster-changes/json.ts';
import { placeOf } from '../../../cluster-changes/place.ts';
import type { ChangeSession } from '../../../cluster-changes/session.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';

export interface PauseRequest {
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly session: ChangeSession;
  /** How long the pods of one operator may take to end. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Pods of a workload, those included that are just ending: an operator works until its end. */
async function countPods({ client, api, signal }: PauseRequest, path: string): Promise<number> {
  const selector = valueAt(await read(api, path), '/spec/selector/matchLabels');
  if (!isObject(selector)) return 0;
  const labels = Object.fromEntries(Object.entries(selector).map(([name, value]) => [name, String(value)]));
  const { items } = await client.list('Pod', { namespace: placeOf(path).namespace ?? '', labels }, signal);
  return items.length;
}

async function awaitNoPods(request: PauseRequest, { object: { title, path } }: PlannedEdit): Promise<void> {
  const { client, seconds, signal } = request;
  await waitUntil({
    ...{ clock: client.clock, seconds, signal },
    problem: async () => ((await countPods(request, path)) > 0 ? 'it has pods' : null),
    late: () =>
      new BenchError('E_POD_TIMEOUT', `${title} still has pods ${seconds} seconds after it was scaled to 0`, {
        fix: 'Find out what keeps them: `kubectl get events`. Everything was put back.',
      }),
  });
}

/** Applies the edits in their order; each rests before the next one is paused. */
export async function pauseReconcilers(request: PauseRequest, edits: readonly PlannedEdit[]): Promise<void> {
  for (const edit of edits) {
    await request.session.apply(edit);
    await awaitNoPods(request, edit);
  }
}
