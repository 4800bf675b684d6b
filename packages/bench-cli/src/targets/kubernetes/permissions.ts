/**
 * The permissions that bench needs, checked before anything is created: a run that fails halfway for lack of a
 * permission has wasted an hour, and may be unable to remove what it created. `k8s/rbac.yaml` grants exactly these.
 */
import { BenchError } from '../../errors.ts';
import { describeAccess, missingRights, type Right } from '../../kubernetes-api/access.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';

export interface Permission extends Pick<Right, 'verb' | 'group' | 'resource'> {
  /** In the run's namespace, or in the whole cluster. */
  readonly scope: 'namespace' | 'cluster';
}

export function permissions(
  scope: Permission['scope'],
  group: string,
  rules: Readonly<Record<string, readonly string[]>>,
): Permission[] {
  return Object.entries(rules).flatMap(([resource, verbs]) =>
    verbs.map((verb) => ({ verb, group, resource, scope })),
  );
}

/** Without one of these there is no run. */
export const REQUIRED_PERMISSIONS: readonly Permission[] = [
  ...permissions('cluster', '', {
    namespaces: ['create', 'get', 'list', 'watch', 'delete'],
    nodes: ['list'],
  }),
  ...permissions('namespace', '', {
    serviceaccounts: ['create'],
    configmaps: ['create', 'delete'],
    services: ['create', 'get', 'delete'],
    pods: ['list', 'watch'],
    'pods/log': ['get'],
  }),
  ...permissions('namespace', 'apps', { deployments: ['create', 'delete'] }),
  ...permissions('namespace', 'batch', { jobs: ['create', 'delete'] }),
];

/** For `--pull-secrets`. */
export const SECRET_PERMISSIONS: readonly Permission[] = permissions('namespace', '', {
  secrets: ['create'],
});

/**
 * @throws BenchError `E_CLUSTER_FORBIDDEN` that names every verb and resource that is missing.
 */
export async function demandPermissions(
  client: KubeClient,
  required: readonly Permission[],
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const rights = required.map(({ scope, ...right }): Right => {
    return { ...right, name: '', namespace: scope === 'namespace' ? namespace : null };
  });
  const missing = await missingRights(client, rights, signal);
  if (missing.length === 0) return;
  throw new BenchError(
    'E_CLUSTER_FORBIDDEN',
    `this user may not ${missing.map(describeAccess).join(', ')} on ${client.context}`,
    {
      evidence: missing.map(
        (right) =>
          `${describeAccess(right)} ${right.namespace === null ? 'in the cluster' : `in namespace ${namespace}`}`,
      ),
      fix: 'Apply k8s/rbac.yaml and bind its role to this user: it grants everything that bench needs.',
    },
  );
}
