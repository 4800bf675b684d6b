/** `bench disrupt` on a cluster that is stopped: nothing is left behind. */
import { expect, it } from 'vitest';
import { LABELS } from '../../src/targets/kubernetes/objects/labels.ts';
import { core, filePrefix, leftovers, SELECTOR } from './support/admin.ts';
import { clusterWorld } from './support/bench.ts';

/** Whether pods of the server end while the load generator runs. */
async function isRollingOut(): Promise<boolean> {
  const { items } = await core().listPodForAllNamespaces({ labelSelector: SELECTOR });
  const ours = items.filter(({ metadata }) => metadata?.namespace?.startsWith(`${filePrefix()}-`));
  const of = (component: string) =>
    ours.filter(({ metadata }) => metadata?.labels?.[LABELS.component] === component);
  return (
    of('server').some(({ metadata }) => metadata?.deletionTimestamp !== undefined) &&
    of('loader').some(
      ({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.phase === 'Running',
    )
  );
}

it('leaves nothing behind when it is stopped in the middle of a rolling update', async () => {
  const world = await clusterWorld();
  try {
    const running = world.bench(
      // Tests beside this one have DNS of their own.
      ...['disrupt', '--target', 'kubernetes', '--workload', 'kube-system/deployment/coredns'],
      ...['--rate', '100', '--duration', '8', '--trials', '1', '--factors', 'lameduck=0'],
      ...['--loader-cpu', '200m'],
    );
    await expect.poll(isRollingOut).toBe(true);
    world.send('SIGINT');
    expect(await running, world.err()).toBe(130);
    expect(await leftovers()).toEqual([]);
  } finally {
    await world.remove();
  }
});
