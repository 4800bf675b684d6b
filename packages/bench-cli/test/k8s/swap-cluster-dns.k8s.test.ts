/** `bench swap --method in-place` of the cluster's own DNS, found without flags: faults end with it exactly as before. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { benchRoles, makeAccount, removeAccount } from './support/account.ts';
import { type Halted, type HaltOptions, restoreSeconds, startBench } from './support/bench-process.ts';
import { asBefore, note, SHORTEST, snapshotOf, twoImages, withoutTraces } from './support/stand-in.ts';

const PATH = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
const LEASE_NAMESPACE = 'kube-system';
const suite = `swap-${Math.random().toString(36).slice(2, 6)}`;
let directory: string;
let kubeconfig: string;
let image: string;
let before: unknown;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-swap-'));
  const roles = [...(await benchRoles()), ...(await benchRoles('rbac-swap.yaml'))];
  kubeconfig = await makeAccount(suite, roles, directory);
  image = (await twoImages()).ours;
  before = await snapshotOf(PATH);
});
afterAll(async () => {
  await removeAccount(suite);
  await rm(directory, { recursive: true, force: true });
});

let running: Halted | undefined;
afterEach(() => {
  running?.child.kill('SIGKILL');
});

async function swap(halt: Pick<HaltOptions, 'prefix' | 'at' | 'signal'>, lease: number): Promise<Halted> {
  const flags = ['swap', '--to', image, '--method', 'in-place', '--yes-change-cluster-dns'];
  running = await startBench([...flags, '--lease', String(lease), ...SHORTEST], { kubeconfig, ...halt });
  return running;
}

describe('in-place swap of the DNS of the cluster', () => {
  it('killed while measuring is put back by the guard', async () => {
    const prefix = `${suite}-killed`;
    const killed = await swap({ prefix, at: 'placement 2: measuring' }, 20);
    expect(await killed.exited, killed.said()).toBeNull();
    const seconds = await asBefore({ path: PATH, before });
    await note('the tool killed while measuring kube-system/coredns', seconds);
    await withoutTraces(prefix, LEASE_NAMESPACE);
  });
});

/** Only where the API server's process can be reached: see faults.k8s.test.ts. */
const { BENCH_K8S_COMPONENTS } = process.env;

/** Nobody in the cluster gets an answer meanwhile: neither the tool nor the guard, nor controllers and kubelets. */
const HANG_MS = 10_000;

describe.skipIf(BENCH_K8S_COMPONENTS === undefined)('in-place swap of the DNS of the cluster', () => {
  it('whose API server hangs for 10 seconds in the middle of the change goes on', async () => {
    const prefix = `${suite}-hung`;
    const pidFile = join(BENCH_K8S_COMPONENTS ?? '', 'kube-apiserver.pid');
    const pid = Number((await readFile(pidFile, 'utf8')).split(' ')[0]);
    // The first patch of the object marks it; the second one changes its image.
    const at = `sends 2: PATCH ${PATH}`;
    const halted = await swap({ prefix, at, signal: 'SIGSTOP' }, 30);
    await halted.stops(at);
    process.kill(pid, 'SIGSTOP');
    try {
      halted.wake();
      await new Promise((resolve) => setTimeout(resolve, HANG_MS));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await halted.exited, halted.said()).toBe(0);
    expect(halted.told()).toMatch(/Everything was as before/);
    await asBefore({ path: PATH, before });
    await note(
      'the API server hangs for 10 s during the change of kube-system/coredns',
      restoreSeconds(halted),
    );
    await withoutTraces(prefix, LEASE_NAMESPACE);
  });
});
