/** The kinds of objects that bench reads or writes: their paths, and their types in client-node. */
import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  CoreV1Event as V1Event,
  V1Job,
  V1Namespace,
  V1Node,
  V1Pod,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
} from '@kubernetes/client-node';

/** Objects as they come over the wire: client-node's types, but times are text. */
export interface Kinds {
  readonly ClusterRole: V1ClusterRole;
  readonly ClusterRoleBinding: V1ClusterRoleBinding;
  readonly ConfigMap: V1ConfigMap;
  readonly DaemonSet: V1DaemonSet;
  readonly Deployment: V1Deployment;
  readonly EndpointSlice: V1EndpointSlice;
  readonly Event: V1Event;
  readonly Job: V1Job;
  readonly Namespace: V1Namespace;
  readonly Node: V1Node;
  readonly Pod: V1Pod;
  readonly Role: V1Role;
  readonly RoleBinding: V1RoleBinding;
  readonly Secret: V1Secret;
  readonly Service: V1Service;
  readonly ServiceAccount: V1ServiceAccount;
  readonly StatefulSet: V1StatefulSet;
}

export type Kind = keyof Kinds;

interface KindDescription {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export const KINDS: { readonly [K in Kind]: KindDescription } = {
  ClusterRole: { apiVersion: 'rbac.authorization.k8s.io/v1', plural: 'clusterroles', namespaced: false },
  ClusterRoleBinding: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    plural: 'clusterrolebindings',
    namespaced: false,
  },
  ConfigMap: { apiVersion: 'v1', plural: 'configmaps', namespaced: true },
  DaemonSet: { apiVersion: 'apps/v1', plural: 'daemonsets', namespaced: true },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments', namespaced: true },
  EndpointSlice: { apiVersion: 'discovery.k8s.io/v1', plural: 'endpointslices', namespaced: true },
  Event: { apiVersion: 'v1', plural: 'events', namespaced: true },
  Job: { apiVersion: 'batch/v1', plural: 'jobs', namespaced: true },
  Namespace: { apiVersion: 'v1', plural: 'namespaces', namespaced: false },
  Node: { apiVersion: 'v1', plural: 'nodes', namespaced: false },
  Pod: { apiVersion: 'v1', plural: 'pods', namespaced: true },
  Role: { apiVersion: 'rbac.authorization.k8s.io/v1', plural: 'roles', namespaced: true },
  RoleBinding: { apiVersion: 'rbac.authorization.k8s.io/v1', plural: 'rolebindings', namespaced: true },
  Secret: { apiVersion: 'v1', plural: 'secrets', namespaced: true },
  Service: { apiVersion: 'v1', plural: 'services', namespaced: true },
  ServiceAccount: { apiVersion: 'v1', plural: 'serviceaccounts', namespaced: true },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets', namespaced: true },
};

/** The path of a kind's objects, in one namespace or in all. */
export function pathOf(kind: Kind, namespace?: string): string {
  const { apiVersion, plural, namespaced } = KINDS[kind];
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced && namespace !== undefined
    ? `${group}/namespaces/${namespace}/${plural}`
    : `${group}/${plural}`;
}
