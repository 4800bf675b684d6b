/** Each right of k8s/rbac-swap.yaml is needed: without it a swap says which one is missing, before it changes anything. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountMay, benchRoles, makeAccount, removeAccount, setRules } from './support/account.ts';
import { leftovers, without } from './support/admin.ts';
import { clusterWorld } from './support/bench.ts';
import {
  type Kind,
  makeStandIn,
  removeStandIn,
  SHORTEST,
  type StandIn,
  snapshotOf,
  swapFlags,
  twoImages,
  until,
} from './support/stand-in.ts';

const KINDS = ['Deployment', 'DaemonSet', 'StatefulSet'] as const satisfies readonly Kind[];
const suite = `swap-rights-${Math.random().toString(36).slice(2, 8)}`;
const standIns = new Map<Kind, StandIn>();
let images: Awaited<ReturnType<typeof twoImages>>;

beforeAll(async () => {
  images = await twoImages();
  const made = await Promise.all(
    KINDS.map((kind) => makeStandIn(`${suite}-${kind.toLowerCase()}`, images.ours, kind)),
  );
  for (const standIn of made) standIns.set(standIn.kind, standIn);
});
afterAll(async () => {
  for (const kind of KINDS) await removeStandIn({ namespace: `${suite}-${kind.toLowerCase()}` });
});

/** `daemonsets` → the stand-in of that kind; the Deployment for what all have in common. */
function standInFor(resource: string): StandIn {
  const kind = KINDS.find((known) => `${known.toLowerCase()}s` === resource) ?? 'Deployment';
  const standIn = standIns.get(kind);
  if (standIn === undefined) throw new Error(`there is no stand-in that is a ${kind}`);
  return standIn;
}

/** The roles of both methods. */
const FILE = 'rbac-swap.yaml';

interface Method {
  readonly role: string;
  readonly flags: (standIn: StandIn) => readonly string[];
}

const IN_PLACE: Method = {
  role: 'dinodns-bench-swap-in-place',
  flags: (standIn) => swapFlags(standIn, images.clusters),
};

const SHADOW: Method = {
  role: 'dinodns-bench-swap-shadow',
  flags: ({ namespace, kind }) => [
    ...['swap', '--to', images.clusters, '--workload', `${namespace}/${kind}/dns`],
    ...SHORTEST,
  ],
};

async function roleOf({ role }: Pick<Method, 'role'>): Promise<V1ClusterRole> {
  const found = (await benchRoles(FILE)).find(({ metadata }) => metadata?.name === role);
  if (found === undefined) throw new Error(`k8s/${FILE} has no role ${role}`);
  return found;
}

/** The same right in another role would hide that it is missing. */
function withoutResourcesOf(role: V1ClusterRole, roles: readonly V1ClusterRole[]): V1ClusterRole[] {
  const shared = new Set((role.rules ?? []).flatMap(({ resources = [] }) => resources));
  return roles.map((item) => ({
    ...item,
    rules: (item.rules ?? []).flatMap((rule) => {
      const resources = (rule.resources ?? []).filter((name) => !shared.has(name));
      return resources.length === 0 ? [] : [{ ...rule, resources }];
    }),
  }));
}

interface TakenAway {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  /** The only object that the rule is about; empty: any. */
  readonly name: string;
}

/** Each verb of each resource of a rule. */
function rightsIn({
  apiGroups = [''],
  resources = [],
  verbs,
  resourceNames = [],
}: V1PolicyRule): TakenAway[] {
  const [group = ''] = apiGroups;
  const [name = ''] = resourceNames;
  return resources.flatMap((resource) => verbs.map((verb) => ({ verb, resource, group, name })));
}

/** What cannot be read ends a swap by itself, and each kind is a workload of its own; all other rights are named together. */
function takenTogether(rights: readonly TakenAway[]): TakenAway[][] {
  const apart = rights.filter(
    ({ resource, verb }) =>
      ['get', 'list'].includes(verb) || ['daemonsets', 'statefulsets'].includes(resource),
  );
  return [...apart.map((right) => [right]), rights.filter((right) => !apart.includes(right))];
}

const OPENSHIFT = 'operator.openshift.io';
const METHODS = await Promise.all(
  [IN_PLACE, SHADOW].map(async (method) => ({ ...method, rules: (await roleOf(method)).rules ?? [] })),
);

describe.each(METHODS)('the role $role', ({ rules, ...method }) => {
  const account = `${suite}-${method.role.slice('dinodns-bench-swap-'.length)}`;
  let directory: string;
  let kubeconfig: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bench-rights-'));
    const role = await roleOf(method);
    kubeconfig = await makeAccount(
      account,
      [...withoutResourcesOf(role, await benchRoles()), role],
      directory,
    );
  });
  afterAll(async () => {
    await removeAccount(account);
    await rm(directory, { recursive: true, force: true });
  });

  // Those on OpenShift's own resource: see swap-operators.k8s.test.ts.
  const rights = rules.filter(({ apiGroups }) => apiGroups?.[0] !== OPENSHIFT).flatMap(rightsIn);

  const lacks = takenTogether(rights).map((taken) => ({
    taken,
    names: taken.map(({ verb, resource }) => `${verb} ${resource}`),
  }));
  it.each(lacks)('without $names: says so, and changes nothing', async ({ taken, names }) => {
    const world = await clusterWorld(kubeconfig);
    const dns = standInFor(taken[0]?.resource ?? '');
    try {
      await setRules(
        account,
        method.role,
        taken.reduce((left, { resource, verb }) => without(left, resource, verb), rules),
      );
      // The API server's cache of rights takes a moment.
      for (const right of taken) await until(() => accountMay(account, right), false);
      expect(await world.bench(...method.flags(dns)), world.err()).toBe(3);
      const [, said = ''] = /E_CLUSTER_FORBIDDEN\]: this user may not (.*)/.exec(world.err()) ?? [];
      for (const name of names) expect(said).toMatch(new RegExp(`\\b${name}\\b`));
      expect(world.err()).not.toContain('planned:');
      expect(await snapshotOf(dns.path)).toEqual(dns.before);
    } finally {
      await world.remove();
    }
  });

  it('leaves nothing behind', async () => {
    expect(await leftovers()).toEqual([]);
  });
});
