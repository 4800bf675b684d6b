/** `bench swap --method in-place` of the cluster's own DNS, found without flags: faults end with it exactly as before. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Halted, startBench } from './support/bench-process.ts';
import { BENCH_K8S_COMPONENTS, pidOf } from './support/components.ts';
import { asBefore, note, SHORTEST, snapshotOf, withoutTraces } from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const PATH = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
const LEASE_NAMESPACE = 'kube-system';
const suite = swapSuite('own', ['in-place', 'optional']);

let running: Halted | undefined;
afterEach(() => {
  running?.child.kill('SIGKILL');
});

const HANG_MS = 10_000;

/** Nobody in the cluster gets an answer meanwhile: neither the tool nor the guard, nor controllers and kubelets. */
async function hangApiServer(meanwhile: () => void): Promise<void> {
  const pid = await pidOf('kube-apiserver');
  process.kill(pid, 'SIGSTOP');
  try {
    meanwhile();
    await new Promise((resolve) => setTimeout(resolve, HANG_MS));
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

describe.skipIf(BENCH_K8S_COMPONENTS === undefined)('in-place swap of the DNS of the cluster', () => {
  it('goes on when the API server hangs for 10 seconds in the middle of the change; killed later, the guard puts it back', async () => {
    const before = await snapshotOf(PATH);
    // The first patch of the object marks it; the second one changes its image.
    const at = `sends 2: PATCH ${PATH}`;
    const flags = ['swap', '--to', suite.images.ours, '--method', 'in-place', '--yes-change-cluster-dns'];
    running = await startBench([...flags, '--lease', '25', ...SHORTEST, '--placements', 'BA'], {
      ...{ kubeconfig: suite.kubeconfig, prefix: suite.name },
      ...{ at, signal: 'SIGSTOP' },
    });
    const { child, wake, said } = running;
    await running.stops(at);
    await hangApiServer(wake);
    await running.says('placement 1: measuring');
    child.kill('SIGKILL');
    expect(await running.exited, said()).toBeNull();
    const seconds = await asBefore({ path: PATH, before });
    await note(
      'kube-system/coredns: killed after an API server that hung for 10 s during the change',
      seconds,
    );
    await withoutTraces(suite.name, LEASE_NAMESPACE);
  });
});
