/**
 * The permissions that bench needs, checked before anything is created: a run that fails halfway for lack of a
 * permission has wasted an hour, and may be unable to remove what it created. `k8s/rbac.yaml` grants exactly these.
 */
import { z } from 'zod';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';

export interface Permission {
  readonly verb: string;
  readonly group: string;
  /** `pods`, or `pods/log` with the subresource. */
  readonly resource: string;
  /** In the run's namespace, or in the whole cluster. */
  readonly scope: 'namespace' | 'cluster';
}

function permissions(
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

const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

export function describePermission({ verb, group, resource }: Permission): string {
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}`;
}

async function isAllowed(
  client: KubeClient,
  { verb, group, resource, scope }: Permission,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const [name, subresource] = resource.split('/');
  const answer = await client.review(
    {
      spec: {
        resourceAttributes: {
          verb,
          group,
          ...(name === undefined ? {} : { resource: name }),
          ...(subresource === undefined ? {} : { subresource }),
          ...(scope === 'namespace' ? { namespace } : {}),
        },
      },
    },
    signal,
  );
  return reviewSchema.parse(answer).status.allowed;
}

/**
 * Asks the API server for each permission, one after the other.
 * @throws BenchError `E_CLUSTER_FORBIDDEN` that names every verb and resource that is missing.
 */
export async function demandPermissions(
  client: KubeClient,
  required: readonly Permission[],
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const missing: Permission[] = [];
  for (const permission of required) {
    if (!(await isAllowed(client, permission, namespace, signal))) missing.push(permission);
  }
  if (missing.length === 0) return;
  throw new BenchError(
    'E_CLUSTER_FORBIDDEN',
    `this user may not ${missing.map(describePermission).join(', ')} on ${client.context}`,
    {
      evidence: missing.map(
        (permission) =>
          `${describePermission(permission)} ${permission.scope === 'cluster' ? 'in the cluster' : `in namespace ${namespace}`}`,
      ),
      fix: 'Apply k8s/rbac.yaml and bind its role to this user: it grants everything that bench needs.',
    },
  );
}
