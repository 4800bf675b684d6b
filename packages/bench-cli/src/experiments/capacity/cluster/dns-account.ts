/** The account of a private CoreDNS: what it may read, and what the program beside it may change in its namespace. Pure. */
import type { V1Namespace, V1ObjectMeta, V1PolicyRule } from '@kubernetes/client-node';
import { runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import { type Permission, permissions } from '../../../targets/kubernetes/permissions.ts';

export const ACCOUNT = 'dns';

const RBAC = 'rbac.authorization.k8s.io';

/** What the Corefile's `kubernetes` plugin reads, and nothing else: the rules of CoreDNS's own role. */
const READER_RULES = [
  { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

/** To create and delete Services. */
export const SERVICE_RULE: V1PolicyRule = {
  apiGroups: [''],
  resources: ['services'],
  verbs: ['create', 'delete'],
};

/** Who grants these in a namespace must have them. In `k8s/rbac.yaml` in the roles `dinodns-bench` and `dinodns-bench-capacity`. */
export function grantPermissions(rules: readonly V1PolicyRule[]): Permission[] {
  if (rules.length === 0) return [];
  const own = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => permissions('namespace', group, { [resource]: verbs })),
    ),
  );
  return [...own, ...permissions('namespace', RBAC, { roles: ['create'], rolebindings: ['create'] })];
}

function granted(
  kind: 'Role' | 'ClusterRole',
  metadata: V1ObjectMeta & { readonly name: string },
  rules: readonly V1PolicyRule[],
  namespace: string,
) {
  return {
    role: { metadata, rules: [...rules] },
    binding: {
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
    },
  };
}

/**
 * The role that reads and its binding are outside the namespace, but are owned by it: whoever deletes the namespace, also
 * after a SIGKILL, deletes them.
 */
export function dnsAccount(owner: V1Namespace, runId: string, changes: readonly V1PolicyRule[] = []) {
  const { name: namespace = '', uid = '' } = owner.metadata ?? {};
  const labels = runLabels(runId);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Namespace', name: namespace, uid }];
  return {
    account: { metadata: { name: ACCOUNT, namespace, labels } },
    reading: granted(
      'ClusterRole',
      { name: `${namespace}-dns`, labels, ownerReferences },
      READER_RULES,
      namespace,
    ),
    changing:
      changes.length === 0
        ? null
        : granted('Role', { name: 'changes', namespace, labels }, changes, namespace),
  };
}
