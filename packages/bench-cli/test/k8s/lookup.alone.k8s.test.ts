/**
 * `bench lookup` alone: with `--stress`, because 24 pods that come and go take the node from everybody else, and with a wildcard
 * record, for which the cluster's DNS is started anew.
 */
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

/** From a range for documentation; leads to the web pods of the run. */
const WEB_ADDRESS = '198.51.100.7';
const WILDCARD = `
fresh.test:53 {
    template IN A {
        answer "{{ .Name }} 1 IN A ${WEB_ADDRESS}"
    }
    template IN AAAA {
        rcode NOERROR
    }
}
`;

/** Gives the cluster's DNS this further zone, or takes it away again, by pods that start with it. */
async function restartDns(zone: string): Promise<void> {
  const at = { name: 'coredns', namespace: 'kube-system' };
  const { data } = await core().readNamespacedConfigMap(at);
  const path = `/api/v1/namespaces/${at.namespace}/configmaps/${at.name}`;
  // A test that was killed has left its zone.
  const value = `${(data?.Corefile ?? '').replace(WILDCARD, '')}${zone}`;
  await patch(await adminApi(), path, [{ op: 'replace', path: '/data/Corefile', value }]);
  const selected = { namespace: at.namespace, labelSelector: 'k8s-app=kube-dns' };
  const old = (await core().listNamespacedPod(selected)).items.map(({ metadata }) => metadata?.uid);
  await core().deleteCollectionNamespacedPod(selected);
  await expect
    .poll(
      async () => {
        const { items } = await core().listNamespacedPod(selected);
        return items.map(
          ({ metadata, status }) =>
            !old.includes(metadata?.uid) && status?.containerStatuses?.every(({ ready }) => ready),
        );
      },
      { timeout: 120_000 },
    )
    .toEqual(old.map(() => true));
}

describe('with a stand-in for Cilium', () => {
  beforeAll(installCilium);
  afterAll(async () => {
    await labelNode('remove');
    await removeStandIns();
  });

  it('asks for a new name below a wildcard record in each sample, which its policy allows', async () => {
    await restartDns(WILDCARD);
    try {
      await suite.inWorld({}, async (world) => {
        const allowed = new Set<string>();
        const watching = new AbortController();
        const watch = async () => {
          while (!watching.signal.aborted) {
            for (const { spec } of await ciliumPolicies()) allowed.add(JSON.stringify(spec.egress));
            await new Promise((resolve) => setTimeout(resolve, 200));
          }
        };
        const page = ['--url', 'http://*.fresh.test', '--web-address', WEB_ADDRESS, '--policy', 'cilium'];
        const times = ['--duration', '6', '--trials', '1', '--json'];
        const run = world
          .bench('lookup', '--target', 'kubernetes', ...page, ...times)
          .finally(() => watching.abort());
        const [status] = await Promise.all([run, watch()]);
        expect(status, world.err()).toBe(0);
        const [overall] = overallsOf(parseRecordAs(lookupKind, world.out(), 'stdout'));
        const [trial, ...others] = overall?.evidence ?? [];
        expect(others).toEqual([]);
        expect(trial?.samples.taken).toBeGreaterThan(3);
        expect(trial?.samples.failed).toEqual([]);
        // No name is asked for twice: neither by another sample, nor by the first one before it.
        const { queries = 0, repeated = 0, questions = [] } = trial?.packets?.searches ?? {};
        const own = questions.filter(({ name }) => /^[\da-f-]{36}\.fresh\.test$/.test(name));
        expect(own.length).toBeGreaterThan(3);
        for (const question of own) expect(question.queries, question.name).toBe(1);
        expect(queries - repeated).toBeGreaterThanOrEqual(2 * (trial?.samples.taken ?? 0));
        expect([...allowed].join()).toContain('"matchPattern":"*.fresh.test"');
        expect(await leftovers()).toEqual([]);
      });
    } finally {
      await restartDns('');
    }
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
