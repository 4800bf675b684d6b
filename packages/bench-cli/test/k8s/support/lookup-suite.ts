/** What files of tests for `bench lookup` have: an account with its role, and a directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type TestWorld, testWorld } from '../../support/test-world.ts';
import { benchRoles, makeAccount, removeAccount } from './account.ts';
import { suiteEnvironment } from './bench.ts';

export interface LookupSuite {
  /** Of the account. */
  readonly name: string;
  /** Temporary. */
  readonly directory: string;
  /** Of a bench that runs as the account. */
  readonly env: Readonly<Record<string, string>>;
  /** A world with that environment and more. */
  inWorld(more: Readonly<Record<string, string>>, use: (world: TestWorld) => Promise<void>): Promise<void>;
}

const NO_ENVIRONMENT: Readonly<Record<string, string>> = {};

/** Makes them before the tests of the file, which may read them from then on, and removes them afterwards. */
export function lookupSuite(): LookupSuite {
  const name = `bench-lookup-${Math.random().toString(36).slice(2, 8)}`;
  const suite = {
    name,
    directory: '',
    env: NO_ENVIRONMENT,
    inWorld: async (
      more: Readonly<Record<string, string>>,
      use: (world: TestWorld) => Promise<void>,
    ): Promise<void> => {
      // A test of tiger-bench says itself how often it is repeated.
      const world = await testWorld({ env: { ...suite.env, DINODNS_BENCH_TRIALS: '', ...more } });
      try {
        await use(world);
      } finally {
        await world.remove();
      }
    },
  };
  beforeAll(async () => {
    suite.directory = await mkdtemp(join(tmpdir(), 'bench-lookup-'));
    const roles = [...(await benchRoles()), ...(await benchRoles('rbac-lookup.yaml'))];
    suite.env = suiteEnvironment(await makeAccount(name, roles, suite.directory));
  });
  afterAll(async () => {
    await removeAccount(name);
    await rm(suite.directory, { recursive: true, force: true });
  });
  return suite;
}
