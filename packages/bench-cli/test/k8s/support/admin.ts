/** The administrator's side of the suite: sets the stage, provokes faults, and looks at what is left. */
import {
  AuthorizationV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  RbacAuthorizationV1Api,
  type RequestContext,
  type V1ObjectMeta,
  type V1PolicyRule,
} from '@kubernetes/client-node';
import { type ClusterApi, read } from '../../../src/cluster-changes/cluster-api.ts';
import { connectedApi } from '../../../src/cluster-changes/connected-api.ts';
import { valueAt } from '../../../src/cluster-changes/json.ts';
import { createClient, type KubeClient } from '../../../src/kubernetes-api/client.ts';
import { connect } from '../../../src/kubernetes-api/connect.ts';
import { LABELS } from '../../../src/targets/kubernetes/objects/labels.ts';
import { realWorld } from '../../../src/world.ts';

export const SELECTOR = 'app.kubernetes.io/managed-by=dinodns-bench';

/** client-node connects anew for each request, and tests ask several times a second whether something has come true. */
class OnePool extends KubeConfig {
  #pool: ReturnType<RequestContext['getDispatcher']>;
  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    this.#pool ??= context.getDispatcher();
    if (this.#pool !== undefined) context.setDispatcher(this.#pool);
  }
}

let config: KubeConfig | undefined;
export function adminConfig(): KubeConfig {
  const { KUBECONFIG } = process.env;
  if (KUBECONFIG === undefined || KUBECONFIG === '') {
    throw new Error('pnpm test:k8s needs KUBECONFIG: a kubeconfig of an administrator of some cluster');
  }
  if (config === undefined) {
    config = new OnePool();
    config.loadFromFile(KUBECONFIG);
  }
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

let api: Promise<ClusterApi> | undefined;
/** The same for single requests, with any answer. */
export function adminApi(): Promise<ClusterApi> {
  const world = realWorld();
  api ??= connect(world, undefined).then((connection) =>
    connectedApi(connection, world.clock, new AbortController().signal),
  );
  return api;
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

/** The namespace of the suite's account. */
export function suiteName(): string {
  const { SUITE_NAME } = process.env;
  if (SUITE_NAME === undefined) throw new Error('the suite has no name');
  return SUITE_NAME;
}

/**
 * The prefix of the namespaces that the runs of this test file make; each file has a process of its own. Runs with another
 * prefix are those of other files or of other people, and none of its business.
 */
export const filePrefix = (): string => `${suiteName()}-${process.pid}`;

const isForeign = (namespace: string) => !namespace.startsWith(`${filePrefix()}-`);

interface RunNamespace {
  readonly name: string;
  /** Value of the label that all objects of the run have. */
  readonly run: string;
}

/** Namespaces of all runs in the cluster. */
async function allRunNamespaces(): Promise<RunNamespace[]> {
  const { items } = await core().listNamespace({ labelSelector: SELECTOR });
  return items.map(({ metadata }) => ({
    name: metadata?.name ?? '',
    run: metadata?.labels?.[LABELS.run] ?? '',
  }));
}

type Listed = Pick<V1ObjectMeta, 'name' | 'namespace' | 'labels' | 'ownerReferences'>;

interface Found {
  readonly resource: string;
  readonly metadata: Listed;
}

/** Every object of every kind that can be listed, namespaced or not, that carries bench's label. */
async function labelledObjects(): Promise<Found[]> {
  const api = await adminApi();
  // Kinds that other files make are gone when they end, also between two of these requests.
  const listAt = async <T>(path: string, field: string): Promise<readonly T[]> => {
    const items = valueAt(await read(api, path), `/${field}`);
    return Array.isArray(items) ? items : [];
  };
  const groups = await listAt<ApiGroup>('/apis', 'groups');
  const roots = [
    '/api/v1',
    ...groups
      .filter(({ name }) => !NO_OBJECTS.has(name))
      .map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const found: Found[] = [];
  for (const root of roots) {
    for (const { name, verbs } of await listAt<ApiResource>(root, 'resources')) {
      if (!verbs.includes('list') || name.includes('/')) continue;
      const path = `${root}/${name}?labelSelector=${encodeURIComponent(SELECTOR)}`;
      const items = await listAt<{ metadata: Listed }>(path, 'items');
      found.push(...items.map(({ metadata }) => ({ resource: name, metadata })));
    }
  }
  return found;
}

/**
 * Whether an object belongs to the run of another test file, or to somebody else's: it is that run's namespace, lies in
 * it, has the label of the run, or belongs to a namespace with a foreign name, which may be gone already.
 */
function isOthers({ resource, metadata }: Found, foreign: readonly RunNamespace[]): boolean {
  const { name, namespace = resource === 'namespaces' ? name : '', labels, ownerReferences = [] } = metadata;
  return (
    foreign.some((other) => other.name === namespace || other.run === labels?.[LABELS.run]) ||
    ownerReferences.some((owner) => owner.kind === 'Namespace' && isForeign(owner.name))
  );
}

/** Every object that carries bench's label, but for those of other people's runs, which come and go meanwhile. */
export async function leftovers(): Promise<string[]> {
  const before = await allRunNamespaces();
  const found = await labelledObjects();
  const foreign = [...before, ...(await allRunNamespaces())].filter(({ name }) => isForeign(name));
  return found
    .filter((object) => !isOthers(object, foreign))
    .map(({ resource, metadata }) => `${resource}/${metadata.namespace ?? ''}/${metadata.name}`);
}

/** Names of the namespaces that the runs of this file have made. */
export async function runNamespaces(): Promise<string[]> {
  return (await allRunNamespaces()).flatMap(({ name }) => (isForeign(name) ? [] : [name]));
}

/** Pods of a component of this file's runs, running. */
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
