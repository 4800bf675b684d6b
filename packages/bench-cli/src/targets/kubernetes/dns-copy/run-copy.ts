/** Copies of the cluster's DNS in the namespace of a run: their account, and each from its start to its end. */
import type { V1Pod } from '@kubernetes/client-node';
import { pathOf } from '../../../kubernetes-api/kinds.ts';
import type { ClusterRun } from '../cluster-run.ts';
import { CONTAINER } from '../objects/pods.ts';
import { removeServer, startDeployment } from '../wait-for-pods.ts';
import type { DnsWorkload } from './find-workload.ts';
import { accountObject, bindingObject, type CopyObjects, configMapObjects } from './objects.ts';
import type { CopyPlan } from './plan-copy.ts';

/** A copy that runs, as a DNS workload of its own. */
export interface RunningCopy {
  readonly workload: DnsWorkload;
  readonly pods: readonly V1Pod[];
  /** From its creation until its pods were ready. */
  readonly startSeconds: number;
}

/** The account of the copies, with the right to read what CoreDNS reads, and their ConfigMaps. */
export async function prepareCopies(
  run: ClusterRun,
  role: string,
  copies: readonly CopyPlan[],
  signal: AbortSignal,
): Promise<void> {
  const { client, namespace } = run;
  const found = await client.get('Namespace', namespace, undefined, signal);
  await client.create('ServiceAccount', accountObject(run), signal);
  await client.create('ClusterRoleBinding', bindingObject(run, role, found?.metadata?.uid ?? ''), signal);
  for (const object of copies.flatMap((copy) => configMapObjects(run, copy)))
    await client.create('ConfigMap', object, signal);
}

export interface CopyRequest {
  readonly run: ClusterRun;
  readonly copy: CopyPlan;
  readonly objects: CopyObjects;
  /** For errors: `A, coredns:1.13.1`. */
  readonly what: string;
  /** Of its pods, for as long as they may go on; default: that of `copyObjects`. */
  readonly graceSeconds?: number;
  readonly signal: AbortSignal;
}

async function startCopy({ run, copy, objects, what, signal }: CopyRequest): Promise<RunningCopy> {
  const { client, namespace } = run;
  const begin = client.clock.monotonicSeconds();
  const service = await client.create('Service', objects.service, signal);
  const pods = await startDeployment(run, objects.deployment, what, signal);
  const address = service.spec?.clusterIP ?? '';
  const { name, labels } = objects;
  const image = objects.deployment.spec?.template.spec?.containers[0]?.image ?? '';
  const path = `${pathOf('Deployment', namespace)}/${name}`;
  const own = { namespace, kind: 'Deployment' as const, name, path, labels, image, container: CONTAINER };
  const workload = { ...copy.workload, ...own, sidecars: {}, service: { name, address } };
  return { workload, pods, startSeconds: client.clock.monotonicSeconds() - begin };
}

/** Starts a copy, and removes it when `use` is done with it, or when it did not start. */
export async function withCopy<T>(request: CopyRequest, use: (copy: RunningCopy) => Promise<T>): Promise<T> {
  const { objects, graceSeconds } = request;
  const kinds = ['Deployment', 'Service'] as const;
  const remove = () => removeServer(request.run, { ...objects, kinds, what: objects.name, graceSeconds });
  let done: T;
  try {
    done = await use(await startCopy(request));
  } catch (error) {
    // Why it did not start says more than why it cannot be removed: the namespace of the run goes in the end.
    await remove().catch(() => undefined);
    throw error;
  }
  await remove();
  return done;
}
