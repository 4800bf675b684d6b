/** How queries reach the pods of a server on one of two nodes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers } from './support/admin.ts';
import { clusterWorld, recordOf, UNOBSERVED } from './support/bench.ts';
import { NODES } from './support/components.ts';

const { second } = NODES;

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  expect(await leftovers()).toEqual([]);
});

it('the paths to the pods are compared in one run, with the pod’s own address as the baseline', async () => {
  const paths = ['service', 'pod', 'headless', 'local'];
  // An interval takes more than one trial.
  const flags = ['--path', paths.join(), '--server-node', second, '--trials', '2', '--rate', '200'];
  expect(await world.bench('run', ...UNOBSERVED, ...flags), world.err()).toBe(0);
  const { id, trials, cases, baseline } = await recordOf(world);
  expect(baseline).toBe('coredns:pod');
  expect(cases.map(({ server }) => server)).toEqual(paths.map((path) => `coredns:${path}`));
  for (const trial of trials) {
    if (trial.status !== 'ok') throw new Error(JSON.stringify(trial.failure));
    expect(trial.checkedAnswers).toBe(200);
    // Where `local` leads.
    expect(trial.loaderNodes).toEqual([second]);
    const command = trial.loaderCommands[0]?.join(' ') ?? '';
    const [instance] = trial.instances;
    if (trial.caseKey.startsWith('coredns:pod/'))
      expect(command).toContain(`-s ${instance?.address} -p 5353`);
    else if (trial.caseKey.startsWith('coredns:headless/')) expect(command).toMatch(/-s s-\S+\.svc -p 5353/);
    else expect(command).toMatch(/-s 10\.96\.\S+ -p 53 /);
  }
  for (const { server, comparison } of cases.filter((item) => item.server !== baseline)) {
    expect(comparison?.latencySeconds?.low, server).toBeLessThan(comparison?.latencySeconds?.high ?? 0);
  }
  const report = await readFile(join(world.directory, 'results', id, 'report.md'), 'utf8');
  expect(report).toContain(', pod address');
  expect(report).toContain(`1 on ${second}`);
});
