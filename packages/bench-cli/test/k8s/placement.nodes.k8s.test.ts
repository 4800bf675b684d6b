/** Servers and loaders on nodes of their own: where pods run, what the record says of it, and what does not fit. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { throughputKind } from '../../src/experiments/capacity/cases/evidence.ts';
import type { OkTrial } from '../../src/results/record.ts';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers, suiteName } from './support/admin.ts';
import { clusterWorld, recordAs, recordOf, SHORT, UNOBSERVED } from './support/bench.ts';
import { NODES, nameOnFirstNode } from './support/components.ts';
import { twoImages } from './support/stand-in.ts';

const { first, second } = NODES;

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  expect(await leftovers()).toEqual([]);
});

async function onlyTrial(): Promise<OkTrial> {
  const [trial] = (await recordOf(world)).trials;
  if (trial?.status !== 'ok') throw new Error(`no trial, or a failed one: ${JSON.stringify(trial)}`);
  return trial;
}

describe('a pod', () => {
  it('whose image one of the nodes cannot get is refused before anything starts, with the name of the node', async () => {
    const { ours } = await twoImages();
    const image = `only-on-first/${suiteName()}:1`;
    await nameOnFirstNode(ours, image);
    const flags = ['--coredns-image', image, '--pull-policy', 'Never'];
    expect(await world.bench('run', ...UNOBSERVED, ...flags)).toBe(3);
    expect(world.err()).toMatch(
      new RegExp(`E_POD_IMAGE\\]: coredns: pod \\S+ on node ${second} cannot get its image ${image}`),
    );
    expect(await world.fs.readdir(join(world.directory, 'results')).catch(() => [])).toEqual([]);
  });
});

describe('a server pod', () => {
  it('that is too big for either node is refused with the names of both, and what is left there', async () => {
    const flags = ['--tier', '512', '--mode', 'multi', '--cpu-request', '512', '--schedule-time', '2'];
    await world.bench('run', ...UNOBSERVED, ...flags);
    const [trial] = (await recordOf(world)).trials;
    if (trial?.status !== 'failed') throw new Error(`the trial did not fail: ${world.err()}`);
    const { code, evidence } = trial.failure;
    expect(code).toBe('E_POD_UNSCHEDULABLE');
    const [reason, ...full] = evidence;
    expect(reason).toMatch(/Insufficient cpu/);
    expect(full.toSorted()).toEqual(
      [first, second].map((node) =>
        expect.stringMatching(new RegExp(`^node ${node} is full: .* CPUs left, the pod requests 512 CPUs$`)),
      ),
    );
  });
});

describe('the pods of a server', () => {
  it('are on one node if they are to be packed', async () => {
    const flags = ['--mode', 'single', '--tier', '2', '--replicas', 'packed'];
    expect(await world.bench('run', ...UNOBSERVED, ...flags), world.err()).toBe(0);
    const { instances } = await onlyTrial();
    expect(instances.length).toBe(2);
    expect(new Set(instances.map(({ node }) => node)).size).toBe(1);
  });
});

describe('two loaders', () => {
  it('on two nodes start together, and two kubelets give what two servers used that are spread over them', async () => {
    const flags = ['--mode', 'single', '--tier', '2', '--replicas', 'spread', '--duration', '4'];
    flags.push('--observe', 'summary', '--loader', 'builtin', '--loaders', '2');
    expect(await world.bench('run', ...SHORT, ...flags), world.err()).toBe(0);
    const trial = await onlyTrial();
    const both = new Set([first, second]);
    expect(new Set(trial.instances.map(({ node }) => node))).toEqual(both);
    expect(new Set(trial.loaders?.each.map(({ node }) => node))).toEqual(both);
    expect(trial.loaders?.overlap).toBeGreaterThan(0.9);
    for (const { clock } of trial.loaders?.each ?? []) {
      // Both nodes have the clock of this machine.
      expect(clock?.roundTripSeconds).toBeGreaterThan(0);
      expect(clock?.roundTripSeconds).toBeLessThan(0.5);
      expect(Math.abs(clock?.offsetSeconds ?? 1)).toBeLessThanOrEqual(
        (clock?.roundTripSeconds ?? 0) / 2 + 0.005,
      );
    }
    const [a, b] = trial.loads;
    expect(trial.load.queriesCompleted).toBe((a?.queriesCompleted ?? 0) + (b?.queriesCompleted ?? 0));
    expect(trial.load.latencyPercentiles?.length).toBeGreaterThan(0);
    const used = trial.instanceObservations?.map(({ cpuSeconds }) => cpuSeconds ?? 0) ?? [];
    expect(Math.min(...used)).toBeGreaterThan(0);
    expect(trial.server?.cpuSeconds).toBeCloseTo(
      used.reduce((sum, value) => sum + value, 0),
      6,
    );
    const { id } = await recordOf(world);
    const report = await readFile(join(world.directory, 'results', id, 'report.md'), 'utf8');
    expect(report).toMatch(/began within .* of each other/);
  });
});

describe('bench capacity throughput', () => {
  it('has CoreDNS with its API server and upstream on one node, the load generator on another, and says whether it was CPU bound', async () => {
    const load = ['--configurations', 'default', '--lookup', 'internal', '--trials', '1', '--duration', '2'];
    const nodes = ['--tier', '0.2', '--server-node', second, '--loader-node', first];
    const run = world.bench('capacity', 'throughput', '--target', 'kubernetes', ...load, ...nodes);
    expect(await run, world.err()).toBe(0);
    const { trials, environment, warnings } = await recordAs(world, throughputKind);
    expect(environment.cluster?.nodes.map(({ name, roles }) => [name, roles])).toEqual([
      [first, ['loader']],
      [second, ['server']],
    ]);
    expect(warnings.join('\n')).not.toMatch(/shared node/);
    const [trial] = trials;
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    const { limitedBy, lookupsPerSecond, cpuCores } = trial.evidence.saturation;
    expect(lookupsPerSecond).toBeGreaterThan(20);
    // On a busy node something else may be the limit; then the row says so.
    if (limitedBy === 'server') expect(cpuCores).toBeGreaterThan(0.9 * 0.2);
    // Every distinct query once.
    expect(trial.evidence.checkedAnswers).toBeGreaterThanOrEqual(20);
    expect(await world.bench('report', 'latest', '--format', 'markdown'), world.err()).toBe(0);
    expect(world.out()).toMatch(
      new RegExp(`\\| +${limitedBy === 'server' ? '\\*\\*yes\\*\\*' : 'no'} +\\| [^|]*\\| +0\\.2 +\\|`),
    );
  });
});
