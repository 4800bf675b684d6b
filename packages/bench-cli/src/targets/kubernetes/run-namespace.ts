/** The namespace of a run: created first, removed last together with everything in it. */
import type { V1Namespace, V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { followUntil } from '../../kubernetes-api/watch.ts';
import { ownedName, thisOwner } from '../../machine/owner.ts';
import type { World } from '../../world.ts';
import { HOST_ANNOTATION, JOURNAL_ANNOTATION, LABELS, MANAGER, OWNER_ANNOTATION } from './objects/labels.ts';
import { type NamespaceRequest, namespaceObject } from './objects/namespace.ts';

/** Deleting a namespace with a few pods takes 5 to 15 seconds; a slow kubelet takes longer. */
export const NAMESPACE_GONE_SECONDS = 120;

/** True for a namespace that bench made, whatever its name is. */
export function isOurs(namespace: V1Namespace): boolean {
  return namespace.metadata?.labels?.[LABELS.managedBy] === MANAGER;
}

async function untilGone(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
  seconds: number,
): Promise<void> {
  await followUntil(
    client,
    { kind: 'Namespace', fields: `metadata.name=${name}`, signal, seconds },
    ({ objects }) => (objects.length === 0 ? true : undefined),
    async () => {
      const limit = AbortSignal.timeout(5000);
      const stuck = await client.get('Namespace', name, undefined, limit).catch(() => null);
      const conditions = stuck?.status?.conditions ?? [];
      const pods = await client.list('Pod', { namespace: name }, limit).catch(() => ({ items: [] }));
      return new BenchError(
        'E_CLUSTER_LEFTOVERS',
        `namespace ${name} still exists ${seconds} seconds after its deletion`,
        {
          evidence: [
            ...conditions.filter(({ status }) => status === 'True').map(({ message = '' }) => message),
            ...pods.items.map(
              ({ metadata, spec }) => `pod ${metadata?.name} is on node ${spec?.nodeName ?? 'none'}`,
            ),
          ],
          fix: 'Kubernetes continues to delete it; check again later with `bench cleanup --dry-run`. Pods of a lost node stay until it is back or deleted: `kubectl get nodes`.',
        },
      );
    },
  );
}

/** How often it is looked what is left. */
const LOOK_SECONDS = 2;
/** Looks that must agree: after a restart of the control plane, it has not heard from any node for some seconds. */
const LOOKS = 5;

/** What is left, if that is only pods of lost nodes, of whose kubelets Kubernetes has not heard for a while; otherwise null. */
async function lostPods(client: KubeClient, namespace: string, signal: AbortSignal) {
  const { items: pods } = await client.list('Pod', { namespace }, signal);
  const { items: nodes } = pods.length === 0 ? { items: [] } : await client.list('Node', {}, signal);
  const lost = new Map(
    nodes.flatMap(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'Unknown' ? [[metadata?.name, ready.lastTransitionTime] as const] : [];
    }),
  );
  const isLost = ({ metadata, spec }: V1Pod) =>
    metadata?.deletionTimestamp !== undefined && lost.has(spec?.nodeName);
  if (pods.length === 0 || !pods.every(isLost)) return null;
  return pods.map(({ metadata, spec }) => ({
    pod: metadata?.name,
    ...{ node: spec?.nodeName, lostAt: lost.get(spec?.nodeName) },
  }));
}

/** Resolves with what is left and why, once that is only pods of lost nodes: to wait for the namespace is then in vain. */
async function untilOnlyLostPods(client: KubeClient, name: string, signal: AbortSignal): Promise<BenchError> {
  for (let alike = 0; ; ) {
    // Where nodes may not be listed, or the API server is away for a while, the wait for the namespace says what is left.
    const left = await lostPods(client, name, signal).catch(() => null);
    alike = left === null ? 0 : alike + 1;
    if (left !== null && alike === LOOKS) {
      const nodes = [...new Set(left.map(({ node }) => node))].join(' ');
      return new BenchError('E_CLUSTER_LEFTOVERS', `namespace ${name} is left with pods of a lost node`, {
        evidence: left.map(
          ({ pod, node, lostAt }) =>
            `pod ${pod} is on node ${node}, whose kubelet is silent; lost since ${lostAt?.toString() ?? 'an unknown time'}`,
        ),
        fix: `Start the node again or, if it does not come back, delete it: \`kubectl delete node ${nodes}\`. Kubernetes then removes the pods and the namespace; \`bench cleanup --dry-run\` lists what is still there.`,
      });
    }
    await client.clock.sleep(LOOK_SECONDS, signal);
  }
}

/**
 * Resolves when there is no namespace of this name any more.
 * @throws BenchError `E_CLUSTER_LEFTOVERS` after this time, or earlier if only a lost node keeps it
 */
export async function waitUntilNamespaceGone(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
  seconds = NAMESPACE_GONE_SECONDS,
): Promise<void> {
  const settled = new AbortController();
  const either = AbortSignal.any([signal, settled.signal]);
  try {
    const gone = untilGone(client, name, either, seconds).then(() => null);
    const problem = await Promise.race([gone, untilOnlyLostPods(client, name, either)]);
    if (problem !== null) throw problem;
  } finally {
    settled.abort();
  }
}

/**
 * Creates the namespace of a run; one left by a killed run of the same ID is removed first. Resolves with the cluster's clock minus
 * ours, to within a second.
 */
export async function openNamespace(
  world: World,
  client: KubeClient,
  request: Pick<NamespaceRequest, 'name' | 'runId' | 'podSecurity' | 'annotations'>,
  signal: AbortSignal,
): Promise<number> {
  const { name, runId } = request;
  const left = await client.get('Namespace', name, undefined, signal);
  if (left !== null) {
    if (!isOurs(left)) {
      throw new BenchError('E_CLUSTER_REFUSED', `the namespace ${name} exists and does not belong to a run`, {
        fix: 'Choose another --namespace-prefix.',
      });
    }
    await client.delete('Namespace', name, undefined, signal);
    await waitUntilNamespaceGone(client, name, signal);
  }
  const owner = ownedName(runId, await thisOwner(world));
  const object = namespaceObject({ ...request, host: world.machine.hostname, owner });
  const before = world.clock.now().getTime();
  const created = await client.create('Namespace', object, signal);
  const middle = (before + world.clock.now().getTime()) / 2000;
  const stamp = created.metadata?.creationTimestamp;
  const createdAt = stamp === undefined ? middle : new Date(stamp).getTime() / 1000;
  return createdAt - middle;
}

/** A namespace that bench made, as `bench cleanup` lists it. */
export interface FoundRun {
  readonly namespace: string;
  readonly runId: string;
  readonly ageSeconds: number;
  readonly host: string;
  readonly owner: string;
  /** Of a run that changes the cluster: where its journal is. */
  readonly journalNamespace: string | null;
  /** Already being deleted. */
  readonly terminating: boolean;
}

/** Every run in the cluster, oldest first. */
export async function findRuns(
  client: KubeClient,
  now: Date,
  signal: AbortSignal,
): Promise<readonly FoundRun[]> {
  const { items } = await client.list('Namespace', { labels: { [LABELS.managedBy]: MANAGER } }, signal);
  return items
    .map(({ metadata = {}, status }): FoundRun => {
      const created = metadata.creationTimestamp === undefined ? now : new Date(metadata.creationTimestamp);
      return {
        namespace: metadata.name ?? '',
        runId: metadata.labels?.[LABELS.run] ?? '',
        ageSeconds: Math.max(0, (now.getTime() - created.getTime()) / 1000),
        host: metadata.annotations?.[HOST_ANNOTATION] ?? '',
        owner: metadata.annotations?.[OWNER_ANNOTATION] ?? '',
        journalNamespace: metadata.annotations?.[JOURNAL_ANNOTATION] ?? null,
        terminating: status?.phase === 'Terminating',
      };
    })
    .sort((a, b) => b.ageSeconds - a.ageSeconds);
}
