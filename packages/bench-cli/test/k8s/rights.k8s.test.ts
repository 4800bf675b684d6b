/** Each right of k8s/rbac.yaml is needed: without it bench says which one is missing, before it makes anything. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAccess } from '../../src/kubernetes-api/access.ts';
import { REQUIRED_PERMISSIONS } from '../../src/targets/kubernetes/permissions.ts';
import { benchRoles, makeAccount, removeAccount, setRules } from './support/account.ts';
import { leftovers, without } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT, UNOBSERVED } from './support/bench.ts';

const suite = `bench-rights-${Math.random().toString(36).slice(2, 8)}`;
let directory: string;
let kubeconfig: string;
let role: V1ClusterRole;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-rights-'));
  const roles = await benchRoles();
  const found = roles.find(({ metadata }) => metadata?.name === 'dinodns-bench');
  if (found === undefined) throw new Error('k8s/rbac.yaml has no role dinodns-bench');
  role = found;
  kubeconfig = await makeAccount(suite, [role], directory);
});
afterAll(async () => {
  await removeAccount(suite);
  await rm(directory, { recursive: true, force: true });
});

const grant = (rules: V1PolicyRule[] = []) => setRules(suite, 'dinodns-bench', rules);

describe('the role of k8s/rbac.yaml', () => {
  it('holds what bench asks for, and nothing else', () => {
    const granted = (role.rules ?? []).flatMap(({ apiGroups = [''], resources = [], verbs }) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => describeAccess({ verb, resource, group: apiGroups[0] ?? '' })),
      ),
    );
    expect(granted.sort()).toEqual(REQUIRED_PERMISSIONS.map(describeAccess).sort());
  });

  it.each([
    { what: 'any of it', missing: REQUIRED_PERMISSIONS },
    { what: 'its last right', missing: REQUIRED_PERMISSIONS.slice(-1) },
  ])('without $what bench names each right that is missing, and makes nothing', async ({ missing }) => {
    const world = await clusterWorld(kubeconfig);
    try {
      await grant(
        missing.reduce((rules, { resource, verb }) => without(rules, resource, verb), role.rules ?? []),
      );
      const named = missing.map(describeAccess).join(', ');
      // The API server's cache of rights takes a moment.
      await expect
        .poll(async () => ({ status: await world.bench('run', ...SHORT), err: world.err() }))
        .toMatchObject({
          status: 3,
          err: expect.stringContaining(`E_CLUSTER_FORBIDDEN]: this user may not ${named} on`),
        });
      expect(await world.fs.readdir(join(world.directory, 'results')).catch(() => [])).toEqual([]);
    } finally {
      await world.remove();
    }
  });

  it.each(['create', 'get'])('without %s secrets: --pull-secrets says so', async (verb) => {
    const world = await clusterWorld(kubeconfig);
    try {
      const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create'] };
      await grant([...(role.rules ?? []), ...without([secrets], 'secrets', verb)]);
      const bench = async () => ({
        status: await world.bench('run', ...UNOBSERVED, '--pull-secrets', `${suite}/none`),
        err: world.err(),
      });
      await expect.poll(bench).toMatchObject({
        status: 3,
        err: expect.stringMatching(new RegExp(`E_CLUSTER_FORBIDDEN\\]: this user may not ${verb} secrets `)),
      });
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });

  it.each([
    ['summary', 'get nodes/proxy'],
    ['metrics', 'list nodes.metrics.k8s.io'],
  ])('alone does not suffice for --observe %s, which says so', async (source, action) => {
    await grant(role.rules);
    const world = await clusterWorld(kubeconfig);
    try {
      expect(await world.bench('run', ...SHORT, '--observe', source)).toBe(3);
      expect(world.err()).toContain(`[E_CLUSTER_FORBIDDEN]: this user may not ${action}`);
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });

  it('alone does not suffice for the names of --servers cluster-dns, which says so', async () => {
    await grant(role.rules);
    const world = await clusterWorld(kubeconfig);
    try {
      const flags = ['--target', 'kubernetes', '--servers', 'cluster-dns', '--workload', 'service'];
      expect(await world.bench('run', ...flags)).toBe(3);
      expect(world.err()).toContain('[E_CLUSTER_FORBIDDEN]: this user may not list services');
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });

  it('alone suffices for a run, which then says that CPU and memory are missing', async () => {
    await grant(role.rules);
    const world = await clusterWorld(kubeconfig);
    try {
      expect(await world.bench('run', ...SHORT), world.err()).toBe(0);
      const record = await recordOf(world);
      expect(record.warnings.join('\n')).toContain('CPU and memory are missing');
      expect(record.trials[0]).toMatchObject({ status: 'ok', server: null });
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });
});
