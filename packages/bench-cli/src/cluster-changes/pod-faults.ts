/** Faults of pods behind a Service: how each is made, when it is over, and the rights that it takes. */
import type { V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../errors.ts';
import type { Right } from '../kubernetes-api/access.ts';
import type { KubeClient } from '../kubernetes-api/client.ts';
import { killServer } from '../targets/kubernetes/dns-copy/beside.ts';
import type { DnsWorkload } from '../targets/kubernetes/dns-copy/find-workload.ts';
import { restartsOf } from '../targets/kubernetes/pod-state.ts';
import { editOf, type PlannedEdit } from './change.ts';
import { type ClusterApi, create, patch, read } from './cluster-api.ts';
import type { Guarded } from './guarded.ts';
import { isObject, pointerOf, textAt, valueAt } from './json.ts';
import { rightsOn } from './rights.ts';
import { rolloutOf } from './rollout.ts';

export const POD_FAULTS = ['rollout', 'delete', 'kill', 'scale-down', 'drain'] as const;
export type PodFault = (typeof POD_FAULTS)[number];

/** The pods that are disrupted, and how they are reached. */
export interface Pods {
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly workload: Pick<DnsWorkload, 'path' | 'namespace' | 'labels'>;
  /** As they were before the fault. */
  readonly before: readonly V1Pod[];
  /** For changes of nodes; null where none is to be made. */
  readonly guarded: Guarded | null;
  /** Of the API: what the guard may put back. */
  readonly protectedPaths: readonly string[];
  readonly signal: AbortSignal;
}

/** As `kubectl rollout restart` does, under a name of our own. */
const ROLLOUT_POINTER = '/spec/template/metadata/annotations';
const ROLLOUT_ANNOTATION = 'dinodns-bench/rollout';

const podPath = (namespace: string, pod: V1Pod | undefined) =>
  `/api/v1/namespaces/${namespace}/pods/${pod?.metadata?.name}`;

async function change({ api, workload: { path } }: Pods, pointer: string, value: string | number | object) {
  if ((await patch(api, path, [{ op: 'add', path: pointer, value: value as never }])) !== null) return;
  throw changedByOthers(`${path} was changed or deleted by somebody else`);
}

const changedByOthers = (problem: string) =>
  new BenchError('E_CLUSTER_CHANGED', problem, {
    fix: 'Find out who writes it, and repeat the trial with --resume.',
  });

const nodePath = (name: string) => `/api/v1/nodes/${name}`;

/**
 * The node that is drained: one with pods, which the guard may put back, and that has not all of them.
 * @throws BenchError `E_CLUSTER_CHANGED` or `E_CONFIG` if there is none
 */
export function nodeToDrain(pods: readonly V1Pod[], protectedPaths: readonly string[]): string {
  const names = pods.map(({ spec }) => spec?.nodeName ?? '');
  const possible = names.filter((name) => protectedPaths.includes(nodePath(name)));
  const node = possible.find((name) => names.some((other) => other !== name));
  if (node !== undefined) return node;
  const [only] = possible;
  if (only === undefined)
    throw new BenchError(
      'E_CLUSTER_CHANGED',
      `no pod is on a node that may be drained: ${names.join(', ')}`,
      {
        evidence: protectedPaths.map((path) => `may be drained: ${path}`),
        fix: 'Start a new run if nodes were added or their labels or taints were changed since this one began.',
      },
    );
  throw new BenchError('E_CONFIG', `all ${names.length} pods are on node ${only}: without it there is none`, {
    fix: 'Give more pods, for example --factors replicas=4, or choose nodes with room for them: --server-node.',
  });
}

function cordon(node: unknown): PlannedEdit {
  const name = textAt(node, '/metadata/name');
  const edit = { pointer: '/spec/unschedulable', before: null, after: true };
  return editOf('unschedulable', { path: nodePath(name), title: `Node ${name}` }, node, edit);
}

async function drain(
  { api, workload: { namespace }, before, guarded, protectedPaths }: Pods,
  begins: () => void,
): Promise<void> {
  const node = nodeToDrain(before, protectedPaths);
  await guarded?.session.apply(cordon(await read(api, nodePath(node))));
  // The cordon takes nothing from clients.
  begins();
  for (const pod of before.filter(({ spec }) => spec?.nodeName === node)) {
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.metadata?.name, namespace },
    };
    await create(api, `${podPath(namespace, pod)}/eviction`, eviction);
  }
}

const MAKE: Readonly<Record<PodFault, (pods: Pods, begins: () => void) => Promise<unknown>>> = {
  rollout: (pods) =>
    change(pods, ROLLOUT_POINTER, { [ROLLOUT_ANNOTATION]: pods.client.clock.now().toISOString() }),
  delete: ({ client, workload: { namespace }, before, signal }) =>
    client.delete('Pod', before[0]?.metadata?.name ?? '', namespace, signal),
  kill: ({ client, before: [pod = {}], signal }) => killServer(client, pod, signal),
  'scale-down': (pods) => change(pods, '/spec/replicas', pods.before.length - 1),
  drain,
};

/** @param begins Called just before the request that has an effect, where others come first. */
export function makeFault(fault: PodFault, pods: Pods, begins: () => void): Promise<unknown> {
  return MAKE[fault](pods, begins);
}

/** Whether all pods run as the Deployment says; others may be ending. */
export async function isRolledOut({ api, workload }: Pick<Pods, 'api' | 'workload'>): Promise<boolean> {
  return rolloutOf(await read(api, workload.path)) === null;
}

/** Whether all pods run as the Deployment says, and none is ending. */
export async function isSettled(fault: PodFault, pods: Pods): Promise<boolean> {
  const { client, signal } = pods;
  const { namespace, labels } = pods.workload;
  if (!(await isRolledOut(pods))) return false;
  const { items } = await client.list('Pod', { namespace, labels }, signal);
  if (items.some(({ metadata }) => metadata?.deletionTimestamp !== undefined)) return false;
  return fault !== 'kill' || items.some((pod) => restartsOf(pod) > 0);
}

/**
 * Beyond those of the copies: in the namespace of the run, or where the DNS itself is rolled out (null) those of looking on. Changes
 * of nodes and of the DNS have rights of their own (`sessionRights`).
 */
export function faultRights(
  faults: readonly PodFault[],
  own: string | null,
  dns: { readonly namespace: string },
): Right[] {
  const place = { namespace: own ?? dns.namespace, name: '' };
  const slices = rightsOn(
    { group: 'discovery.k8s.io', resource: 'endpointslices', ...place },
    'list',
    'watch',
  );
  if (own === null) return slices;
  const deployments = { group: 'apps', resource: 'deployments', ...place };
  const of: Readonly<Record<PodFault, readonly Right[]>> = {
    rollout: rightsOn(deployments, 'patch'),
    delete: rightsOn({ group: '', resource: 'pods', ...place }, 'delete'),
    kill: [],
    'scale-down': rightsOn(deployments, 'patch'),
    drain: rightsOn({ group: '', resource: 'pods/eviction', ...place }, 'create'),
  };
  return [
    ...slices,
    ...rightsOn(deployments, 'get'),
    ...rightsOn({ group: '', resource: 'pods/proxy', ...place }, 'get'),
    ...faults.flatMap((fault) => of[fault]),
  ];
}

/**
 * A rolling update of a workload that is not the run's own: each call is one, to or from a template with an annotation. It calls
 * `begins` just before the request.
 */
export function rollingInPlace(
  api: ClusterApi,
  { path, title, uid }: PlannedEdit['object'],
  { session }: Pick<Guarded, 'session'>,
): (begins: () => void) => Promise<void> {
  const pointer = `${ROLLOUT_POINTER}${pointerOf(ROLLOUT_ANNOTATION)}`;
  const planned = async (): Promise<PlannedEdit> => {
    const isAnnotated = isObject(valueAt(await read(api, path), ROLLOUT_POINTER));
    const edit = { pointer, before: null, after: 'true' };
    return {
      what: 'annotation of the pod template',
      object: { path, title, uid },
      edits: [isAnnotated ? edit : { ...edit, parent: ROLLOUT_POINTER }],
      pinned: [],
    };
  };
  let applied: number | null = null;
  return async (begins) => {
    const number = applied;
    applied = null;
    if (number === null) {
      applied = await session.apply(await planned(), begins);
      return;
    }
    let isSent = false;
    const { state, found } = await session.revert(number, () => {
      isSent = true;
      begins();
    });
    // Otherwise there was no rolling update, or another one.
    if (!isSent || state !== 'reverted')
      throw changedByOthers(
        `somebody else has changed the pod template of ${title}${found === null ? '' : `: ${found}`}`,
      );
  };
}
