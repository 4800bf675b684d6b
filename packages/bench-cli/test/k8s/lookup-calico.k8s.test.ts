/**
 * `bench lookup --target kubernetes` where it changes the settings of the cluster's network. Calico Enterprise is a stand-in: kinds under
 * its names with nothing behind them, so that its settings can be seen to change and to be put back.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLease } from '../../src/cluster-changes/lease.ts';
import { parseResults } from '../../src/tiger-bench/results-file.ts';
import { adminApi, core, leftovers, runNamespaces } from './support/admin.ts';
import { startBench } from './support/bench-process.ts';
import {
  FELIX,
  INSTALLATION,
  installStandIns,
  nodeLimit,
  operate,
  removeStandIns,
  setDataplane,
  standIn,
  standInPolicies,
} from './support/calico.ts';
import { lookupSuite } from './support/lookup-suite.ts';

const suite = lookupSuite();
const { inWorld } = suite;
afterAll(removeStandIns);

/** Where the Lease and the journal are by default. */
const LEASE_NAMESPACE = 'kube-system';
const lookup = ['lookup', '--target', 'kubernetes'] as const;

async function until(what: string, seconds: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

it('names what is missing: Calico Enterprise, Cilium, nodes with a label, a name that resolves', async () => {
  await inWorld({}, async (world) => {
    expect(await world.bench(...lookup, '--policy-modes', 'NoDelay')).toBe(3);
    expect(world.err()).toContain('Installation default (operator.tigera.io/v1) missing');
    expect(await world.bench(...lookup, '--calico-node-cpu', '500m')).toBe(3);
    expect(world.err()).toContain('Installation default (operator.tigera.io/v1) missing');
    expect(await world.bench(...lookup, '--policy', 'cilium')).toBe(3);
    expect(world.err()).toContain('the API group cilium.io/v2 is missing');
    expect(await world.bench(...lookup, '--nodes', 'pool=nowhere')).toBe(3);
    expect(world.err()).toContain('pool=nowhere');
    expect(await world.bench(...lookup, '--url', 'http://nothing.invalid', '--no-capture')).toBe(4);
    expect(world.err()).toContain('the name in http://nothing.invalid/ does not resolve');
    expect(await runNamespaces()).toEqual([]);
  });
});

describe('with stand-ins for Calico Enterprise', () => {
  beforeAll(installStandIns);

  it("runs tiger-bench's tests under its policy, mode and CPU limit, writes its files, and puts everything back", async () => {
    const results = join(suite.directory, 'results.json');
    const junit = join(suite.directory, 'junit.xml');
    const tests = join(suite.directory, 'tiger.yaml');
    await writeFile(
      tests,
      `- {testkind: dnsperf, duration: 4, numservices: 3, calicoNodeCPULimit: 500m, leaveStandingConfig: true,
          dnsperf: {mode: NoDelay, testDNSPolicy: true, numDomains: 2, targetURL: http://standing-svc}}
- {TestKind: dnsperf, Duration: 1, DNSPerf: {TargetURL: 'http://nowhere.invalid'}, Dataplane: bpf}
- {TestKind: iperf}\n`,
    );
    await inWorld({ RESULTS_FILE: results, BENCH_JUNIT_REPORT_FILE: junit }, async (world) => {
      const seen = new Set<string>();
      const limits = new Set<string>();
      const watching = new AbortController();
      const watch = async () => {
        while (!watching.signal.aborted) {
          await operate();
          limits.add(await nodeLimit());
          const { spec, metadata } = await standIn('FelixConfiguration');
          const isMarked = 'dinodns-bench/changed-by' in (metadata.labels ?? {});
          const policies = (await standInPolicies()).length;
          seen.add(`${spec.dnsPolicyMode}, ${isMarked ? 'marked' : 'not marked'}, policies: ${policies}`);
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      };
      const flags = ['--config', tests, '--format', 'tiger-bench', '--nodes', 'kubernetes.io/os=linux'];
      const run = world.bench(...lookup, ...flags).finally(() => watching.abort());
      const [status] = await Promise.all([run, watch()]);
      // The second test wants another dataplane.
      expect(status, world.err()).toBe(5);
      const [first, second, ...others] = parseResults(world.out());
      expect(others).toEqual([]);
      expect(first, world.err()).toMatchObject({
        config: {
          TestKind: 'dnsperf',
          Duration: 4,
          NumServices: 3,
          DNSPerf: { Mode: 'NoDelay', NumDomains: 2 },
        },
        ClusterDetails: { Dataplane: 'iptables', Encapsulation: 'VXLANCrossSubnet', Product: 'calient' },
        status: 'success',
      });
      expect(first?.dnsperf?.SuccessfulCurls).toBe(first?.dnsperf?.LookupTime?.datapoints);
      expect(second).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('Dataplane: the test wants bpf'),
      });
      expect(`${await readFile(results, 'utf8')}\n`).toBe(world.out());
      expect(await readFile(junit, 'utf8')).toContain(
        'name="dnsperf_dataplane=iptables_cpuLimit=500m_dnsMode=NoDelay"',
      );
      expect([...seen]).toContain('NoDelay, marked, policies: 1');
      expect([...limits]).toEqual(['', '500m']);
      expect(await nodeLimit()).toBe('');
      expect((await standIn('FelixConfiguration')).spec).toEqual(FELIX);
      expect((await standIn('Installation')).spec).toEqual(INSTALLATION);
      // The guard has seen the end of the run and left the namespace, for people to look at and for `cleanup`.
      const api = await adminApi();
      await until('the guard is done', 30, async () => (await readLease(api, LEASE_NAMESPACE)) === null);
      const [namespace = '', ...more] = await runNamespaces();
      expect(more).toEqual([]);
      const { items } = await core().listNamespacedPod({ namespace });
      const name =
        items.map(({ metadata }) => metadata?.name ?? '').find((pod) => pod.includes('guard')) ?? '';
      const said = () => core().readNamespacedPodLog({ name, namespace });
      await until('the guard keeps the namespace', 30, async () => (await said()).includes('kept, as asked'));
      // This process is the run's, and has not ended.
      expect(await world.bench('cleanup', '--run', namespace), world.err()).toBe(0);
      // The guard's roles belong to the namespace and go after it.
      await until('nothing is left', 60, async () => (await leftovers()).length === 0);
    });
  });

  it('refuses a mode that the dataplane lacks', async () => {
    await setDataplane('BPF');
    try {
      await inWorld({}, async (world) => {
        expect(await world.bench(...lookup, '--policy-modes', 'DelayDNSResponse')).toBe(2);
        expect(world.err()).toContain('the dataplane BPF has no DNS policy mode DelayDNSResponse');
        expect(await runNamespaces()).toEqual([]);
      });
    } finally {
      await setDataplane(INSTALLATION.calicoNetwork.linuxDataplane);
    }
  });

  it('puts the settings back and removes the run when bench is killed', async () => {
    const policy = ['--policy-modes', 'DelayDNSResponse', '--url', 'http://standing-svc'];
    // Longer than the test takes.
    const lengths = ['--duration', '60', '--trials', '1', '--lease', '10'];
    const { KUBECONFIG: kubeconfig = '', DINODNS_BENCH_NAMESPACE_PREFIX: prefix = '' } = suite.env;
    const { child, exited } = await startBench([...lookup, ...policy, ...lengths], { kubeconfig, prefix });
    try {
      await until('the mode is set', 120, async () => {
        const { spec } = await standIn('FelixConfiguration');
        return spec.dnsPolicyMode === 'DelayDNSResponse' || child.exitCode !== null;
      });
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
    await until('the mode is put back', 120, async () => {
      const { spec, metadata } = await standIn('FelixConfiguration');
      return (
        spec.dnsPolicyMode === FELIX.dnsPolicyMode &&
        metadata.labels?.['dinodns-bench/changed-by'] === undefined
      );
    });
    await until('the run is gone', 120, async () => (await runNamespaces()).length === 0);
    expect(await leftovers()).toEqual([]);
    expect(
      (await core().listNamespacedConfigMap({ namespace: LEASE_NAMESPACE })).items.map(
        ({ metadata }) => metadata?.name,
      ),
    ).not.toContain('dinodns-bench-journal');
  });
});
