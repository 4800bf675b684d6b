/** Runs `bench` against the cluster as the suite's account. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseRecordAs } from '../../../src/results/parse-record.ts';
import type { RunRecord } from '../../../src/results/record.ts';
import type { RecordKind } from '../../../src/results/record-kind.ts';
import { parseRecord } from '../../support/parse-record.ts';
import { type TestWorld, testWorld } from '../../support/test-world.ts';
import { filePrefix } from './admin.ts';

export function suiteKubeconfig(): string {
  const { SUITE_KUBECONFIG } = process.env;
  if (SUITE_KUBECONFIG === undefined) throw new Error('the suite has no account');
  return SUITE_KUBECONFIG;
}

/** The environment of a bench that runs as the suite's account and makes namespaces of this file. */
export const suiteEnvironment = (kubeconfig = suiteKubeconfig()) => ({
  KUBECONFIG: kubeconfig,
  DINODNS_BENCH_NAMESPACE_PREFIX: filePrefix(),
  // Other files and other people use the cluster, too: pods wait until there is room for them.
  DINODNS_BENCH_SCHEDULE_TIME: '150',
});

/** A test that fails may leave a run under way, whose pods keep room that other files wait for: `remove` stops it first. */
export async function clusterWorld(kubeconfig = suiteKubeconfig()): Promise<TestWorld> {
  const world = await testWorld({ env: suiteEnvironment(kubeconfig) });
  const { bench, remove } = world;
  const underWay = new Set<Promise<number>>();
  return Object.assign(world, {
    bench: async (...argv: readonly string[]) => {
      const run = bench(...argv);
      underWay.add(run);
      return run.finally(() => underWay.delete(run));
    },
    remove: async () => {
      if (underWay.size > 0) world.send('SIGINT');
      await Promise.allSettled(underWay);
      await remove();
    },
  });
}

/** `bench` in a process of its own, that it can be killed. */
export function startBench(world: TestWorld, ...argv: readonly string[]) {
  return spawn(process.execPath, [fileURLToPath(new URL('../../../src/main.ts', import.meta.url)), ...argv], {
    cwd: world.directory,
    env: { ...process.env, ...suiteEnvironment(), NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/**
 * Room on the node for the pods of other files: by default, a server and its loader ask for most of the CPUs of a small
 * node. Limits stay: the server's is its tier, and the loader leaves the rest of the machine alone.
 */
export const SMALL = ['--cpu-request', '100m', '--loader-cpu', '200m'] as const;

/** The shortest run that is one: a case of one server, a trial of a second. */
export const SHORT = [
  ...['--target', 'kubernetes', '--servers', 'coredns', '--tier', '500m'],
  ...['--duration', '1', '--warmup', '0', '--trials', '1'],
  ...SMALL,
] as const;

/** The same without the waits for the kubelet's figures, for runs that are not about them. */
export const UNOBSERVED = [...SHORT, '--observe', 'none'] as const;

/** The text of the only record in the world's results. */
async function onlyRecord(world: TestWorld): Promise<{ id: string; text: string }> {
  const results = join(world.directory, 'results');
  const [id, ...others] = (await world.fs.readdir(results)).filter((name) => /^\d{8}-/.test(name));
  if (id === undefined || others.length > 0) throw new Error(`not one run in ${results}`);
  return { id, text: await readFile(join(results, id, 'run.json'), 'utf8') };
}

/** The only record in the world's results. */
export async function recordOf(world: TestWorld): Promise<RunRecord> {
  const { id, text } = await onlyRecord(world);
  return parseRecord(text, id);
}

/** The same, of another experiment than a comparison. */
export async function recordAs<T>(world: TestWorld, kind: RecordKind<T>): Promise<T> {
  const { id, text } = await onlyRecord(world);
  return parseRecordAs(kind, text, id);
}
