/** The rights of the program beside a private CoreDNS in its own namespace, and what bench needs to give them. Pure. */
import type { V1PolicyRule, V1Role, V1RoleBinding } from '@kubernetes/client-node';
import { runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { Permission } from '../../../targets/kubernetes/permissions.ts';

const NAME = 'changes';

/** To create and delete Services. */
export const SERVICE_RULE: V1PolicyRule = {
  apiGroups: [''],
  resources: ['services'],
  verbs: ['create', 'delete'],
};

/** Who grants a right must have it. In `k8s/rbac.yaml` in the roles `dinodns-bench` and `dinodns-bench-capacity`. */
export function grantPermissions(rules: readonly V1PolicyRule[]): Permission[] {
  if (rules.length === 0) return [];
  const group = 'rbac.authorization.k8s.io';
  const roles = { apiGroups: [group], resources: ['roles', 'rolebindings'], verbs: ['create'] };
  return [...rules, roles].flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((of) =>
      resources.flatMap((resource) =>
        verbs.map((verb): Permission => ({ verb, group: of, resource, scope: 'namespace' })),
      ),
    ),
  );
}

/** For the account `dns` of the namespace. */
export function podRights(
  namespace: string,
  runId: string,
  rules: readonly V1PolicyRule[],
): { role: V1Role; binding: V1RoleBinding } {
  const metadata = { name: NAME, namespace, labels: runLabels(runId) };
  return {
    role: { metadata, rules: [...rules] },
    binding: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: 'dns', namespace }],
    },
  };
}
