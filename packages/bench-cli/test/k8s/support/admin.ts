/** The administrator's side of the suite: sets the stage, provokes faults, and looks at what is left. */
import {
  AuthorizationV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  RbacAuthorizationV1Api,
  type V1PolicyRule,
} from '@kubernetes/client-node';
import { createClient, type KubeClient } from '../../../src/kubernetes-api/client.ts';
import { connect } from '../../../src/kubernetes-api/connect.ts';
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
export const authorization = () => adminConfig().makeApiClient(AuthorizationV1Api);
export const rbac = () => adminConfig().makeApiClient(RbacAuthorizationV1Api);
export const objects = () => KubernetesObjectApi.makeApiClient(adminConfig());

/** bench's own client, with the administrator's rights. */
export async function adminClient(): Promise<KubeClient> {
  const world = realWorld();
  return createClient(await connect(world, undefined), { clock: world.clock });
}

/** Served by the metrics server from memory, and a moment late: figures about pods, not objects. */
const NO_OBJECTS = new Set(['metrics.k8s.io']);

interface ApiGroup {
  readonly name: string;
  readonly preferredVersion: { readonly groupVersion: string };
}

interface ApiResource {
  readonly name: string;
  readonly verbs: readonly string[];
}

async function readJson(client: KubeClient, path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await client.text(path, `get ${path}`, AbortSignal.timeout(60_000)));
}

/** The prefix of the suite's namespaces. Runs with another one are somebody else's, and none of its business. */
export function suiteName(): string {
  const { SUITE_NAME } = process.env;
  if (SUITE_NAME === undefined) throw new Error('the suite has no name');
  return SUITE_NAME;
}

const isForeign = (namespace: string) => !namespace.startsWith(`${suiteName()}-`);

/** Namespaces of all runs in the cluster. */
async function allRunNamespaces(): Promise<string[]> {
  const { items } = await core().listNamespace({ labelSelector: SELECTOR });
  return items.map(({ metadata }) => metadata?.name ?? '');
}

/**
 * Every object of every kind that can be listed, namespaced or not, that carries bench's label: but for what lies in
 * the namespaces of other people's runs, which come and go meanwhile.
 */
export async function leftovers(): Promise<string[]> {
  const client = await adminClient();
  const before = await allRunNamespaces();
  const groups = (await readJson(client, '/apis')).groups as ApiGroup[];
  const roots = [
    '/api/v1',
    ...groups
      .filter(({ name }) => !NO_OBJECTS.has(name))
      .map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const found: { readonly namespace: string; readonly object: string }[] = [];
  for (const root of roots) {
    const { resources } = (await readJson(client, root)) as { resources: ApiResource[] };
    for (const { name, verbs } of resources) {
      if (!verbs.includes('list') || name.includes('/')) continue;
      const list = await readJson(client, `${root}/${name}?labelSelector=${encodeURIComponent(SELECTOR)}`);
      for (const { metadata } of (list.items ?? []) as { metadata: { name: string; namespace?: string } }[]) {
        const namespace = name === 'namespaces' ? metadata.name : (metadata.namespace ?? '');
        found.push({ namespace, object: `${name}/${metadata.namespace ?? ''}/${metadata.name}` });
      }
    }
  }
  const foreign = new Set([...before, ...(await allRunNamespaces())].filter(isForeign));
  return found.flatMap(({ namespace, object }) => (foreign.has(namespace) ? [] : [object]));
}

/** Names of the namespaces that the suite's runs have made. */
export async function runNamespaces(): Promise<string[]> {
  return (await allRunNamespaces()).filter((name) => !isForeign(name));
}

/** Pods of a component of the suite's runs, running. */
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
