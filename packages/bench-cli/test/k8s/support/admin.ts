/** The administrator's side of the suite: sets the stage, provokes faults, and looks at what is left. */
import {
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  RbacAuthorizationV1Api,
  type V1PolicyRule,
} from '@kubernetes/client-node';
import { createClient, type KubeClient } from '../../../src/targets/kubernetes/api/client.ts';
import { connect } from '../../../src/targets/kubernetes/api/connect.ts';
import { realWorld } from '../../../src/world.ts';

export const SELECTOR = 'app.kubernetes.io/managed-by=dinodns-bench';

export function adminConfig(): KubeConfig {
  const { KUBECONFIG } = process.env;
  if (KUBECONFIG === undefined || KUBECONFIG === '') {
    throw new Error('pnpm test:k8s needs KUBECONFIG: a kubeconfig of an administrator of some cluster');
  }
  const config = new KubeConfig();
  config.loadFromFile(KUBECONFIG);
  return config;
}

export const core = () => adminConfig().makeApiClient(CoreV1Api);
export const rbac = () => adminConfig().makeApiClient(RbacAuthorizationV1Api);
export const objects = () => KubernetesObjectApi.makeApiClient(adminConfig());

/** bench's own client, with the administrator's rights. */
export async function adminClient(): Promise<KubeClient> {
  const world = realWorld();
  return createClient(await connect(world, undefined), { clock: world.clock });
}

interface ApiResource {
  readonly name: string;
  readonly verbs: readonly string[];
}

async function readJson(client: KubeClient, path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await client.text(path, `get ${path}`, AbortSignal.timeout(60_000)));
}

/** Runs that were there before the suite: somebody else's, and none of its business. */
function isForeign(namespace: string): boolean {
  return (process.env.SUITE_FOREIGN ?? '').split(',').includes(namespace);
}

/** Every object of every kind that can be listed, namespaced or not, that carries bench's label. */
export async function leftovers(): Promise<string[]> {
  const client = await adminClient();
  const groups = (await readJson(client, '/apis')).groups as { preferredVersion: { groupVersion: string } }[];
  const roots = [
    '/api/v1',
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const left: string[] = [];
  for (const root of roots) {
    const { resources } = (await readJson(client, root)) as { resources: ApiResource[] };
    for (const { name, verbs } of resources) {
      if (!verbs.includes('list') || name.includes('/')) continue;
      const list = await readJson(client, `${root}/${name}?labelSelector=${encodeURIComponent(SELECTOR)}`);
      for (const { metadata } of (list.items ?? []) as { metadata: { name: string; namespace?: string } }[]) {
        if (isForeign(metadata.namespace ?? metadata.name)) continue;
        left.push(`${name}/${metadata.namespace ?? ''}/${metadata.name}`);
      }
    }
  }
  return left;
}

/** Names of the namespaces that runs have made. */
export async function runNamespaces(): Promise<string[]> {
  const { items } = await core().listNamespace({ labelSelector: SELECTOR });
  return items.map(({ metadata }) => metadata?.name ?? '').filter((name) => !isForeign(name));
}

/** Pods of a run's component, running. */
export async function runningPods(
  component: 'server' | 'loader',
): Promise<{ name: string; namespace: string }[]> {
  const { items } = await core().listPodForAllNamespaces({
    labelSelector: `${SELECTOR},app.kubernetes.io/component=${component}`,
  });
  return items.flatMap(({ metadata, status }) =>
    status?.phase === 'Running' &&
    metadata?.deletionTimestamp === undefined &&
    !isForeign(metadata?.namespace ?? '')
      ? [{ name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' }]
      : [],
  );
}

/** A rule without one verb of one resource; rules that hold several are split. */
export function without(rules: readonly V1PolicyRule[], resource: string, verb: string): V1PolicyRule[] {
  return rules
    .flatMap((rule) =>
      (rule.resources ?? []).map((name) => ({
        ...rule,
        resources: [name],
        verbs: rule.verbs.filter((item) => !(name === resource && item === verb)),
      })),
    )
    .filter(({ verbs }) => verbs.length > 0);
}
