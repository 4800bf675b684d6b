/** The objects that bench builds, put to the API server: it validates and admits them, and keeps none. */

import type { KubernetesObject } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KUBERNETES_DEFAULTS, type KubernetesSettings } from '../../src/config/kubernetes-settings.ts';
import { DEFAULTS } from '../../src/config/settings.ts';
import type { KubeClient } from '../../src/kubernetes-api/client.ts';
import { findServer, serverNames } from '../../src/servers/registry.ts';
import { jobOf } from '../../src/targets/kubernetes/objects/job.ts';
import { unitLabels } from '../../src/targets/kubernetes/objects/labels.ts';
import { namespaceObject } from '../../src/targets/kubernetes/objects/namespace.ts';
import { CONTAINER } from '../../src/targets/kubernetes/objects/pods.ts';
import { serverObjects } from '../../src/targets/kubernetes/objects/server.ts';
import { zoneSetOf } from '../../src/workload/workload.ts';
import { adminClient, core, objects } from './support/admin.ts';
import { clusterWorld } from './support/bench.ts';

const namespace = `bench-objects-${Math.random().toString(36).slice(2, 8)}`;
const runId = 'Suite-1';
const signal = AbortSignal.timeout(280_000);

/** Everything that can be set, set. */
const settings: KubernetesSettings = {
  ...KUBERNETES_DEFAULTS,
  target: 'kubernetes',
  serverNode: 'pool=dns,zone=a',
  loaderNode: 'worker-1',
  serverTolerations: ['dedicated=dns:NoSchedule', 'spot'],
  loaderTolerations: ['dedicated:NoExecute'],
  podLabels: ['team=dns', 'example.com/cost-center=42'],
  cpuRequest: '100m',
  memoryLimit: '256Mi',
  loaderCpu: '7',
  serviceAccount: 'default',
};

let client: KubeClient;
beforeAll(async () => {
  client = await adminClient();
  const object = namespaceObject({ name: namespace, runId, host: 'host', owner: 'owner' });
  await client.create('Namespace', object, signal);
  await vi.waitFor(
    async () => expect(await client.get('ServiceAccount', 'default', namespace, signal)).not.toBeNull(),
    {
      timeout: 30_000,
    },
  );
});
afterAll(() => core().deleteNamespace({ name: namespace }));

const dryRun = { dryRun: true } as const;

const servers = serverNames().map((name) => findServer(name, DEFAULTS));

describe.each(servers.filter(({ image }) => image !== null))('the objects of $name', (server) => {
  it.each(['single', 'multi'] as const)(
    '%s: are accepted, their pods by the restricted standard',
    async (mode) => {
      const built = serverObjects({
        settings,
        namespace,
        runId,
        unit: `1-${server.name}`,
        server,
        image: 'registry.example/x:1',
        companionImage: 'registry.example/load:1',
        zoneSet: zoneSetOf(100),
        mode,
        transport: 'udp',
        certificates: null,
        allowances: mode === 'single' ? [0.75, 0.75] : [2],
        coresOfNode: null,
        pullSecrets: ['registry'],
      });
      await client.create('ConfigMap', built.configMap, signal, dryRun);
      const service = await client.create('Service', built.service, signal, dryRun);
      expect(service.spec?.ports?.map(({ port, targetPort }) => [port, targetPort])).toEqual([
        [53, 5353],
        [53, 5353],
      ]);
      const deployment = await client.create('Deployment', built.deployment, signal, dryRun);
      expect(deployment.spec?.replicas).toBe(mode === 'single' ? 2 : 1);
      const limit = deployment.spec?.template.spec?.containers[0]?.resources?.limits?.cpu;
      expect(limit).toBe(mode === 'single' ? '750m' : '2');
      // Only pods themselves are refused by Pod Security; for what creates them there is a warning.
      const { metadata, spec } = built.deployment.spec?.template ?? {};
      const pod = await client.create(
        'Pod',
        { metadata: { ...metadata, name: 'x', namespace }, ...(spec === undefined ? {} : { spec }) },
        signal,
        dryRun,
      );
      expect(pod.metadata?.labels).toMatchObject({
        team: 'dns',
        'app.kubernetes.io/managed-by': 'dinodns-bench',
      });
    },
  );
});

describe('a Job', () => {
  const request = {
    settings,
    namespace,
    name: 'load-1',
    labels: unitLabels(runId, 'loader', 'load-1'),
    component: 'loader',
    image: 'registry.example/dnsperf:1',
    command: ['/bin/sh', '-c', 'true'],
    args: ['-s', '10.0.0.1'],
    resources: { requests: { cpu: '7' }, limits: { cpu: '7' } },
    pullSecrets: [],
    deadlineSeconds: 99.5,
  } as const;

  it('is accepted', async () => {
    const job = await client.create('Job', jobOf(request), signal, dryRun);
    expect(job.spec).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 100 });
  });

  it('is refused as a pod if it asked for more than `restricted` allows', async () => {
    const { template } = jobOf(request).spec ?? {};
    const [container] = template?.spec?.containers ?? [];
    if (container === undefined) throw new Error('no container');
    const { securityContext: _, volumeMounts: __, ...bare } = container;
    const pod = { metadata: { name: 'y', namespace }, spec: { containers: [{ ...bare, name: CONTAINER }] } };
    await expect(client.create('Pod', pod, signal, dryRun)).rejects.toMatchObject({
      code: 'E_CLUSTER_REFUSED',
      evidence: [expect.stringContaining('restricted')],
    });
  });
});

describe('bench manifests', () => {
  it('prints objects that the API server takes and that can be deleted again', async () => {
    const world = await clusterWorld();
    const prefix = `manifests-${Math.random().toString(36).slice(2, 8)}`;
    try {
      expect(
        await world.bench('manifests', '--tier', '2', '--mode', 'multi', '--namespace-prefix', prefix),
      ).toBe(0);
      const documents = parseAllDocuments(world.out()).map((document) => document.toJS() as KubernetesObject);
      expect(documents.map(({ kind }) => kind)).toEqual([
        'Namespace',
        'ServiceAccount',
        'ConfigMap',
        ...Array.from({ length: 3 }, () => ['ConfigMap', 'Service', 'Deployment', 'Job']).flat(),
      ]);
      for (const document of documents) await objects().create(document);
      for (const document of documents.reverse()) await objects().delete(document);
    } finally {
      await world.remove();
    }
    await expect
      .poll(async () => (await core().listNamespace()).items.map(({ metadata }) => metadata?.name))
      .not.toContain(prefix);
  });
});
