/** Deploys the guard: its program, its account, and rights on exactly the objects that the run may change. */
import { extname } from 'node:path';
import type { V1PodSpec, V1PolicyRule } from '@kubernetes/client-node';
import type { Right } from '../kubernetes-api/access.ts';
import type { ClusterRun } from '../targets/kubernetes/cluster-run.ts';
import { LABELS, runLabels, unitLabels, unitSelector } from '../targets/kubernetes/objects/labels.ts';
import { type ConfigMapMount, nodeSelectorOf, podTemplate } from '../targets/kubernetes/objects/pods.ts';
import { programFile, uploadFiles } from '../targets/kubernetes/programs.ts';
import { startDeployment } from '../targets/kubernetes/wait-for-pods.ts';
import { type ClusterApi, create, read } from './cluster-api.ts';
import { JOURNAL_NAME } from './journal.ts';
import { textAt } from './json.ts';
import { LEASE_NAME } from './lease.ts';
import { type Place, placeOf, rightsOn } from './rights.ts';

/** The unit, and the name of what belongs to it. */
export const GUARD = 'guard';
const DIRECTORY = '/guard';
const PORT = 8080;
/** A node that is back within this time keeps its guard. */
const LOST_NODE_SECONDS = 5;
const RBAC = 'rbac.authorization.k8s.io';

/** Run from their sources; in a package from npm they are compiled. */
const EXTENSION = extname(import.meta.url);
const MODULES = [
  'change',
  'cluster-api',
  'guard-program',
  'journal',
  'json',
  'lease',
  'restore',
  'rollout',
  'take-over',
].map((name) => new URL(`./${name}${EXTENSION}`, import.meta.url));
/** Modules in the sense of Node.js, whatever their extension. */
const PACKAGE = { path: 'package.json', chunks: ['{"type":"module"}'] };

export interface GuardRequest {
  readonly run: ClusterRun;
  readonly api: ClusterApi;
  readonly leaseNamespace: string;
  readonly holder: string;
  readonly token: string;
  /** Paths of the objects that the run may change. */
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

/** The Lease and the journal. */
function bookPlaces(namespace: string): Place[] {
  return [
    { group: 'coordination.k8s.io', resource: 'leases', namespace, name: LEASE_NAME },
    { group: '', resource: 'configmaps', namespace, name: JOURNAL_NAME },
  ];
}

/** What the guard may do: nobody may give it more than he has himself. */
export function guardRights(paths: readonly string[], leaseNamespace: string, runNamespace: string): Right[] {
  const own: Place = { group: '', resource: 'namespaces', namespace: null, name: runNamespace };
  return [
    ...paths.flatMap((path) => rightsOn(placeOf(path), 'get', 'patch')),
    ...bookPlaces(leaseNamespace).flatMap((place) => rightsOn(place, 'get', 'update', 'delete')),
    // Not of one name: there is none yet. For a Lease that somebody has removed.
    ...rightsOn(
      { group: 'coordination.k8s.io', resource: 'leases', namespace: leaseNamespace, name: '' },
      'create',
    ),
    ...rightsOn(own, 'delete'),
  ];
}

/** What the run itself needs beside that, to keep the journal and to deploy the guard. */
export function sessionRights(
  paths: readonly string[],
  leaseNamespace: string,
  runNamespace: string,
): Right[] {
  const guard = guardRights(paths, leaseNamespace, runNamespace);
  const namespaces = [...new Set(guard.map(({ namespace }) => namespace))];
  const rbac = namespaces.flatMap((namespace) => {
    const kinds = namespace === null ? ['clusterroles', 'clusterrolebindings'] : ['roles', 'rolebindings'];
    return kinds.flatMap((resource) => rightsOn({ group: RBAC, resource, namespace, name: '' }, 'create'));
  });
  return [
    ...guard,
    ...rightsOn({ group: '', resource: 'configmaps', namespace: leaseNamespace, name: '' }, 'create'),
    ...rbac,
  ];
}

function ruleOf({ group, resource, name, verb }: Right): V1PolicyRule {
  return {
    apiGroups: [group],
    resources: [resource],
    verbs: [verb],
    ...(name === '' ? {} : { resourceNames: [name] }),
  };
}

/** A role and its binding, in one namespace or for the whole cluster. */
function rbacObjects(
  { run, paths, leaseNamespace }: GuardRequest,
  owner: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly object: unknown }[] {
  const rights = guardRights(paths, leaseNamespace, run.namespace);
  const namespaces = [...new Set(rights.map(({ namespace }) => namespace))];
  return namespaces.flatMap((namespace) => {
    const [role, binding] =
      namespace === null ? ['ClusterRole', 'ClusterRoleBinding'] : ['Role', 'RoleBinding'];
    const scope = namespace === null ? '' : `/namespaces/${namespace}`;
    const metadata = {
      // Beside those of other runs, outside the namespace of this one.
      name: `${run.namespace}-${GUARD}`,
      ...(namespace === null ? {} : { namespace }),
      labels: runLabels(run.runId),
      // They are removed together with the namespace of the run, whoever deletes it.
      ownerReferences: [owner],
    };
    const subjects = [{ kind: 'ServiceAccount', name: GUARD, namespace: run.namespace }];
    const roleRef = { apiGroup: RBAC, kind: role, name: metadata.name };
    const rules = rights.filter((right) => right.namespace === namespace).map(ruleOf);
    const base = `/apis/${RBAC}/v1${scope}`;
    const typed = (kind: string | undefined) => ({ apiVersion: `${RBAC}/v1`, kind, metadata });
    return [
      { path: `${base}/${role?.toLowerCase()}s`, object: { ...typed(role), rules } },
      { path: `${base}/${binding?.toLowerCase()}s`, object: { ...typed(binding), subjects, roleRef } },
    ];
  });
}

async function ownerReference({ api, run }: GuardRequest): Promise<Readonly<Record<string, unknown>>> {
  const object = await read(api, `/api/v1/namespaces/${run.namespace}`);
  return { apiVersion: 'v1', kind: 'Namespace', name: run.namespace, uid: textAt(object, '/metadata/uid') };
}

/**
 * A guard on a node that is lost is replaced elsewhere as soon as Kubernetes has noticed that (about 50 s): by default, a pod stays
 * for five minutes more, and a node that was asked for by name would be the only one.
 */
function replaceable(settings: ClusterRun['settings'], spec: V1PodSpec): Partial<V1PodSpec> {
  const wanted = Object.entries(nodeSelectorOf(settings.loaderNode) ?? {});
  const preference = {
    matchExpressions: wanted.map(([key, value]) => ({ key, operator: 'In', values: [value] })),
  };
  return {
    ...(wanted.length === 0
      ? {}
      : {
          affinity: {
            nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
          },
        }),
    tolerations: [
      ...(spec.tolerations ?? []),
      ...['not-ready', 'unreachable'].map((state) => ({
        ...{ key: `node.kubernetes.io/${state}`, operator: 'Exists', effect: 'NoExecute' },
        tolerationSeconds: LOST_NODE_SECONDS,
      })),
    ],
  };
}

function guardTemplate(request: GuardRequest, labels: Record<string, string>, mount: ConfigMapMount) {
  const { run, leaseNamespace, holder, token } = request;
  const { settings, pullSecrets, namespace } = run;
  const { loaderNode: _preferred, ...placed } = settings;
  const template = podTemplate({
    settings: { ...placed, serviceAccount: GUARD },
    labels,
    component: 'checker',
    // With Node.js.
    image: run.images.companions,
    command: ['node', `${DIRECTORY}/guard-program${EXTENSION}`],
    args: [],
    env: {
      ...{ LEASE_NAMESPACE: leaseNamespace, NAMESPACE: namespace, TOKEN: token, HOLDER: holder },
      ...(settings.keep ? { KEEP: 'yes' } : {}),
    },
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '192Mi' } },
    mounts: { [DIRECTORY]: mount },
    pullSecrets,
    restartPolicy: 'Always',
  });
  const { spec } = template;
  const [container] = spec.containers;
  const readinessProbe = { httpGet: { path: '/', port: PORT }, periodSeconds: 1 };
  return {
    ...template,
    spec: {
      ...spec,
      ...replaceable(settings, spec),
      automountServiceAccountToken: true,
      containers: [{ ...container, readinessProbe }],
    },
  };
}

/** Resolves when the guard has read the journal: from then on changes may be made. */
export async function deployGuard(request: GuardRequest): Promise<void> {
  const { run, api, signal } = request;
  const { client, namespace, runId } = run;
  const labels = { ...unitLabels(runId, 'guard', GUARD), [LABELS.name]: GUARD };
  const metadata = { name: GUARD, namespace, labels };
  const owner = await ownerReference(request);
  await client.create('ServiceAccount', { metadata }, signal);
  for (const { path, object } of rbacObjects(request, owner)) {
    if ((await create(api, path, object)) === null) throw new Error(`${path} of this run exists already`);
  }
  const files = [PACKAGE, ...MODULES.map(programFile)];
  const mount = await uploadFiles(run, { name: GUARD, labels, what: 'the guard', files }, signal);
  const deployment = {
    metadata,
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: unitSelector(runId, GUARD) },
      template: guardTemplate(request, labels, mount),
    },
  };
  await startDeployment(run, deployment, 'the guard', signal);
}
