/** The right of the pod to create and delete Services in its own namespace, and what bench needs to give it. Pure. */
import type { V1Role, V1RoleBinding } from '@kubernetes/client-node';
import { runLabels } from '../../../../targets/kubernetes/objects/labels.ts';
import type { Permission } from '../../../../targets/kubernetes/permissions.ts';

const NAME = 'services';

/** Who grants a right must have it. In `k8s/rbac.yaml` in the roles `dinodns-bench` and `dinodns-bench-capacity`. */
export const PROPAGATION_PERMISSIONS: readonly Permission[] = [
  { verb: 'delete', group: '', resource: 'services', scope: 'namespace' },
  { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'roles', scope: 'namespace' },
  { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'rolebindings', scope: 'namespace' },
];

/** For the account `dns` of the namespace. */
export function serviceRights(namespace: string, runId: string): { role: V1Role; binding: V1RoleBinding } {
  const metadata = { name: NAME, namespace, labels: runLabels(runId) };
  return {
    role: {
      metadata,
      rules: [{ apiGroups: [''], resources: ['services'], verbs: ['create', 'delete'] }],
    },
    binding: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: 'dns', namespace }],
    },
  };
}
