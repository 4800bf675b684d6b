/** Synthetic objects for a cluster that belongs to others, and the pace of their creation. */
import { json } from 'node:stream/consumers';
import { ENDPOINT_SLICES, SERVICES } from '@dinodns-bench/cluster-objects';
import type { V1Job, V1Namespace } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import { existingNames } from '../src/experiments/capacity/beside/existing-names.ts';
import { readPhases } from '../src/experiments/capacity/beside/read-phases.ts';
import { dangerOf, unwatched } from '../src/experiments/capacity/cluster/cluster-dns-guard.ts';
import { createPaced, MAX_CREATION_RATE } from '../src/experiments/capacity/cluster/create-paced.ts';
import { dnsAccount } from '../src/experiments/capacity/cluster/dns-account.ts';
import { dnsPod } from '../src/experiments/capacity/cluster/dns-job.ts';
import { startDns } from '../src/experiments/capacity/cluster/start-dns.ts';
import {
  headlessShare,
  SERVICE_LABELS,
  syntheticAddress,
  syntheticCluster,
  syntheticCount,
  syntheticObjects,
} from '../src/experiments/capacity/cluster/synthetic-objects.ts';
import { openSyntheticRun } from '../src/experiments/capacity/cluster/synthetic-run.ts';
import { jobOf } from '../src/targets/kubernetes/objects/job.ts';
import { openClient } from '../src/targets/kubernetes/open-cluster.ts';
import { realWorld } from '../src/world.ts';
import { answer, refusal, worldOfApi } from './support/api-server.ts';
import { type JobCluster, jobCluster } from './support/job-cluster.ts';

const { signal } = new AbortController();

const cluster = syntheticCluster({ services: 50, pods: 950 }, 'bench-1');
const made = [...syntheticObjects(cluster, { withPods: true })];

describe('synthetic objects', () => {
  it('are as many as were announced, all in the namespace of the run', () => {
    expect(made).toHaveLength(syntheticCount(cluster, { withPods: true }));
    expect(made).toHaveLength(SERVICES.count(cluster) + ENDPOINT_SLICES.count(cluster) + 950);
    expect(new Set(made.map(({ object }) => object.metadata?.namespace))).toEqual(new Set(['bench-1']));
    expect([...syntheticObjects(cluster, { withPods: false })].some(({ kind }) => kind === 'Pod')).toBe(
      false,
    );
  });

  it('are left alone by the controllers of Services and by kube-proxy', () => {
    for (const { kind, object } of made) {
      if (kind === 'Service') expect(object.spec?.selector).toBeUndefined();
      if (kind === 'EndpointSlice') {
        expect(object.metadata?.labels?.['endpointslice.kubernetes.io/managed-by']).toBe('dinodns-bench');
        expect(object.metadata?.ownerReferences).toBeUndefined();
      }
      if (kind === 'Pod') {
        expect(object.spec?.schedulerName).toBe('dinodns-bench-never');
        expect(object.spec?.nodeName).toBeUndefined();
        continue;
      }
      expect(object.metadata?.labels?.['service.kubernetes.io/service-proxy-name']).toBe('dinodns-bench');
    }
  });

  it('take few of the addresses of a cluster, and mark the slices of the Services without one', () => {
    const services = made.filter(({ kind }) => kind === 'Service');
    const headless = new Set(
      services.flatMap(({ object }) =>
        'spec' in object &&
        object.spec !== undefined &&
        'clusterIP' in object.spec &&
        object.spec.clusterIP === 'None'
          ? [object.metadata?.name ?? '']
          : [],
      ),
    );
    expect(headless.size).toBe(45);
    for (const { kind, object } of made) {
      if (kind !== 'EndpointSlice') continue;
      const service = object.metadata?.labels?.['kubernetes.io/service-name'] ?? '';
      expect('service.kubernetes.io/headless' in (object.metadata?.labels ?? {})).toBe(headless.has(service));
    }
    // 20,000 Services would be 2,000 addresses at 90 %.
    expect(20_000 * (1 - headlessShare(20_000))).toBeCloseTo(100, 6);
  });

  it('have addresses of 198.18.0.0/15, each its own', () => {
    const addresses = made.flatMap(({ kind, object }) =>
      kind === 'EndpointSlice' ? (object.endpoints ?? []).flatMap(({ addresses: all }) => all) : [],
    );
    expect(addresses).toHaveLength(950);
    expect(new Set(addresses).size).toBe(950);
    for (const address of addresses) expect(address).toMatch(/^198\.1[89]\.\d+\.\d+$/);
    expect(syntheticAddress(2 ** 17 - 1)).toBe('198.19.255.255');
    expect(syntheticAddress(2 ** 17)).toBe('198.18.0.0');
  });

  it('are asked for only where they have an answer', () => {
    const empty = syntheticCluster({ services: 20, pods: 0 }, 'x');
    // Headless Services without endpoints do not exist, as far as DNS is concerned.
    expect(existingNames(empty)).toHaveLength(2);
    expect(existingNames(cluster)).toHaveLength(50);
  });
});

it('objects that cannot be deleted again are said beside why they were to be', async () => {
  let made: V1Namespace | undefined;
  const world = await worldOfApi(async (request, response) => {
    const { pathname: path } = new URL(request.url ?? '', 'http://test');
    const refuse = () => answer(response, 403, refusal(403, 'Forbidden', `${request.method} ${path}`));
    if (request.method === 'DELETE' || path.endsWith('/serviceaccounts')) return refuse();
    if (request.method === 'POST') {
      const object = (await json(request)) as V1Namespace;
      if (path === '/api/v1/namespaces') made = object;
      return answer(response, 201, { ...object, status: { allowed: true } });
    }
    if (!/^\/api\/v1\/namespaces\/[^/]+$/.test(path))
      return answer(response, 200, { items: [], metadata: { resourceVersion: '1' } });
    return made ? answer(response, 200, made) : answer(response, 404, refusal(404, 'NotFound', path));
  });
  const opened = openSyntheticRun({
    ...{ world, client: await openClient(world, undefined), settings: kubernetesOf({}), runId: 'run' },
    ...{ size: { services: 1, pods: 1 }, withPods: false, signal },
  });
  const message = await opened.then(
    () => '',
    (error: Error) => error.message,
  );
  expect(message).toContain('may not create serviceaccounts');
  expect(message).toContain('may not delete namespaces');
}, 60_000);

describe('the pace of creation', () => {
  const clock = realWorld().clock;
  const signal = new AbortController().signal;

  it('is bounded, also after a pause of the API server', async () => {
    const at: number[] = [];
    const create = async (index: number) => {
      at.push(clock.monotonicSeconds());
      if (index === 5) await clock.sleep(0.2);
    };
    const { created } = await createPaced(Array(40).keys(), create, { clock, signal, perSecond: 200 });
    expect(created).toBe(40);
    expect(MAX_CREATION_RATE).toBe(50);
    for (const [index, time] of at.entries()) {
      const earlier = at[index - 20];
      // Twenty at 200 a second take 100 ms, unless the machine delayed the first of them. A burst takes none.
      if (earlier !== undefined) expect(time - earlier).toBeGreaterThan(0.05);
    }
  });

  it('ends when the API server gets slow, and says after how many', async () => {
    let calls = 0;
    const create = async () => {
      calls += 1;
      await clock.sleep(0.03);
    };
    const pace = { clock, signal, perSecond: 1000, maxP99Seconds: 0.02 };
    await expect(createPaced(Array(1000).keys(), create, pace)).rejects.toMatchObject({
      code: 'E_CLUSTER_REFUSED',
      message: expect.stringMatching(/the API server got slow: 99 % of the last 20 creations/),
    });
    expect(calls).toBeLessThan(40);
  });

  it('ends with the first creation that fails, and with the signal', async () => {
    const broken = createPaced([1, 2, 3], () => Promise.reject(new Error('no')), { clock, signal });
    await expect(broken).rejects.toThrow('no');
    const stop = new AbortController();
    const stopped = createPaced(
      Array(1000).keys(),
      async (index) => {
        if (index === 3) stop.abort(new Error('Ctrl-C'));
      },
      { clock, signal: stop.signal },
    );
    await expect(stopped).rejects.toThrow('Ctrl-C');
  });
});

describe("the cluster's own DNS", () => {
  const before = { pods: 2, restarts: 0, memoryBytes: 50e6, memoryLimitBytes: 170e6 };

  it.each([
    [{ memoryBytes: 90e6 }, null],
    [{ memoryBytes: 110e6 }, /105 MiB of its limit of 162 MiB/],
    [{ memoryBytes: 110e6, memoryLimitBytes: null }, null],
    [{ restarts: 1 }, /restarted/],
    [{ pods: 1 }, /1 ready pods, 2 before/],
  ])('%j: %s', (change, danger) => {
    const found = dangerOf(before, { ...before, ...change });
    if (danger === null) expect(found).toBeNull();
    else expect(found).toMatch(danger);
  });
});

it('what of it cannot be watched is said', () => {
  const state = { pods: 2, restarts: 0, memoryBytes: null, memoryLimitBytes: 170e6 };
  expect(unwatched(null)).toEqual([expect.stringContaining("The cluster's own DNS was not watched")]);
  expect(unwatched(state)).toEqual([expect.stringContaining('The memory of')]);
  expect(unwatched({ ...state, memoryBytes: 20e6 })).toEqual([]);
  expect(unwatched({ ...state, memoryLimitBytes: null })).toEqual([]);
});

describe('the private CoreDNS', () => {
  const settings = kubernetesOf({});
  const pod = {
    corednsImage: 'coredns/coredns:1',
    corefile: { pods: 'verified', autopath: '@kubernetes' },
    memory: { request: '70Mi', limit: '170Mi' },
    corednsEnv: { GOMEMLIMIT: '100B' },
    names: ['a.n.svc.cluster.local'],
  } as const;

  it('may read and nothing else, and its role goes with the namespace', () => {
    const { role, binding } = dnsAccount({ metadata: { name: 'n', uid: 'u' } }, 'run').reading;
    expect(new Set(role.rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list', 'watch']));
    for (const { metadata } of [role, binding]) {
      expect(metadata?.ownerReferences).toEqual([
        { apiVersion: 'v1', kind: 'Namespace', name: 'n', uid: 'u' },
      ]);
    }
  });

  it('reads through the program beside it, and does not use the DNS of the cluster', () => {
    const { files, corefile, label, ...rest } = dnsPod(settings, 'n', {
      ...{ ...pod, reads: 'through the program', entry: 'main.mjs', env: {} },
    });
    expect(corefile).toContain('endpoint http://127.0.0.1:8001');
    expect(corefile).toContain('autopath @kubernetes');
    expect(files.list.map(({ path }) => path)).toContain('relay.mjs');
    const { spec } = jobOf({
      ...{ ...rest, component: label, args: [], settings, pullSecrets: [], deadlineSeconds: 60 },
      ...{ name: 'start-1', namespace: 'n', labels: {} },
      mounts: { [files.directory]: { configMap: 'start-1', items: {} } },
    });
    const made = spec?.template.spec;
    expect(made).toMatchObject({ dnsPolicy: 'Default', shareProcessNamespace: true });
    expect(made?.containers.map(({ name }) => name)).toEqual(['dns', 'main']);
    expect(made?.containers.map(({ env = [] }) => env.some(({ name }) => name === 'GOMEMLIMIT'))).toEqual([
      true,
      false,
    ]);
    expect(made?.containers[0]?.volumeMounts).toEqual(made?.containers[1]?.volumeMounts);
    expect(made?.containers[0]?.resources).toEqual({
      requests: { memory: '70Mi' },
      limits: { memory: '170Mi' },
    });
  });

  it('leaves no Service of its program to the next start, also when it was killed', async () => {
    const { client, objects, end } = await jobCluster();
    const path = '/api/v1/namespaces/n/services';
    const made = () => [...objects.keys()].filter((each) => each.startsWith(path));
    const kept = { metadata: { name: 'synthetic', namespace: 'n', labels: SERVICE_LABELS } };
    await client.create('Service', kept, signal);
    const run = { client, settings, namespace: 'n', runId: 'run', pullSecrets: [], jobs: 0 };
    const result = startDns(run, {
      ...{ ...pod, unit: 'start-1', phases: ['cold-start'], seconds: 1, queriesPerSecond: 0 },
      ...{ changes: true, signal },
    });
    const jobPath = '/apis/batch/v1/namespaces/n/jobs/start-1';
    const job = await vi.waitUntil(() => objects.get(jobPath) as V1Job, { timeout: 30_000 });
    const { env = [] } = job.spec?.template.spec?.containers[1] ?? {};
    const settingOf = (wanted: string) => env.find(({ name }) => name === wanted)?.value ?? '';
    expect(settingOf('CHANGES')).toBe('true');
    for (const phase of ['first', 'relist']) {
      const metadata = { name: `${settingOf('PREFIX')}-${phase}`, labels: JSON.parse(settingOf('LABELS')) };
      await client.create('Service', { metadata: { ...metadata, namespace: 'n' } }, signal);
    }
    expect(made()).toHaveLength(3);
    end({ exitCode: 137, reason: 'OOMKilled' });
    expect((await result).container).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
    expect(made()).toEqual([`${path}/synthetic`]);
  });

  it('says why it ended beside what could not be removed, and removes after Ctrl-C as well', async () => {
    const { client, objects } = await jobCluster();
    const stop = new AbortController();
    let asked: AbortSignal | undefined;
    const away: typeof client.list = (kind, where, given) => {
      if (kind === 'Service') asked = given;
      return kind === 'Service' ? Promise.reject(new Error('it is away')) : client.list(kind, where, given);
    };
    const run = { client: { ...client, list: away }, settings, namespace: 'n', runId: 'run' };
    const result = startDns(
      { ...run, pullSecrets: [], jobs: 0 },
      {
        ...{ ...pod, unit: 'start-1', phases: ['cold-start'], seconds: 1, queriesPerSecond: 0 },
        ...{ changes: true, signal: stop.signal },
      },
    );
    const said = result.then(
      () => '',
      (error: Error) => error.message,
    );
    const jobPath = '/apis/batch/v1/namespaces/n/jobs/start-1';
    await vi.waitUntil(() => objects.get(jobPath), { timeout: 30_000 });
    stop.abort(new Error('Ctrl-C'));
    expect(await said).toMatch(/Ctrl-C[\s\S]*it is away/);
    expect(asked?.aborted).toBe(false);
  });

  /** A start whose pod ends as the kubelet says, after these lines of its program. */
  async function ended(lines: string, ...end: Parameters<JobCluster['end']>) {
    const cluster = await jobCluster();
    const run = { client: cluster.client, settings, namespace: 'n', runId: 'run', pullSecrets: [], jobs: 0 };
    const result = startDns(run, {
      ...{ ...pod, unit: 'start-1', phases: ['cold-start'], seconds: 1, queriesPerSecond: 0 },
      ...{ changes: false, signal },
    });
    await vi.waitUntil(() => cluster.objects.get('/apis/batch/v1/namespaces/n/jobs/start-1'), {
      timeout: 30_000,
    });
    cluster.print(lines);
    cluster.end(...end);
    return result;
  }

  it('that is late has not held; that Kubernetes ended is no finding about it', async () => {
    const killed = { exitCode: 137, reason: 'Error' };
    expect(await ended('{"late":"relist"}\n', killed)).toMatchObject({
      death: 'it lived, but the phase relist took too long',
    });
    expect(await ended('', { exitCode: 1, reason: 'Error' })).toMatchObject({
      death: 'CoreDNS ended by itself',
    });
    await expect(ended('', killed, 'Evicted')).rejects.toMatchObject({
      code: 'E_SERVER_DIED',
      message: expect.stringContaining('Evicted'),
    });
  });

  it('gets the same load with and without Services: few names, which it soon knows', async () => {
    const program = new URL('../src/experiments/capacity/beside/program/common.mjs', import.meta.url);
    const { loadQuestions }: { loadQuestions: (services: string[]) => (n: number) => { name: string } } =
      await import(program.href);
    const asked = (services: string[]) =>
      new Set(Array.from({ length: 30_000 }, (_, n) => loadQuestions(services)(n).name));
    expect(asked(['a.example', 'b.example'])).toEqual(new Set(['a.example', 'b.example']));
    expect(asked([]).size).toBe(1000);
  });

  it('is measured by lines of JSON; others are not its', () => {
    const reader = readPhases();
    for (const line of ['(node:7) Warning: something', '{"phase":"unknown"}', '{broken']) reader.onLine(line);
    // A finding about CoreDNS.
    reader.onLine('{"ended":"CoreDNS has ended"}');
    reader.demandSound();
    expect(reader).toMatchObject({ figures: [], total: null, late: null });
    reader.onLine('{"failed":"something"}');
    expect(() => reader.demandSound()).toThrow('could not be measured: something');
  });
});
