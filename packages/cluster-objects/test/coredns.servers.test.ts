/** The unmodified CoreDNS, in each version that is here, reads the API server and answers as predicted. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  type ApiServer,
  type Cluster,
  type CorefileOptions,
  defineCluster,
  defineExternal,
  externalQuestion,
  internalQuestions,
  memberQuestion,
  podPointerQuestion,
  podQuestion,
  type Question,
  servicePointerQuestion,
  serviceQuestion,
  srvQuestion,
  startApiServer,
  startUpstream,
  type Upstream,
} from '../src/index.ts';
import { corednsVersions, type RunningCoredns, startCoredns } from './support/coredns.ts';
import { ask, differences } from './support/dns.ts';

const { describe, it } = fileNeeds('coredns');

/** Every question that a cluster has an answer to, and some that it has not. */
function* allQuestions(cluster: Cluster): Generator<Question, void, void> {
  const types = ['A', 'AAAA'] as const;
  for (let index = 0; index < cluster.spec.services; index++) {
    const service = cluster.service(index);
    for (const type of types) yield serviceQuestion(cluster, service, type);
    yield srvQuestion(cluster, service);
    for (const family of service.addresses.keys()) yield servicePointerQuestion(cluster, service, family);
    for (let member = 0; member < service.endpointCount; member++) {
      for (const type of types) yield memberQuestion(cluster, service, member, type);
    }
    // A name in an existing namespace that no service has.
    const gone = `gone-${index}.${service.namespace}.svc.${cluster.spec.domain}`;
    yield { name: gone, type: 'A', expected: { rcode: 'NXDOMAIN', answers: [] } };
  }
  for (let index = 0; index < cluster.spec.pods; index++) {
    const pod = cluster.pod(index);
    yield podQuestion(cluster, pod);
    if (pod.service === null) continue;
    for (const family of pod.addresses.keys()) yield podPointerQuestion(cluster, pod, family);
  }
}

const external = defineExternal();
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({ external, delaySeconds: 0.002 });
});
afterAll(() => upstream.close());

/** Runs CoreDNS on the objects of an API server; ends both. */
async function withCoredns(
  path: string,
  cluster: Cluster,
  options: CorefileOptions,
  use: (coredns: RunningCoredns, server: ApiServer) => Promise<void>,
): Promise<void> {
  const server = await startApiServer({ cluster });
  try {
    const corefile = { endpoint: server.url, upstream: `127.0.0.1:${upstream.port}`, ...options };
    const coredns = await startCoredns(path, corefile);
    try {
      await use(coredns, server);
    } finally {
      await coredns.stop();
    }
  } finally {
    await server.close();
  }
}

describe.each(corednsVersions())('CoreDNS $version', ({ version, path }) => {
  it.each([
    ['one address family', {}],
    ['both address families', { dualStack: true }],
    ['pods in several services', { endpoints: 400 }],
    ['more pods than endpoints', { endpoints: 60 }],
    ['only headless services', { headless: 1 }],
    ['another domain', { domain: 'k8s.example' }],
  ])('answers every generated name as predicted, with %s', async (_what, more) => {
    const cluster = defineCluster({ namespaces: 4, services: 20, pods: 150, ...more });
    const { domain } = cluster.spec;
    await withCoredns(path, cluster, { pods: 'verified', domain }, async ({ port }) => {
      expect(await differences(port, [...allQuestions(cluster)])).toEqual([]);
    });
  });

  it('answers for services with several slices', async () => {
    // 150 addresses each, of which a slice holds 100.
    const cluster = defineCluster({ services: 20, pods: 500, endpoints: 3000 });
    await withCoredns(path, cluster, { pods: 'insecure' }, async ({ port }) => {
      expect(await differences(port, internalQuestions(cluster, 500))).toEqual([]);
      expect(await differences(port, [serviceQuestion(cluster, cluster.service(9), 'A')])).toEqual([]);
    });
  });

  it('forwards external names to the upstream', async () => {
    await withCoredns(path, defineCluster({ services: 0, pods: 0 }), {}, async ({ port }) => {
      const questions = Array.from({ length: 200 }, (_, at) =>
        externalQuestion(external, at % 4 === 0 ? 1_000_000 + at : at, at % 2 === 0 ? 'A' : 'AAAA'),
      );
      expect(await differences(port, questions)).toEqual([]);
    });
  });

  it('knows its pods, so that autopath works', async () => {
    const cluster = defineCluster({ namespaces: 2, services: 2, pods: 4 });
    await withCoredns(path, cluster, { pods: 'verified', autopath: '@kubernetes' }, async (coredns) => {
      expect(await differences(coredns.port, [podQuestion(cluster, cluster.pod(0))])).toEqual([]);
      const unknown = podQuestion(cluster, { ...cluster.pod(0), addresses: ['10.200.0.1'] });
      expect(await ask(coredns.port, unknown)).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    });
  });

  describe('follows its API server', () => {
    const cluster = defineCluster({ namespaces: 3, services: 5, pods: 10 });
    let server: ApiServer;
    let coredns: RunningCoredns;
    beforeAll(async () => {
      server = await startApiServer({ cluster });
      const corefile = {
        endpoint: server.url,
        upstream: `127.0.0.1:${upstream.port}`,
        cache: 'off',
      } as const;
      coredns = await startCoredns(path, corefile);
    });
    afterAll(async () => {
      await coredns.stop();
      await server.close();
    });

    const answers = (name: string) => ask(coredns.port, { name, type: 'A' });
    const appears = (name: string) =>
      expect.poll(() => answers(name), { timeout: 50_000 }).toMatchObject({ rcode: 'NOERROR' });
    const disappears = (name: string) =>
      expect.poll(() => answers(name)).toEqual({ rcode: 'NXDOMAIN', answers: [] });

    it('sees a Service that is created, and no longer sees it when it is deleted', async () => {
      const { name, address } = server.churn.create();
      await appears(name);
      expect((await answers(name)).answers).toEqual([{ type: 'A', data: address }]);
      expect(server.churn.delete()).toMatchObject({ type: 'DELETED', name });
      await disappears(name);
    });

    it('through 200 changes a second', async () => {
      const { churn } = server;
      const before = churn.changesAfter(0).length;
      const since = () => churn.changesAfter(0).slice(before);
      churn.run(200);
      await expect.poll(() => since().length).toBeGreaterThan(200);
      churn.run(0);
      const changes = since();
      const deleted = new Set(changes.filter(({ type }) => type === 'DELETED').map(({ name }) => name));
      expect(deleted.size).toBeGreaterThan(20);
      const added = changes.filter(({ type }) => type === 'ADDED');
      await appears(added.at(-1)?.name ?? '');
      const questions = added.map(({ name, address }): Question => {
        const expected = deleted.has(name)
          ? { rcode: 'NXDOMAIN' as const, answers: [] }
          : { rcode: 'NOERROR' as const, answers: [{ type: 'A' as const, data: address }] };
        return { name, type: 'A', expected };
      });
      expect(await differences(coredns.port, questions)).toEqual([]);
    });

    it('continues after its watches end, without a list', async () => {
      // A watch that ends within a second without an event makes client-go list again; these have had many.
      const before = { ...server.served.lists };
      server.closeWatches();
      await appears(server.churn.create().name);
      expect(server.served.lists.services).toBe(before.services);
      expect(server.served.watches.services).toBeGreaterThan(1);
    });

    it('reads everything again after 410 Gone, and then has what it missed', async () => {
      const reads = () => (server.served.lists.services ?? 0) + (server.served.watches.services ?? 0);
      const before = reads();
      // Without a pause in between, so that the watches have no chance to send either.
      const deleted = server.churn.delete()?.name ?? '';
      const created = server.churn.create().name;
      server.expire();
      await appears(created);
      await disappears(deleted);
      // A watch that fails and a list; or, where lists are streamed, a second watch.
      expect(reads()).toBeGreaterThanOrEqual(before + 2);
      const questions = [...allQuestions(cluster)].filter(({ name: asked }) => !asked.includes('.pod.'));
      expect(await differences(coredns.port, questions)).toEqual([]);
    });

    it('finds it again after a restart', async () => {
      const { port } = server;
      await server.close();
      server = await startApiServer({ cluster, port });
      await appears(server.churn.create().name);
    });
  });

  it('asks in the ways that this test is about', async () => {
    const cluster = defineCluster({ namespaces: 3, services: 5, pods: 10 });
    await withCoredns(path, cluster, { pods: 'verified' }, async (_coredns, server) => {
      // From 1.15.0 on, lists are streamed as watches.
      const names = ['namespaces', 'services', 'endpointslices', 'pods'];
      const each = Object.fromEntries(names.map((name) => [name, 1]));
      await expect.poll(() => server.served.watches).toEqual(each);
      expect(server.served.lists).toEqual(version === '1.15.0' ? {} : each);
    });
  });
});
