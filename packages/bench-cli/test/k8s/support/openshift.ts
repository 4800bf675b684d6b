/** OpenShift's names and objects around DNS, with stand-ins for its operators that really put things back. */
import { readFile } from 'node:fs/promises';
import { create, read, remove } from '../../../src/cluster-changes/cluster-api.ts';
import { type Json, valueAt } from '../../../src/cluster-changes/json.ts';
import { BENCH_VERSION } from '../../../src/version.ts';
import { adminApi } from './admin.ts';
import {
  asBefore,
  IMAGE,
  readyObject,
  SHORTEST,
  type StandIn,
  snapshotOf,
  standInObjects,
  until,
} from './stand-in.ts';

/** Any image with Node.js: of the stand-ins, and of the sidecar. */
export const NODE_IMAGE = process.env.DINODNS_BENCH_LOADER_IMAGE ?? `dinodns-bench/load:${BENCH_VERSION}`;

/** A value that is put back. */
interface Rule {
  /** Of the object. */
  readonly path: string;
  readonly pointer: string;
  readonly value: Json;
}

interface Reconciler {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly rules: readonly Rule[];
  /** Path of a resource whose `spec.managementState` of `Unmanaged` pauses it. Default: nothing does. */
  readonly pause?: string;
}

/** A Deployment that puts values back, with the right to do so. */
export async function makeReconciler({
  namespace,
  name,
  replicas,
  rules,
  pause = '',
}: Reconciler): Promise<void> {
  const api = await adminApi();
  const metadata = { name, namespace };
  const program = await readFile(new URL('./reconciler-program.mjs', import.meta.url), 'utf8');
  await create(api, '/api/v1/namespaces', { metadata: { name: namespace } });
  await create(api, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata });
  await create(api, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: `${namespace}-${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  await create(api, `/api/v1/namespaces/${namespace}/configmaps`, {
    metadata,
    data: { 'program.mjs': program },
  });
  const collection = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const container = {
    name,
    image: NODE_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    // Without a request, it would get next to nothing on a busy machine.
    resources: { requests: { cpu: '50m' } },
    command: ['node', '/program/program.mjs'],
    env: [
      { name: 'RULES', value: JSON.stringify(rules) },
      { name: 'PAUSE', value: pause },
    ],
    volumeMounts: [{ name: 'program', mountPath: '/program' }],
  };
  await create(api, collection, {
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: { name } },
      template: {
        metadata: { labels: { name } },
        spec: {
          serviceAccountName: name,
          // With 0 its pod would be gone before its program has ended.
          terminationGracePeriodSeconds: 1,
          containers: [container],
          volumes: [{ name: 'program', configMap: { name } }],
        },
      },
    },
  });
  await readyObject(api, `${collection}/${name}`);
}

export async function removeReconciler({
  namespace,
  name,
}: Pick<Reconciler, 'namespace' | 'name'>): Promise<void> {
  const api = await adminApi();
  await remove(api, `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${namespace}-${name}`);
  await remove(api, `/api/v1/namespaces/${namespace}`);
}

const CRD = 'dnses.operator.openshift.io';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const DNS_RESOURCE = '/apis/operator.openshift.io/v1/dnses/default';

/** OpenShift's resource of its DNS, as far as it matters here. */
export async function makeDnsResource(): Promise<void> {
  const api = await adminApi();
  const managementState = { type: 'string', enum: ['Managed', 'Unmanaged'] };
  const spec = { type: 'object', properties: { managementState, logLevel: { type: 'string' } } };
  await create(api, CRDS, {
    metadata: { name: CRD },
    spec: {
      group: 'operator.openshift.io',
      scope: 'Cluster',
      names: { kind: 'DNS', listKind: 'DNSList', plural: 'dnses', singular: 'dns' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  });
  const object = {
    apiVersion: 'operator.openshift.io/v1',
    kind: 'DNS',
    metadata: { name: 'default' },
    spec: { logLevel: 'Normal' },
  };
  // Its API takes a moment to be served.
  const made = async () => {
    await create(api, '/apis/operator.openshift.io/v1/dnses', object).catch(() => null);
    return (await read(api, DNS_RESOURCE)) !== null;
  };
  await until(made, true);
}

export async function removeDnsResource(): Promise<void> {
  const api = await adminApi();
  await remove(api, `${CRDS}/${CRD}`);
  await until(() => read(api, `${CRDS}/${CRD}`), null);
}

const NAMESPACE = 'openshift-dns';
export const SIDECAR = 'kube-rbac-proxy';
const DAEMON_SET = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/dns-default`;
const OPERATOR = { namespace: 'openshift-dns-operator', name: 'dns-operator' };
const VERSION_OPERATOR = { namespace: 'openshift-cluster-version', name: 'cluster-version-operator' };
const operatorPath = ({ namespace, name }: typeof OPERATOR) =>
  `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;

export interface OpenShift {
  readonly dns: StandIn;
  /** The DNS operator, and the one above it. */
  readonly operators: readonly { readonly path: string; readonly before: unknown }[];
}

/** The DaemonSet with its sidecar, and both operators: one puts the image back, the other scales that one up. */
export async function makeOpenShift(image: string): Promise<OpenShift> {
  const sidecar = {
    name: SIDECAR,
    image: NODE_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '-e', 'setInterval(() => {}, 1000)'],
  };
  const [dns] = await Promise.all([
    standInObjects({
      namespace: NAMESPACE,
      name: 'dns-default',
      container: 'dns',
      kind: 'DaemonSet',
      image,
      sidecars: [sidecar],
    }),
    makeReconciler({
      ...OPERATOR,
      replicas: 1,
      rules: [{ path: DAEMON_SET, pointer: IMAGE, value: image }],
      pause: DNS_RESOURCE,
    }),
    makeReconciler({
      ...VERSION_OPERATOR,
      replicas: 2,
      rules: [{ path: operatorPath(OPERATOR), pointer: '/spec/replicas', value: 1 }],
    }),
  ]);
  const paths = [operatorPath(OPERATOR), operatorPath(VERSION_OPERATOR)];
  const operators = await Promise.all(paths.map(async (path) => ({ path, before: await snapshotOf(path) })));
  return { dns, operators };
}

/** A swap of its DNS, which bench finds by itself: two short placements. */
export const openShiftSwap = (to: string): string[] => [
  ...['swap', '--to', to, '--method', 'in-place', '--yes-change-cluster-dns'],
  ...['--lease-namespace', NAMESPACE, '--lease', '20', ...SHORTEST],
];

/** Waits until its DNS and both operators are as they were. Resolves with the seconds that the DNS took. */
export async function openShiftAsBefore({ dns, operators }: OpenShift): Promise<number> {
  const seconds = await asBefore(dns);
  for (const operator of operators) await asBefore(operator);
  return seconds;
}

/** Waits until its DNS is gone, which bench would take for that of the cluster. */
export async function removeOpenShift(): Promise<void> {
  const api = await adminApi();
  await removeReconciler(VERSION_OPERATOR);
  await removeReconciler(OPERATOR);
  await remove(api, `/api/v1/namespaces/${NAMESPACE}`);
  await until(() => read(api, `/api/v1/namespaces/${NAMESPACE}`), null);
}

export async function replicasOf(path: string): Promise<unknown> {
  return valueAt(await read(await adminApi(), path), '/spec/replicas');
}
