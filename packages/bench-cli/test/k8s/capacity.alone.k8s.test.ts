/**
 * `bench capacity` on a cluster: synthetic objects that disturb nothing, and of which nothing is left. Alone: it ends where the
 * API server or the DNS of the cluster suffers, whoever makes them.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineKind } from '../../src/engine/record.ts';
import { memoryKind } from '../../src/experiments/capacity/memory/evidence.ts';
import { propagationEvidenceSchema } from '../../src/experiments/capacity/propagation/evidence.ts';
import type { TestWorld } from '../support/test-world.ts';
import { core, leftovers, runNamespaces } from './support/admin.ts';
import { clusterWorld, recordAs } from './support/bench.ts';

const propagationKind = engineKind('capacity-propagation', propagationEvidenceSchema);

const { BENCH_K8S_COMPONENTS } = process.env;

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  // The garbage collector takes a moment for what belonged to the namespace. Each look asks for every kind of object.
  await expect.poll(leftovers, { interval: 1000 }).toEqual([]);
});

/**
 * Namespaces with a Service that kube-proxy has rules for: each rule names its Service. Null where its network cannot be
 * looked into.
 */
async function proxiedNamespaces(): Promise<Set<string> | null> {
  if (BENCH_K8S_COMPONENTS === undefined) return null;
  const [pid = ''] = (await readFile(join(BENCH_K8S_COMPONENTS, 'kube-proxy.pid'), 'utf8')).split(' ');
  const { stdout } = await promisify(execFile)('nsenter', ['-t', pid, '-n', 'iptables-save']);
  return new Set([...stdout.matchAll(/^-A KUBE-.* --comment "([^/"]+)\//gm)].map(([, name = '']) => name));
}

/** The cluster's other Services have rules, and those of a run have none. */
function expectNoRules(proxied: ReadonlySet<string> | null, namespace: string): void {
  if (proxied === null) return;
  expect(proxied).toContain('kube-system');
  expect(proxied).not.toContain(namespace);
}

const servicesOf = async (namespace: string) =>
  (await core().listNamespacedService({ namespace })).items.length;

describe('bench capacity memory --target kubernetes', () => {
  it('measures a private CoreDNS while kube-proxy and the DNS of the cluster notice nothing; the run can be resumed', async () => {
    const size = ['--objects', '600', '--configurations', 'default,autopath'];
    const flags = [...size, '--trials', '1', '--quick', '--rate', '200'];
    const run = world.bench('capacity', 'memory', '--target', 'kubernetes', ...flags);
    let namespace = '';
    const created = async () => {
      [namespace = ''] = await runNamespaces();
      return namespace === '' ? 0 : servicesOf(namespace);
    };
    const ended = run.then((status) => {
      throw new Error(`it ended with ${status} before all was created: ${world.err()}`);
    });
    await Promise.race([expect.poll(created).toBe(31), ended]);
    const during = { proxied: await proxiedNamespaces(), services: await servicesOf(namespace) };
    await world.errContains('1/2');
    world.send('SIGINT');
    expect(await run, world.err()).toBe(130);
    expect(during.services).toBe(31);
    expectNoRules(during.proxied, namespace);
    expect(world.err()).toMatch(/bench capacity memory --resume \d{8}-/);
    expect(await runNamespaces()).toEqual([]);
    const kept = await recordAs(world, memoryKind);
    expect(kept).toMatchObject({ status: 'interrupted', trials: [{ status: 'ok' }] });

    // As it was printed: the settings of the cluster are those of the run.
    const [, resume = ''] = /Continue with: pnpm bench (.*)/.exec(world.err()) ?? [];
    expect(await world.bench(...resume.split(' ')), world.err()).toBe(0);
    const { trials, environment, status, id } = await recordAs(world, memoryKind);
    expect(status).toBe('complete');
    expect(trials[0]).toEqual(kept.trials[0]);
    expect(environment.cluster?.nodes.length).toBeGreaterThan(0);
    const evidence = trials.map((trial) => {
      if (trial.status === 'failed') throw new Error(trial.failure.message);
      return trial.evidence;
    });
    expect(evidence.map(({ cluster }) => [cluster?.counts.services, cluster?.counts.pods])).toEqual([
      [31, 0],
      [31, 569],
    ]);
    for (const { cluster, stages, coldStart, relist } of evidence) {
      const { creation, clusterDns, queries, own } = cluster ?? {};
      // At least that of its API server.
      expect(own?.services).toBeGreaterThan(0);
      expect(own?.services).toBeLessThan(31);
      expect((creation?.created ?? 0) / (creation?.seconds ?? 0)).toBeLessThan(55);
      expect(clusterDns?.after.restarts).toBe(clusterDns?.before.restarts);
      expect(queries?.wrong).toBe(0);
      // A node that starts other pods as well may lose one of some thousands.
      expect(queries?.lost).toBeLessThan((queries?.sent ?? 0) / 1000);
      for (const stage of [stages.loaded, stages.fullCache, stages.underLoad])
        expect(stage?.anonymousBytes).toBeGreaterThan(5e6);
      expect(coldStart.peak.anonymousBytes).toBeGreaterThan(5e6);
      expect(relist.peak.anonymousBytes).toBeGreaterThan(5e6);
    }
    // A plan finds it, and says why it does not use it: a single size makes no line.
    expect(await world.bench('capacity', 'plan', '--from-cluster'), world.err()).toBe(0);
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain(`Run ${id} was not used, because there is no line`);
  });
});

describe('bench capacity propagation --target kubernetes', () => {
  const TARGET = ['--target', 'kubernetes'];

  it('tells how long a new Service takes to resolve, with and without changes', async () => {
    const flags = ['--churn', '0,100', '--services', '10', '--trials', '1'];
    const run = world.bench('capacity', 'propagation', ...TARGET, ...flags);
    await world.errContains('1/2');
    const [namespace = ''] = await runNamespaces();
    const proxied = await proxiedNamespaces();
    expect(await run, world.err()).toBe(0);
    expectNoRules(proxied, namespace);
    const { trials, status, environment, programs, closing } = await recordAs(world, propagationKind);
    expect(status).toBe('complete');
    expect(environment.cluster?.nodes.length).toBeGreaterThan(0);
    expect(programs[0]?.files.Corefile).toContain('disable denial');
    expect(programs[0]?.files.Corefile).not.toContain('endpoint');
    expect(trials).toHaveLength(2);
    expect(closing?.join(' ')).toContain('DNS of the cluster');
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error(trial.failure.message);
      const { evidence } = trial;
      expect(evidence.unresolved).toBe(0);
      expect(evidence.delaysSeconds).toHaveLength(10);
      for (const [index, delay] of evidence.delaysSeconds.entries()) {
        expect(delay).toBeGreaterThan(0);
        expect(delay).toBeLessThan(5);
        expect(evidence.creationSeconds?.[index]).toBeGreaterThan(0);
        expect(evidence.resolutionsSeconds[index]).toBeLessThanOrEqual(delay);
      }
      const asked = Number(trial.case.split('churn=')[1]);
      expect(evidence.heldChurnPerSecond).toBeLessThanOrEqual(asked * 1.1);
      // A busy machine may not hold it; what it held is in the record.
      if (asked > 0) expect(evidence.heldChurnPerSecond).toBeGreaterThan(asked / 20);
    }
    expect(world.out()).toContain('How long a new Service takes to resolve');
  });
});
