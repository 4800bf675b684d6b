/** CoreDNS as clusters run it, on this machine: its answers, and the programs beside it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileNeeds, pathOf } from '@dinodns-bench/test-support';
import { defineZoneSet } from '@dinodns-bench/zones';
import { afterEach, expect } from 'vitest';
import { DEFAULTS } from '../src/config/settings.ts';
import { readAllProcessStats } from '../src/machine/proc-files.ts';
import { checkAnswers } from '../src/measure/answer-check.ts';
import { findServer } from '../src/servers/registry.ts';
import { createLocalTarget } from '../src/targets/local/local-target.ts';
import { createResourceGroups } from '../src/targets/local/resource-groups.ts';
import type { Deployment } from '../src/targets/target.ts';
import { generatedClusterWorkload } from '../src/workload/cluster-names.ts';
import { type BenchWorkload, readinessQueries } from '../src/workload/workload.ts';
import { realWorld, type World } from '../src/world.ts';
import { uniqueRunId } from './local-fixtures.ts';
import { testWorld } from './support/test-world.ts';

const { describe, it } = fileNeeds('coredns');

const zoneSet = defineZoneSet();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function deploy(name: string): Promise<{ world: World; temporary: string; deployment: Deployment }> {
  const temporary = await mkdtemp(join(tmpdir(), 'cc-'));
  closers.push(() => rm(temporary, { recursive: true, force: true }));
  const real = realWorld();
  const world = { ...real, env: { ...real.env, TMPDIR: temporary } };
  const groups = await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' });
  const target = await createLocalTarget(world, { groups, readinessQueries });
  closers.push(target.close);
  const deployment = await target.deploy({
    server: findServer(name, DEFAULTS),
    program: [pathOf('coredns')],
    zoneSet,
    mode: 'single',
    transport: 'udp',
    allowances: [1],
    logDirectory: join(temporary, 'logs'),
    signal: new AbortController().signal,
  });
  return { world, temporary, deployment };
}

function workloadNamed(name: string): BenchWorkload {
  const workload = generatedClusterWorkload(name);
  if (workload === null) throw new Error(`no workload ${name}`);
  return workload;
}

/** Programs of the generated cluster that this process has started. */
async function companionsOf(world: World): Promise<number> {
  const children = (await readAllProcessStats(world)).filter(({ parentPid }) => parentPid === process.pid);
  return children.filter(({ state }) => state !== 'Z').length;
}

const VARIANTS = ['', '+nocache', '+no-denial', '+verified', '+autopath'];

describe.each(VARIANTS.map((variant) => `coredns-cluster${variant}`))('%s', (name) => {
  it('answers the workloads of its cluster as predicted, and leaves nothing running', async () => {
    const { world, temporary, deployment } = await deploy(name);
    const [endpoint] = deployment.endpoints;
    if (endpoint === undefined) throw new Error('nothing deployed');
    for (const workload of ['internal', 'external'].map(workloadNamed)) {
      const client = await deployment.openClient(endpoint, workload);
      const { signal } = new AbortController();
      const check = { client, server: findServer(name, DEFAULTS), zoneSet, workload, dnssec: false, signal };
      expect(await checkAnswers(check)).toBe(workload.size);
      client.close();
    }
    // CoreDNS, the API server and the upstream.
    expect(await companionsOf(world)).toBe(3);
    const window = await deployment.observe();
    const seen = await window.end();
    // Only CoreDNS is observed, and limited: the programs beside it are not part of the figures.
    expect(seen?.processes).toBe(1);
    await deployment.remove();
    expect(await companionsOf(world)).toBe(0);
    const logs = await readdir(join(temporary, 'logs'), { recursive: true });
    expect(logs.toSorted()).toEqual([
      `${name}-1.log`,
      `${name}-1.log.companions`,
      `${name}-1.log.companions/api.log`,
      `${name}-1.log.companions/upstream.log`,
    ]);
  });
});

it('is checked by its name alone', async () => {
  const world = await testWorld();
  closers.push(() => world.remove());
  expect(await world.bench('servers', '--check', 'coredns-cluster'), world.err()).toBe(0);
  expect(world.out()).toMatch(/answers all 1,\d{3} queries correctly over udp/);
});
