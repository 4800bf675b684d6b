/** What is copied of the cluster's DNS, found before anything is created. Reads only. */
import type {
  V1ConfigMap,
  V1Container,
  V1Deployment,
  V1DeploymentStrategy,
  V1PodSpec,
} from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { counted } from '../../../text.ts';
import { nodesFor } from '../cluster-facts.ts';
import {
  type CarriedMount,
  carriedEnv,
  carriedMounts,
  corefileGaps,
  corefileOf,
  mostApart,
  type OwnPods,
  type Placement,
  placementOf,
  podGaps,
} from './carry-over.ts';
import { type DnsWorkload, podsOf } from './find-workload.ts';

export interface CopyPlan {
  readonly workload: DnsWorkload;
  readonly spec: V1PodSpec;
  readonly own: OwnPods;
  readonly container: V1Container;
  readonly replicas: number;
  /** How its Deployment replaces pods; absent for another kind of workload. */
  readonly strategy?: V1DeploymentStrategy;
  readonly mounts: readonly CarriedMount[];
  readonly configMaps: ReadonlyMap<string, V1ConfigMap>;
  readonly env: Readonly<Record<string, string>>;
  readonly corefile: string;
  readonly notCarriedOver: readonly string[];
}

async function specOf(client: KubeClient, { kind, name, namespace }: DnsWorkload, signal: AbortSignal) {
  const object = await client.get(kind, name, namespace, signal);
  const { spec, metadata } = object?.spec?.template ?? {};
  const strategy = kind === 'Deployment' ? (object as V1Deployment | null)?.spec?.strategy : undefined;
  if (spec !== undefined)
    return { spec, podLabels: metadata?.labels ?? {}, ...(strategy === undefined ? {} : { strategy }) };
  throw new BenchError('E_CONFIG', `${kind} ${namespace}/${name} is gone`, { fix: 'Try again.' });
}

/**
 * @param instead The flag that measures the DNS itself; null where that is so, and no copy is made.
 * @throws BenchError `E_CONFIG` for a DNS without a Corefile in a ConfigMap, if it is to be copied.
 */
export async function planCopy(
  client: KubeClient,
  workload: DnsWorkload,
  instead: string | null,
  signal: AbortSignal,
): Promise<CopyPlan> {
  const { spec, podLabels: labels, ...strategy } = await specOf(client, workload, signal);
  const { namespace } = workload;
  const { metadata } = (await client.get('Namespace', namespace, undefined, signal)) ?? {};
  const container = spec.containers[workload.containerIndex];
  if (container === undefined) throw new Error('the container was found a moment ago');
  const { mounts, gaps } = carriedMounts(spec, container);
  const configMaps = new Map<string, V1ConfigMap>();
  for (const name of new Set(mounts.map(({ configMap }) => configMap))) {
    const found = await client.get('ConfigMap', name, workload.namespace, signal);
    if (found !== null) configMaps.set(name, found);
  }
  const corefile = corefileOf(container, mounts, configMaps);
  if (corefile === '' && instead !== null) {
    throw new BenchError('E_CONFIG', `${workload.title} has no Corefile in a ConfigMap`, {
      fix: `A copy beside it cannot be made; measure it in place: ${instead}.`,
    });
  }
  const { env, gaps: envGaps } = carriedEnv(container);
  const directories = mounts.map(({ mountPath }) => mountPath);
  return {
    workload,
    spec,
    own: { namespace, namespaceLabels: metadata?.labels ?? {}, labels },
    container,
    replicas: workload.replicas ?? Math.max(1, (await podsOf(client, workload, signal)).length),
    ...strategy,
    mounts,
    configMaps,
    env,
    corefile,
    notCarriedOver: [
      ...corefileGaps(corefile, directories),
      ...gaps,
      ...envGaps,
      ...podGaps(spec, container),
    ],
  };
}

/**
 * @param chosen The nodes for the copies, in place of the DNS's own.
 * @throws BenchError `E_CONFIG` for more pods than the nodes can take by the DNS's rules
 */
export async function demandApart(
  client: KubeClient,
  { spec, own, workload }: CopyPlan,
  chosen: Placement,
  { pods, fix }: { readonly pods: number; readonly fix: string },
  signal: AbortSignal,
): Promise<void> {
  // There the rules are left out.
  if (chosen.nodeSelector !== undefined) return;
  const { items } = await client.list('Node', {}, signal);
  const most = mostApart(spec, own, nodesFor(items, placementOf(chosen, spec)));
  if (pods <= most) return;
  throw new BenchError(
    'E_CONFIG',
    `${workload.title} requires that its pods are apart (podAntiAffinity): there is no place for ${counted(pods, 'pod')} of a copy, only for ${most}`,
    { fix },
  );
}
