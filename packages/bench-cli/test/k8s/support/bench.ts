/** Runs `bench` against the cluster as the suite's account. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecord } from '../../../src/results/parse-record.ts';
import type { RunRecord } from '../../../src/results/record.ts';
import { type TestWorld, testWorld } from '../../support/test-world.ts';
import { suiteName } from './admin.ts';

export function suiteKubeconfig(): string {
  const { SUITE_KUBECONFIG } = process.env;
  if (SUITE_KUBECONFIG === undefined) throw new Error('the suite has no account');
  return SUITE_KUBECONFIG;
}

/** The environment of a bench that runs as the suite's account and makes namespaces of the suite. */
export const suiteEnvironment = (kubeconfig = suiteKubeconfig()) => ({
  KUBECONFIG: kubeconfig,
  DINODNS_BENCH_NAMESPACE_PREFIX: suiteName(),
  // Others may use the cluster, too: pods wait until there is room for them.
  DINODNS_BENCH_SCHEDULE_TIME: '150',
});

export const clusterWorld = (kubeconfig = suiteKubeconfig()): Promise<TestWorld> =>
  testWorld({ env: suiteEnvironment(kubeconfig) });

/** The shortest run that is one: a case of one server, a trial of a second. */
export const SHORT = [
  '--target',
  'kubernetes',
  '--servers',
  'coredns',
  '--tier',
  '500m',
  '--duration',
  '1',
  '--warmup',
  '0',
  '--trials',
  '1',
] as const;

/** The same without the waits for the kubelet's figures, for runs that are not about them. */
export const UNOBSERVED = [...SHORT, '--observe', 'none'] as const;

/** The only record in the world's results. */
export async function recordOf(world: TestWorld): Promise<RunRecord> {
  const results = join(world.directory, 'results');
  const [id, ...others] = (await world.fs.readdir(results)).filter((name) => /^\d{8}-/.test(name));
  if (id === undefined || others.length > 0) throw new Error(`not one run in ${results}`);
  return parseRecord(await readFile(join(results, id, 'run.json'), 'utf8'), id);
}
