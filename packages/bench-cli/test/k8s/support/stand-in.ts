/** DNS of the tests' own, in namespaces of their own, for `bench swap` to change; and what it must be like afterwards. */
import { appendFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { ClusterApi } from '../../../src/cluster-changes/cluster-api.ts';
import { create, patch, read, remove } from '../../../src/cluster-changes/cluster-api.ts';
import { readJournal } from '../../../src/cluster-changes/journal.ts';
import { isEqual, type Json, textAt, valueAt } from '../../../src/cluster-changes/json.ts';
import { readLease } from '../../../src/cluster-changes/lease.ts';
import { rolloutOf } from '../../../src/cluster-changes/rollout.ts';
import { adminApi, adminClient } from './admin.ts';

const CLUSTER_DNS = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
/** Of the DNS container, which comes first. */
export const IMAGE = '/spec/template/spec/containers/0/image';

/** Images of two versions that the nodes have: that of the suite, and the one that the cluster's own DNS runs. */
export async function twoImages(): Promise<{ ours: string; clusters: string }> {
  const api = await adminApi();
  let ours = '';
  // A kubelet tells only after some time which images its node has got.
  await until(async () => {
    const images = JSON.stringify(valueAt(await read(api, '/api/v1/nodes'), '/items'));
    ours = /"(?:docker\.io\/|localhost\/)?(coredns\/coredns:\d[^"@]*)"/.exec(images)?.[1] ?? '';
    return ours !== '';
  }, true);
  return { ours, clusters: textAt(await read(api, CLUSTER_DNS), IMAGE) };
}

/** Answers every query itself, so that it depends on nothing else; ends at once, so that rollouts are short. */
const COREFILE = `.:53 {
  errors
  health
  ready
  prometheus :9153
  template IN A . {
    answer "{{ .Name }} 30 IN A 192.0.2.1"
  }
}
`;

const LABELS = { app: 'dns' };

export interface StandInRequest {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly kind: Kind;
  readonly image: string;
  readonly sidecars: readonly unknown[];
}

function podTemplate({ image, container, sidecars }: StandInRequest) {
  const dns = {
    name: container,
    image,
    imagePullPolicy: 'IfNotPresent',
    // Without a request, a pod gets next to nothing on a busy machine.
    resources: { requests: { cpu: '50m' } },
    args: ['-conf', '/etc/coredns/Corefile'],
    ports: [
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { name: 'metrics', containerPort: 9153 },
    ],
    // Patient, because the machines of tests are busy.
    readinessProbe: {
      httpGet: { path: '/ready', port: 8181 },
      periodSeconds: 1,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
  };
  return {
    metadata: { labels: LABELS },
    spec: {
      dnsPolicy: 'Default',
      terminationGracePeriodSeconds: 1,
      containers: [dns, ...sidecars],
      volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
    },
  };
}

export type Kind = 'Deployment' | 'DaemonSet' | 'StatefulSet';

export interface StandIn {
  readonly namespace: string;
  readonly kind: Kind;
  readonly path: string;
  readonly image: string;
  /** The object without what a rollout always leaves. */
  readonly before: unknown;
}

function specOf(request: StandInRequest): unknown {
  const { kind, name: serviceName } = request;
  const common = { selector: { matchLabels: LABELS }, template: podTemplate(request) };
  // Else the DNS of a cluster of one node would be away for as long as its pod takes to start.
  if (kind === 'DaemonSet')
    return { ...common, updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } };
  if (kind === 'StatefulSet') return { ...common, replicas: 1, serviceName };
  return { ...common, replicas: 1, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } };
}

/** What must be as before: the specification, our labels and annotations above all, and the reconcilers' counts. */
function essenceOf(object: unknown): unknown {
  const annotations = valueAt(object, '/metadata/annotations');
  const kept = Object.entries(typeof annotations === 'object' && annotations !== null ? annotations : {});
  return {
    uid: valueAt(object, '/metadata/uid'),
    labels: valueAt(object, '/metadata/labels'),
    annotations: Object.fromEntries(
      // Both count the revisions of the template.
      kept.filter(
        ([name]) => !/^(deployment\.kubernetes\.io\/revision|deprecated\.daemonset\.template)/.test(name),
      ),
    ),
    spec: valueAt(object, '/spec'),
  };
}

export async function snapshotOf(path: string): Promise<unknown> {
  return essenceOf(await read(await adminApi(), path));
}

/** A machine with ten times as much to do as it can takes minutes to start the pods of a file. */
const WAIT_SECONDS = 240;
const POLL_MS = 250;

/** For what takes the API server many answers. */
const RARELY_MS = 1000;

/** Reads until the value equals what is expected. `expect.poll` does not know its test among concurrent ones. */
export async function until(
  what: () => Promise<unknown>,
  expected: unknown,
  pollMs = POLL_MS,
): Promise<void> {
  const deadline = performance.now() + WAIT_SECONDS * 1000;
  for (;;) {
    const value = await what();
    if (isEqual(value, expected)) return;
    if (performance.now() > deadline) expect(value).toEqual(expected);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

export async function readyObject(api: ClusterApi, path: string): Promise<void> {
  await until(async () => rolloutOf(await read(api, path)), null);
}

export async function standInObjects(request: StandInRequest): Promise<StandIn> {
  const { namespace, name, kind, image } = request;
  const api = await adminApi();
  const metadata = { name, namespace };
  const base = `/api/v1/namespaces/${namespace}`;
  await create(api, '/api/v1/namespaces', { metadata: { name: namespace } });
  await create(api, `${base}/configmaps`, {
    metadata: { name: 'coredns', namespace },
    data: { Corefile: COREFILE },
  });
  await create(api, `${base}/services`, {
    metadata,
    spec: { selector: LABELS, ports: [{ name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' }] },
  });
  const collection = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
  await create(api, collection, {
    metadata: { ...metadata, labels: { ...LABELS, of: 'tests' } },
    spec: specOf(request),
  });
  const path = `${collection}/${name}`;
  await readyObject(api, path);
  return { namespace, kind, path, image, before: await snapshotOf(path) };
}

export function makeStandIn(namespace: string, image: string, kind: Kind = 'Deployment'): Promise<StandIn> {
  return standInObjects({ namespace, name: 'dns', container: 'coredns', kind, image, sidecars: [] });
}

export async function removeStandIn({ namespace }: Pick<StandIn, 'namespace'>): Promise<void> {
  await remove(await adminApi(), `/api/v1/namespaces/${namespace}`);
}

/** Sets a value as somebody else would, without asking. */
export async function setByOthers(path: string, pointer: string, value: Json): Promise<void> {
  expect(await patch(await adminApi(), path, [{ op: 'replace', path: pointer, value }])).not.toBeNull();
}

/** Two placements of a second for each load. The small loader leaves room on the node for those of other tests. */
export const SHORTEST = [
  ...['--placements', 'AB', '--settle', '0', '--idle', '0', '--duration', '1', '--rate', '20'],
  ...['--observe', 'none', '--loader-cpu', '200m'],
] as const;

/** The shortest swap of a stand-in. */
export function swapFlags(standIn: StandIn, to: string): string[] {
  const { namespace, kind } = standIn;
  return [
    ...['swap', '--to', to, '--method', 'in-place', '--yes-change-cluster-dns'],
    ...['--workload', `${namespace}/${kind}/dns`, '--lease-namespace', namespace, '--lease', '20'],
    ...SHORTEST,
  ];
}

/** Namespaces of runs with this prefix. */
async function runNamespaces(prefix: string): Promise<string[]> {
  const list = await read(await adminApi(), '/api/v1/namespaces');
  const items = valueAt(list, '/items');
  const names = Array.isArray(items) ? items.map((item) => textAt(item, '/metadata/name')) : [];
  return names.filter((name) => name.startsWith(`${prefix}-2`));
}

/** What the guard was allowed goes with the namespace of the run. */
async function guardRoles(prefix: string): Promise<string[]> {
  const api = await adminApi();
  const names = async (resource: string) => {
    const items = valueAt(await read(api, `/apis/rbac.authorization.k8s.io/v1/${resource}`), '/items');
    return Array.isArray(items) ? items.map((item) => textAt(item, '/metadata/name')) : [];
  };
  const all = await Promise.all(
    ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map((resource) => names(resource)),
  );
  return all.flat().filter((name) => name.startsWith(`${prefix}-2`));
}

/** Everything that a swap must not leave behind. */
export async function traces(prefix: string, leaseNamespace: string): Promise<unknown> {
  const api = await adminApi();
  return {
    lease: (await readLease(api, leaseNamespace))?.holder ?? null,
    journal: (await readJournal(api, leaseNamespace))?.journal ?? null,
    namespaces: await runNamespaces(prefix),
    roles: await guardRoles(prefix),
  };
}

export const NO_TRACES = { lease: null, journal: null, namespaces: [], roles: [] };

/** Waits until the workload is as before and runs so. Resolves with the seconds that it took. */
export async function asBefore({ path, before }: Pick<StandIn, 'path' | 'before'>): Promise<number> {
  const api = await adminApi();
  const startedAt = performance.now();
  const state = async () => {
    const object = await read(api, path);
    return { essence: essenceOf(object), rollout: rolloutOf(object) };
  };
  await until(state, { essence: before, rollout: null });
  return (performance.now() - startedAt) / 1000;
}

/** Waits until nothing of the swap is left. The namespace goes last but for the roles, and to ask for these is much to read. */
export async function withoutTraces(prefix: string, leaseNamespace: string): Promise<void> {
  await until(() => runNamespaces(prefix), []);
  await until(() => traces(prefix, leaseNamespace), NO_TRACES, RARELY_MS);
}

/** How long something took, for the documentation: a line in the file that SWAP_TIMES names. */
export async function note(what: string, seconds: number): Promise<void> {
  const { SWAP_TIMES } = process.env;
  if (SWAP_TIMES !== undefined) await appendFile(SWAP_TIMES, `${seconds.toFixed(1)}\t${what}\n`);
}

/** Ends a guard as the kernel would: its pod is killed at once. */
export async function killGuard(prefix: string): Promise<void> {
  const [namespace] = await runNamespaces(prefix);
  const client = await adminClient();
  const labels = { 'app.kubernetes.io/name': 'guard' };
  const { items } = await client.list(
    'Pod',
    { namespace: namespace ?? '', labels },
    AbortSignal.timeout(10_000),
  );
  const [pod] = items;
  if (pod === undefined) throw new Error('there is no guard');
  const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata?.name}`;
  const { status } = await (await adminApi()).send({
    method: 'DELETE',
    path,
    body: { gracePeriodSeconds: 0 },
  });
  expect(status).toBe(200);
}
