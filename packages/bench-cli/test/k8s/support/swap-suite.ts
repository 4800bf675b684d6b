/** What every file of tests for `bench swap` has: an account with its roles, two images, and a directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { benchRoles, makeAccount, removeAccount } from './account.ts';
import { type Kind, makeStandIn, removeStandIn, type StandIn, twoImages } from './stand-in.ts';

const FILE = 'rbac-swap.yaml';
export type SwapRole = 'in-place' | 'shadow' | 'optional';
export const swapRole = (role: SwapRole) => `dinodns-bench-swap-${role}`;

export interface SwapSuite {
  /** Of the account; namespaces of its runs begin with it. */
  readonly name: string;
  /** Temporary. */
  readonly directory: string;
  /** Of the account. */
  readonly kubeconfig: string;
  readonly images: Awaited<ReturnType<typeof twoImages>>;
  /** The stand-in of a file that has one for all of its tests. */
  readonly dns: StandIn;
}

/**
 * Makes them before the tests of the file, which may read them from then on, and removes them afterwards.
 * @param roles Of k8s/rbac-swap.yaml: the account has these and those of `bench run`, and no others.
 * @param kind Of the stand-in; without it there is none.
 */
export function swapSuite(what: string, roles: readonly SwapRole[], kind?: Kind): SwapSuite {
  const name = `swap-${what}-${Math.random().toString(36).slice(2, 6)}`;
  const namespace = `dns-${name}`;
  let dns: StandIn | undefined;
  const suite = {
    ...{ name, directory: '', kubeconfig: '', images: { ours: '', clusters: '' } },
    get dns() {
      if (dns === undefined) throw new Error('the suite has no stand-in');
      return dns;
    },
  };
  const wanted = roles.map(swapRole);
  beforeAll(async () => {
    suite.directory = await mkdtemp(join(tmpdir(), 'bench-swap-'));
    const own = (await benchRoles(FILE)).filter(({ metadata }) => wanted.includes(metadata?.name ?? ''));
    if (own.length !== wanted.length) throw new Error(`k8s/${FILE} lacks one of ${wanted.join(', ')}`);
    suite.kubeconfig = await makeAccount(name, [...(await benchRoles()), ...own], suite.directory);
    suite.images = await twoImages();
    if (kind !== undefined) dns = await makeStandIn(namespace, suite.images.ours, kind);
  });
  afterAll(async () => {
    if (kind !== undefined) await removeStandIn({ namespace });
    await removeAccount(name);
    await rm(suite.directory, { recursive: true, force: true });
  });
  return suite;
}
