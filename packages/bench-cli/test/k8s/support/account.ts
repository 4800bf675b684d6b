/**
 * Before the suite: an account with exactly the rights of k8s/rbac.yaml, and a kubeconfig for it. After it both are
 * removed. The tests find the kubeconfig in SUITE_KUBECONFIG, and the namespace of the account in SUITE_NAME.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { adminConfig, authorization, core, rbac } from './admin.ts';

/** The roles as the file has them. */
export async function benchRoles(file = 'rbac.yaml'): Promise<V1ClusterRole[]> {
  const text = await readFile(new URL(`../../../../../k8s/${file}`, import.meta.url), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as V1ClusterRole);
}

/** Writes a kubeconfig for a service account of this namespace that has the given roles. */
export async function makeAccount(
  suite: string,
  roles: readonly V1ClusterRole[],
  directory: string,
): Promise<string> {
  const labels = { 'dinodns-bench-suite': suite };
  await core().createNamespace({ body: { metadata: { name: suite, labels } } });
  await core().createNamespacedServiceAccount({
    namespace: suite,
    body: { metadata: { name: 'bench' } },
  });
  for (const role of roles) {
    const name = `${suite}-${role.metadata?.name}`;
    await rbac().createClusterRole({ body: { metadata: { name, labels }, rules: role.rules ?? [] } });
    await rbac().createClusterRoleBinding({
      body: {
        metadata: { name, labels },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', name: 'bench', namespace: suite }],
      },
    });
  }
  const { status } = await core().createNamespacedServiceAccountToken({
    namespace: suite,
    name: 'bench',
    body: { spec: { audiences: [], expirationSeconds: 7200 } },
  });
  const cluster = adminConfig().getCurrentCluster();
  if (cluster === null || status === undefined) throw new Error('no cluster, or no token');
  const path = join(directory, `${suite}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'suite',
    contexts: [{ name: 'suite', context: { cluster: 'suite', user: 'suite' } }],
    clusters: [
      {
        name: 'suite',
        cluster: {
          server: cluster.server,
          ...(cluster.caData === undefined ? {} : { 'certificate-authority-data': cluster.caData }),
          ...(cluster.caFile === undefined ? {} : { 'certificate-authority': cluster.caFile }),
          ...(cluster.skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
        },
      },
    ],
    users: [{ name: 'suite', user: { token: status.token } }],
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Replaces the rules of one of the account's roles, by its name in the file. */
export async function setRules(suite: string, role: string, rules: V1PolicyRule[]): Promise<void> {
  const name = `${suite}-${role}`;
  const current = await rbac().readClusterRole({ name });
  await rbac().replaceClusterRole({ name, body: { ...current, rules } });
}

/** Whether the account of `makeAccount` has a right in the whole cluster, by what the API server has read of the roles. */
export async function accountMay(
  suite: string,
  right: { verb: string; group: string; resource: string; name: string },
): Promise<boolean> {
  const { status } = await authorization().createSubjectAccessReview({
    body: { spec: { user: `system:serviceaccount:${suite}:bench`, resourceAttributes: right } },
  });
  return status?.allowed === true;
}

export async function removeAccount(suite: string): Promise<void> {
  const labelSelector = `dinodns-bench-suite=${suite}`;
  await rbac().deleteCollectionClusterRoleBinding({ labelSelector });
  await rbac().deleteCollectionClusterRole({ labelSelector });
  await core().deleteNamespace({ name: suite });
}

/** Of both projects of the suite, whose setups run one after the other: the first makes the account, and removes it. */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.SUITE_NAME !== undefined) return () => Promise.resolve();
  const directory = await mkdtemp(join(tmpdir(), 'bench-suite-'));
  const suite = `bench-suite-${Math.random().toString(36).slice(2, 8)}`;
  process.env.SUITE_KUBECONFIG = await makeAccount(suite, await benchRoles(), directory);
  process.env.SUITE_NAME = suite;
  return async () => {
    await removeAccount(suite);
    await rm(directory, { recursive: true, force: true });
  };
}
