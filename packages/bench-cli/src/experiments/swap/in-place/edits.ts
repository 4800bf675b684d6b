/** The changes of an in-place swap: the image, and the reconcilers that would put it back. */
import { editOf, forwardPatch, type PlannedEdit } from '../../../cluster-changes/change.ts';
import { type ClusterApi, patch, read } from '../../../cluster-changes/cluster-api.ts';
import { isObject, textAt, valueAt } from '../../../cluster-changes/json.ts';
import { placeOf } from '../../../cluster-changes/rights.ts';
import type { ChangeSession } from '../../../cluster-changes/session.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import type { DnsWorkload } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import type { Edits } from '../placed.ts';

/** The image of the DNS container; nothing else of the workload. */
function imageEdit(workload: DnsWorkload, image: string): PlannedEdit {
  const { container, containerIndex, title, path, uid } = workload;
  const place = `/spec/template/spec/containers/${containerIndex}`;
  return {
    what: `image of container ${container}`,
    object: { path, title, uid },
    edits: [{ pointer: `${place}/image`, before: workload.image, after: image }],
    pinned: [{ pointer: `${place}/name`, value: container }],
  };
}

/** Finds what has to be changed; changes nothing. */
export async function planEdits(api: ClusterApi, workload: DnsWorkload, imageB: string): Promise<Edits> {
  const image = imageEdit(workload, imageB);
  const pauses = await reconcilerEdits(api, workload);
  return { pauses, image, all: [...pauses, image] };
}

/** OpenShift's resource of its DNS: `Unmanaged` makes its operator leave the DaemonSet alone. */
const DNS_RESOURCE = '/apis/operator.openshift.io/v1/dnses/default';
const MANAGEMENT = '/spec/managementState';
const UNMANAGED = 'Unmanaged';

/** The one above comes first: it would scale the other up again. */
const OPERATORS = [
  { namespace: 'openshift-cluster-version', name: 'cluster-version-operator' },
  { namespace: 'openshift-dns-operator', name: 'dns-operator' },
] as const;

const OPENSHIFT_NAMESPACE = 'openshift-dns';

/** Null where the resource does not exist, or knows no management state. */
async function unmanagedEdit(api: ClusterApi): Promise<PlannedEdit | null> {
  const resource = await read(api, DNS_RESOURCE);
  if (resource === null) return null;
  const state = textAt(resource, MANAGEMENT);
  const place = { path: DNS_RESOURCE, title: 'dns.operator.openshift.io default' };
  const before = state === '' ? null : state;
  const edit = editOf('managementState', place, resource, { pointer: MANAGEMENT, before, after: UNMANAGED });
  // A schema without the field drops it silently.
  const tried = await patch(api, DNS_RESOURCE, forwardPatch(edit), { dryRun: true });
  return textAt(tried, MANAGEMENT) === UNMANAGED ? edit : null;
}

/** Null for an operator that does not run. */
async function scaleEdit(
  api: ClusterApi,
  { namespace, name }: (typeof OPERATORS)[number],
): Promise<PlannedEdit | null> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const operator = await read(api, path);
  const replicas = valueAt(operator, '/spec/replicas');
  if (typeof replicas !== 'number' || replicas === 0) return null;
  const edit = { pointer: '/spec/replicas', before: replicas, after: 0 };
  return editOf('replicas', { path, title: `Deployment ${namespace}/${name}` }, operator, edit);
}

/** What has to be paused, in this order, so that nobody puts the image back. */
async function reconcilerEdits(api: ClusterApi, workload: DnsWorkload): Promise<PlannedEdit[]> {
  if (workload.namespace !== OPENSHIFT_NAMESPACE) return [];
  const unmanaged = await unmanagedEdit(api);
  if (unmanaged !== null) {
    const isAlready = unmanaged.edits.every(({ before, after }) => before === after);
    return isAlready ? [] : [unmanaged];
  }
  const edits: PlannedEdit[] = [];
  for (const operator of OPERATORS) {
    const edit = await scaleEdit(api, operator);
    if (edit !== null) edits.push(edit);
  }
  return edits;
}

/** What pausing needs; `seconds`: how long the pods of one operator may take to end. */
interface Pausing {
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly session: ChangeSession;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Pods of a workload, those included that are just ending: an operator works until its end. */
async function countPods({ client, api, signal }: Pausing, path: string): Promise<number> {
  const selector = valueAt(await read(api, path), '/spec/selector/matchLabels');
  if (!isObject(selector)) return 0;
  const labels = Object.fromEntries(Object.entries(selector).map(([name, value]) => [name, String(value)]));
  const { items } = await client.list('Pod', { namespace: placeOf(path).namespace ?? '', labels }, signal);
  return items.length;
}

/** Applies the edits that pause reconcilers, in their order; the pods of each are gone before the next one is paused. */
export async function pauseReconcilers(pausing: Pausing, edits: readonly PlannedEdit[]): Promise<void> {
  const { client, session, seconds, signal } = pausing;
  for (const edit of edits) {
    const { title, path } = edit.object;
    await session.apply(edit);
    await waitUntil({
      ...{ clock: client.clock, seconds, signal },
      problem: async () => ((await countPods(pausing, path)) > 0 ? 'it has pods' : null),
      late: () =>
        new BenchError(
          'E_POD_TIMEOUT',
          `${title} still has pods ${seconds} seconds after it was scaled to 0`,
          {
            fix: 'Find out what keeps them: `kubectl get events`. Everything was put back.',
          },
        ),
    });
  }
}
