/** `bench capacity caching --target kubernetes`: its pods, its plan, and what is seen of CPU and memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import { tierLoad } from '../src/experiments/capacity/cases/cluster/caching.ts';
import { tierPod, watchFiles } from '../src/experiments/capacity/cases/cluster/job.ts';
import { tierOf } from '../src/experiments/capacity/cases/cluster/tiers.ts';
import type { CacheState } from '../src/experiments/capacity/cases/subjects.ts';
import { syntheticCluster } from '../src/experiments/capacity/cluster/synthetic-objects.ts';
import { jobOf } from '../src/targets/kubernetes/objects/job.ts';
import { testWorld } from './support/test-world.ts';

const cluster = syntheticCluster({ services: 50, pods: 950 }, 'bench-1');

describe('caching tiers on a cluster', () => {
  const kubeDns = { kubedns: 'kube-dns:1', dnsmasq: 'nanny:1', sidecar: 'sidecar:1' };
  const images = { coredns: 'coredns:1', dnsmasq: 'dnsmasq:1', kubeDns };
  const jobFor = (subject: string, cache: CacheState = 'cached') => {
    const tier = tierOf(images, { subject, cache });
    const settings = kubernetesOf({});
    const load = tierLoad('internal', { cluster, namespace: 'n' }, { duration: 1, timeout: 3 }, tier.port);
    const { mount: watch } = watchFiles('n', 'run');
    const pod = tierPod({
      ...{ settings, tier, watch, load, loaderImage: 'load:1', upstreamDelaySeconds: 0.002 },
    });
    const job = jobOf({
      ...{ ...pod, name: 'trial-1', namespace: 'n', labels: {}, component: pod.label, settings },
      ...{ pullSecrets: [], deadlineSeconds: 60 },
      mounts: { ...pod.mounts, [pod.files.directory]: { configMap: 'trial-1', items: {} } },
    });
    return { pod: job.spec?.template.spec, data: tier.files, port: tier.port };
  };

  it("runs kube-dns's own containers with the arguments of its manifest, and asks our upstream for other names", () => {
    const { pod, data, port } = jobFor('kube-dns');
    expect(port).toBe(53);
    const beside = pod?.initContainers ?? [];
    expect(beside.map(({ name, image, restartPolicy }) => [name, image, restartPolicy])).toEqual([
      ['upstream', 'load:1', 'Always'],
      ['kubedns', 'kube-dns:1', 'Always'],
      ['dnsmasq', 'nanny:1', 'Always'],
      ['sidecar', 'sidecar:1', 'Always'],
    ]);
    const [, kubedns, dnsmasq, sidecar] = beside;
    expect(kubedns?.args).toEqual([
      '--domain=cluster.local.',
      '--dns-port=10053',
      '--config-dir=/kube-dns-config',
      '--v=2',
    ]);
    expect(dnsmasq?.args).toEqual([
      ...['-v=2', '-logtostderr', '-configDir=/etc/k8s/dns/dnsmasq-nanny', '-restartDnsmasq=true', '--'],
      ...['-k', '--cache-size=1000', '--no-negcache', '--dns-loop-detect'],
      ...['cluster.local', 'in-addr.arpa', 'ip6.arpa'].map((zone) => `--server=/${zone}/127.0.0.1#10053`),
      '--log-facility=-',
    ]);
    expect(sidecar?.args?.[2]).toBe(
      '--probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV',
    );
    expect(data?.upstreamNameservers).toBe('["127.0.0.1:5301"]');
    expect(pod?.containers.map(({ name, image }) => [name, image])).toEqual([['main', 'load:1']]);
  });

  it('puts dnsmasq in front of CoreDNS without a cache, or CoreDNS alone', () => {
    const tier = jobFor('dnsmasq+negative');
    expect(tier.pod?.initContainers?.map(({ name }) => name)).toEqual(['upstream', 'coredns', 'dnsmasq']);
    expect(tier.pod?.initContainers?.[2]?.args).not.toContain('--no-negcache');
    expect(tier.data?.Corefile).not.toContain('cache');
    expect(jobFor('dnsmasq', 'uncached').pod?.initContainers?.[2]?.args).toContain('--cache-size=0');
    const alone = jobFor('coredns-cluster+no-denial');
    expect(alone.pod?.initContainers?.map(({ name }) => name)).toEqual(['upstream', 'coredns']);
    expect(alone.data?.Corefile).toContain('disable denial');
    expect(jobFor('coredns-cluster', 'uncached').data?.Corefile).not.toContain('cache');
  });

  it('gives the load generator its time for an answer', () => {
    const [main] = jobFor('kube-dns').pod?.containers ?? [];
    expect(JSON.parse(main?.args?.at(-1) ?? '')).toMatchObject({ timeoutSeconds: 3 });
  });

  it('watches the servers of the tier, and not the upstream', () => {
    const { pod } = jobFor('kube-dns');
    const [main] = pod?.containers ?? [];
    expect(pod?.shareProcessNamespace).toBe(true);
    expect(main?.env).toContainEqual({
      name: 'NAMES',
      value: 'coredns,dnsmasq,dnsmasq-nanny,kube-dns,sidecar',
    });
    expect(main?.command).toEqual(['node', '/etc/bench-watch/watch.mjs']);
    expect(pod?.volumes?.map(({ configMap }) => configMap?.name)).toEqual(['watch', 'trial-1', undefined]);
  });

  const plan = async (...flags: string[]) => {
    const world = await testWorld();
    try {
      const status = await world.bench(
        'capacity',
        'caching',
        '--target',
        'kubernetes',
        ...flags,
        '--dry-run',
      );
      return { status, out: world.out(), err: world.err() };
    } finally {
      await world.remove();
    }
  };
  const KUBE_DNS = [
    '--kube-dns-image',
    'a',
    '--kube-dns-dnsmasq-image',
    'b',
    '--kube-dns-sidecar-image',
    'c',
  ];

  it('has the cases of what there are images for, without touching the cluster', async () => {
    // Cached: two configurations of each server by two kinds of lookups; uncached: one.
    const all = await plan('--cache', 'cached,off', '--dnsmasq-image', 'd', ...KUBE_DNS, '--trials', '1');
    expect(all.out, all.err).toContain('18 cases, 18 trials');
    expect((await plan('--cache', 'cached,off', '--trials', '2')).out).toContain('6 cases, 12 trials');
  });

  it.each([
    [
      ['--cache', 'cached', '--kube-dns-image', 'x'],
      'kube-dns is three containers, and not all of their images are given',
    ],
    [[], 'measured on one machine only'],
    [['--cache', 'cached', '--servers', 'dnsmasq'], 'is not coredns-cluster'],
    [['--cache', 'cached', '--warmup', '2'], '--warmup: has no effect without --target local'],
  ])('%j is refused with its fix', async (flags, message) => {
    const { status, err } = await plan(...flags);
    expect(status).toBe(2);
    expect(err).toContain(message);
  });

  it.each(['--cpu-request', '--loader-cpu', '--loader-node', '--loader-tolerations'])(
    'has no %s: server and load generator are one pod',
    async (flag) => {
      const { status, err } = await plan('--cache', 'cached', flag, '1');
      expect(status).toBe(2);
      expect(err).toContain(`unknown option '${flag}'`);
    },
  );
});

describe('the watched load', () => {
  it('tells CPU and memory of the processes of the names, between start and result', async () => {
    const watch = new URL('../src/experiments/capacity/beside/program/watch.mjs', import.meta.url).pathname;
    const busy = spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
    try {
      const generator = `console.log('{"event":"started"}');setTimeout(()=>console.log('{"event":"result"}'),2000)`;
      const child = spawn(process.execPath, [watch, process.execPath, '-e', generator], {
        env: { ...process.env, NAMES: 'sh' },
      });
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
      });
      const [code] = await once(child, 'close');
      expect(code).toBe(0);
      const usage = JSON.parse(text.split('\n')[2] ?? '').usage;
      // A machine that has other things to do gives it less than a CPU; other programs of this name, more.
      expect(usage.cpuSeconds).toBeGreaterThan(0);
      expect(usage.memoryBytes).toBeGreaterThan(100_000);
    } finally {
      busy.kill();
    }
  });
});
