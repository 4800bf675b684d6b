/** Nodes that are dedicated to servers: they repel all else meanwhile, other tests' pods as well. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type core, leftovers, objects } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT } from './support/bench.ts';
import { NODES } from './support/components.ts';

const { first, second } = NODES;

type NodeSpec = NonNullable<Awaited<ReturnType<ReturnType<typeof core>['readNode']>>['spec']>;

/** Changes labels and taints of a node meanwhile. */
async function withNode(
  name: string,
  { labels, taints }: { labels: Record<string, string>; taints: NodeSpec['taints'] },
  use: () => Promise<void>,
): Promise<void> {
  const patchNode = (labelsNow: Record<string, string | null>, spec: { taints: unknown }) =>
    objects().patch(
      { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: labelsNow }, spec } as never,
      ...([undefined, undefined, undefined, undefined, 'application/merge-patch+json'] as const),
    );
  await patchNode(labels, { taints });
  try {
    await use();
  } finally {
    await patchNode(Object.fromEntries(Object.keys(labels).map((key) => [key, null])), { taints: null });
  }
}

it('the published method has a node for servers, which repels all else, and one for the loader, as the record and the report say', async () => {
  const world = await clusterWorld();
  const taint = { key: 'dedicated', value: 'servers', effect: 'NoSchedule' };
  await withNode(second, { labels: { pool: 'servers' }, taints: [taint] }, async () => {
    const flags = ['--cpu-request', '100m', '--observe', 'summary'];
    flags.push('--server-node', 'pool=servers', '--server-tolerations', 'dedicated=servers:NoSchedule');
    expect(await world.bench('run', ...SHORT, ...flags, '--loader-node', first), world.err()).toBe(0);
  });
  const record = await recordOf(world);
  for (const trial of record.trials) {
    if (trial.status !== 'ok') throw new Error(JSON.stringify(trial.failure));
    expect(trial.instances.map(({ node }) => node)).toEqual([second]);
    expect(trial.loaderNodes).toEqual([first]);
    expect(trial.instanceObservations).toMatchObject([{ node: second }]);
    expect(trial.server?.cpuSeconds).toBeGreaterThan(0);
  }
  expect(record.environment.cluster?.nodes.map(({ name, roles }) => [name, roles])).toEqual([
    [first, ['loader']],
    [second, ['server']],
  ]);
  expect(record.warnings.join('\n')).not.toMatch(/share/);
  expect(record.warnings.join('\n')).toContain('are one machine');
  const report = await readFile(join(world.directory, 'results', record.id, 'report.md'), 'utf8');
  expect(report).toContain(`1 on ${second}`);
  await world.remove();
  expect(await leftovers()).toEqual([]);
});
