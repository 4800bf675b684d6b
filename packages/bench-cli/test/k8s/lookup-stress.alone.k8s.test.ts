/** `bench lookup --stress`: alone, because 24 pods that come and go take the node from everybody else. */
import { AppsV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patch } from '../../src/cluster-changes/cluster-api.ts';
import { pointerOf } from '../../src/cluster-changes/json.ts';
import { lookupKind } from '../../src/experiments/lookup/evidence.ts';
import { overallsOf } from '../../src/experiments/lookup/overall.ts';
import { parseRecordAs } from '../../src/results/parse-record.ts';
import { adminApi, adminConfig, core, leftovers } from './support/admin.ts';
import { ciliumPolicies, installCilium, removeStandIns } from './support/calico.ts';
import { lookupSuite } from './support/lookup-suite.ts';

const suite = lookupSuite();
const apps = () => adminConfig().makeApiClient(AppsV1Api);

/** Of `--stress`, in any namespace. */
async function stressReplicas(): Promise<number[]> {
  const { items } = await apps().listDeploymentForAllNamespaces({
    fieldSelector: 'metadata.name=dnsscale',
  });
  return items.map(({ spec }) => spec?.replicas ?? 1);
}

/** Labels one node of the cluster as the suite's, or no longer; resolves with its name. */
async function labelNode(op: 'add' | 'remove'): Promise<string> {
  const [node] = (await core().listNode()).items;
  const name = node?.metadata?.name ?? '';
  const path = pointerOf('metadata', 'labels', suite.name);
  await patch(await adminApi(), `/api/v1/nodes/${name}`, [
    { op, path, ...(op === 'add' ? { value: 'dns' } : {}) },
  ]);
  return name;
}

describe('with a stand-in for Cilium', () => {
  beforeAll(installCilium);
  afterAll(async () => {
    await labelNode('remove');
    await removeStandIns();
  });

  it('samples on labelled nodes with the built-in client, under its policy and stress', async () => {
    const node = await labelNode('add');
    await suite.inWorld({}, async (world) => {
      const seen = { replicas: new Set<number>(), names: new Set<string>() };
      const watching = new AbortController();
      const watch = async () => {
        while (!watching.signal.aborted) {
          for (const replicas of await stressReplicas()) seen.replicas.add(replicas);
          for (const { spec } of await ciliumPolicies()) seen.names.add(JSON.stringify(spec.egress));
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      };
      const flags = [
        ...['--nodes', `${suite.name}=dns`, '--policy', 'cilium', '--domains', '2', '--stress'],
        ...['--url', 'http://standing-svc', '--client', 'builtin'],
        ...['--duration', '8', '--trials', '1', '--json'],
      ];
      const run = world.bench('lookup', '--target', 'kubernetes', ...flags).finally(() => watching.abort());
      const [status] = await Promise.all([run, watch()]);
      expect(status, world.err()).toBe(0);
      const record = parseRecordAs(lookupKind, world.out(), 'stdout');
      const [overall] = overallsOf(record);
      expect(record.settings).toMatchObject({ policy: 'cilium', stress: true });
      expect(overall?.evidence[0]?.samplers.map((sampler) => sampler.node)).toEqual([node]);
      expect(overall?.samples.failed).toEqual([]);
      expect([...seen.replicas].toSorted((a, b) => a - b)).toEqual([0, 24]);
      expect([...seen.names].join()).toMatch(
        /"toFQDNs":\[\{"matchName":"standing-svc"\},\{"matchName":"www\.\w{10}\.com"\}\]/,
      );
      expect(await leftovers()).toEqual([]);
    });
  });
});
