/** What goes wrong on real clusters, provoked on a real cluster. Each time: the right reason, and nothing left. */
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configure } from '../../src/config/configuration.ts';
import { DEFAULTS } from '../../src/config/settings.ts';
import { findServer } from '../../src/servers/registry.ts';
import { imagesOf } from '../../src/targets/kubernetes/images.ts';
import { createKubernetesTarget } from '../../src/targets/kubernetes/kubernetes-target.ts';
import { openCluster } from '../../src/targets/kubernetes/open-cluster.ts';
import { readinessQueries, zoneSetOf } from '../../src/workload/workload.ts';
import type { TestWorld } from '../support/test-world.ts';
import { core, leftovers, runNamespaces, runningPods, suiteName } from './support/admin.ts';
import { clusterWorld, recordOf, startBench, UNOBSERVED } from './support/bench.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  expect(await leftovers()).toEqual([]);
});

async function failureOf(...flags: string[]) {
  const status = await world.bench('run', ...UNOBSERVED, ...flags);
  const [trial] = (await recordOf(world)).trials;
  if (trial?.status !== 'failed') throw new Error(`the trial did not fail: ${world.err()}`);
  return { status, ...trial.failure };
}

describe('pods', () => {
  it('whose image does not exist: named with its reason, before any trial', async () => {
    const image = 'registry.invalid/no-such-image:1';
    expect(await world.bench('run', ...UNOBSERVED, '--coredns-image', image)).toBe(3);
    expect(world.err()).toContain('[E_POD_IMAGE]');
    expect(world.err()).toContain(image);
    expect(world.err()).toMatch(/ImagePullBackOff|ErrImagePull/);
  });

  it('that crash at start: their exit status and last log lines', async () => {
    // dnsperf is no DNS server, and says so.
    const image = process.env.DINODNS_BENCH_LOADER_IMAGE ?? 'dinodns-bench/dnsperf:0.1.0';
    const failure = await failureOf('--coredns-image', image);
    expect(failure.code).toMatch(/^E_SERVER_(START|DIED)$/);
    expect(failure.message).toMatch(/exit status 1/);
    expect(failure.evidence.join('\n')).toMatch(/dnsperf|Usage|option/i);
  });

  it('that a quota forbids: said at once, with the quota', async () => {
    const signal = AbortSignal.timeout(120_000);
    const { kubernetes } = configure({ env: world.env, flags: { target: 'kubernetes' } });
    const opened = await openCluster({
      world,
      runId: 'quota',
      settings: kubernetes,
      images: imagesOf(kubernetes, 'dnsperf'),
      loadSeconds: 1,
      serverCores: 1,
      loaders: 1,
      signal,
      force: signal,
    });
    try {
      const { namespace } = opened.run;
      await core().createNamespacedResourceQuota({
        namespace,
        body: { metadata: { name: 'small' }, spec: { hard: { 'limits.cpu': '300m' } } },
      });
      // Quotas are enforced once their use has been counted.
      const used = async () =>
        (await core().readNamespacedResourceQuota({ name: 'small', namespace })).status?.used?.['limits.cpu'];
      await expect.poll(used).toBe('0');
      const target = createKubernetesTarget({ run: opened.run, readinessQueries, force: signal });
      const deploying = target.deploy({
        server: findServer('coredns', DEFAULTS),
        program: [],
        zoneSet: zoneSetOf(3),
        mode: 'single',
        transport: 'udp',
        allowances: [0.5],
        logDirectory: join(world.directory, 'logs'),
        signal,
      });
      await expect(deploying).rejects.toMatchObject({
        code: 'E_CLUSTER_QUOTA',
        message: expect.stringContaining('exceeded quota: small'),
      });
    } finally {
      await opened.close();
    }
  });
});

describe('the CLI', () => {
  it('killed by SIGKILL goes on with --resume, in place of what it left', async () => {
    const child = startBench(world, 'run', ...UNOBSERVED, '--servers', 'coredns,dinodns');
    try {
      let said = '';
      for await (const chunk of child.stderr) {
        said += String(chunk);
        if (said.includes('1/2  ')) break;
      }
      expect(said).toContain('1/2  ');
    } finally {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    const left = await runNamespaces();
    expect(left).toHaveLength(1);
    const first = (await recordOf(world)).trials.map(({ startedAt }) => startedAt);
    expect(first).toHaveLength(1);
    expect(await world.bench('run', '--resume', 'latest'), world.err()).toBe(0);
    const { trials } = await recordOf(world);
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
    // What was measured is not measured again.
    expect(trials[0]?.startedAt).toBe(first[0]);
  });

  it('told to --keep leaves the namespace, which cleanup --run removes; pull secrets were copied there', async () => {
    const suite = suiteName();
    const dockerconfigjson = Buffer.from('{"auths":{}}').toString('base64');
    await core().createNamespacedSecret({
      namespace: suite,
      body: {
        metadata: { name: 'regcred' },
        type: 'kubernetes.io/dockerconfigjson',
        data: { '.dockerconfigjson': dockerconfigjson },
      },
    });
    const flags = ['--keep', '--pull-secrets', `${suite}/regcred`];
    expect(await world.bench('run', ...UNOBSERVED, ...flags), world.err()).toBe(0);
    const { id } = await recordOf(world);
    expect(await runNamespaces()).toHaveLength(1);
    const [server] = await runningPods('server');
    if (server === undefined) throw new Error('the server was not kept');
    const { spec } = await core().readNamespacedPod(server);
    expect(spec?.imagePullSecrets).toEqual([{ name: 'regcred' }]);
    const copy = await core().readNamespacedSecret({ name: 'regcred', namespace: server.namespace });
    expect(copy).toMatchObject({
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': dockerconfigjson },
    });
    expect(await world.bench('cleanup', '--run', 'another')).toBe(2);
    expect(await world.bench('cleanup', '--run', id)).toBe(0);
    expect(await runNamespaces()).toEqual([]);
  });
});
