import { readFile } from 'node:fs/promises';
import type { V1Node, V1NodeSpec, V1NodeSystemInfo, V1Toleration } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { makeCertificates } from '../src/certificates/certificates.ts';
import { configure } from '../src/config/configuration.ts';
import { KUBERNETES_DEFAULTS, type KubernetesSettings } from '../src/config/kubernetes-settings.ts';
import { DEFAULTS } from '../src/config/settings.ts';
import type { BenchError } from '../src/errors.ts';
import type { KubeClient } from '../src/kubernetes-api/client.ts';
import { loaderResources, parseTimes } from '../src/loaders/cluster-job.ts';
import { loaderCpuFor, loadFor } from '../src/measure/load.ts';
import { findServer } from '../src/servers/registry.ts';
import { parseCheckerLine } from '../src/targets/kubernetes/checker.ts';
import {
  candidateNodes,
  cniOf,
  describeBoth,
  describeNode,
  nodesFor,
  providerOf,
  proxyModeOf,
} from '../src/targets/kubernetes/cluster-facts.ts';
import { imageTag } from '../src/targets/kubernetes/existing-service.ts';
import { imagesOf, loaderKindOf } from '../src/targets/kubernetes/images.ts';
import { coresOfServerNode, placementWarnings } from '../src/targets/kubernetes/kubernetes-target.ts';
import { demandPlaces, fullNodes } from '../src/targets/kubernetes/node-room.ts';
import { configMapOf } from '../src/targets/kubernetes/objects/config-map.ts';
import { labelValue, namespaceOf } from '../src/targets/kubernetes/objects/labels.ts';
import { nodeSelectorOf, tolerationOf } from '../src/targets/kubernetes/objects/pods.ts';
import { serverObjects } from '../src/targets/kubernetes/objects/server.ts';
import { demandNodes, loaderRequest, sharedCpusOf } from '../src/targets/kubernetes/open-cluster.ts';
import { parseReadyLine } from '../src/targets/ready-line.ts';
import { zoneSetOf } from '../src/workload/workload.ts';
import { realWorld } from '../src/world.ts';
import { testWorld } from './support/test-world.ts';

const coredns = findServer('coredns', DEFAULTS);
const dinodns = findServer('dinodns', DEFAULTS);
const settings = { ...KUBERNETES_DEFAULTS, target: 'kubernetes' } as const;
const request = {
  settings,
  namespace: 'n',
  runId: '20261121-125435-f464',
  unit: '001-coredns',
  server: coredns,
  image: 'i',
  companionImage: 'c',
  zoneSet: zoneSetOf(2),
  mode: 'single',
  transport: 'udp',
  certificates: null,
  allowances: [1, 1],
  coresOfNode: 16,
  pullSecrets: [],
} as const;

describe('the objects of a server', () => {
  it('carry the labels of bench and of the run, each of them and their pods', () => {
    const { configMap, deployment, service } = serverObjects(request);
    for (const metadata of [
      configMap.metadata,
      deployment.metadata,
      service.metadata,
      deployment.spec?.template.metadata,
    ]) {
      expect(metadata?.labels).toMatchObject({
        'app.kubernetes.io/managed-by': 'dinodns-bench',
        'dinodns-bench/run': '20261121-125435-f464',
      });
    }
    expect(service.spec?.selector).toEqual(deployment.spec?.selector.matchLabels);
  });

  it.each([
    ['service', {}],
    ['pod', {}],
    ['local', { internalTrafficPolicy: 'Local' }],
    ['headless', { clusterIP: 'None' }],
  ] as const)('have the Service for --path %s', (path, more) => {
    const { service } = serverObjects({ ...request, settings: { ...settings, path } });
    const { selector: _selector, ports: _ports, ...spec } = service.spec ?? {};
    expect(spec).toEqual({ type: 'ClusterIP', ...more });
    const server = { ...request.server, path };
    const compared = serverObjects({ ...request, server, settings: { ...settings, path: 'pod,local' } });
    expect(compared.service.spec?.clusterIP).toBe(service.spec?.clusterIP);
    expect(compared.service.spec?.internalTrafficPolicy).toBe(service.spec?.internalTrafficPolicy);
  });

  it.each([
    ['spread', 'podAntiAffinity'],
    ['packed', 'podAffinity'],
  ] as const)('--replicas %s is a rule among the pods of one server', (replicas, rule) => {
    const { deployment } = serverObjects({ ...request, settings: { ...settings, replicas } });
    const { affinity } = deployment.spec?.template.spec ?? {};
    expect(Object.keys(affinity ?? {})).toEqual([rule]);
    const [own, ...others] = affinity?.[rule]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(others).toEqual([]);
    expect(own?.topologyKey).toBe('kubernetes.io/hostname');
    // Of itself, and not of another server of the run.
    const selected = Object.entries(own?.labelSelector?.matchLabels ?? {});
    const isSelected = (unit: string) => {
      const { labels = {} } = serverObjects({ ...request, unit }).deployment.spec?.template.metadata ?? {};
      return selected.length > 0 && selected.every(([key, value]) => labels[key] === value);
    };
    expect([isSelected(request.unit), isSelected('002-coredns')]).toEqual([true, false]);
    expect(serverObjects(request).deployment.spec?.template.spec?.affinity).toBeUndefined();
  });

  it('hold the certificate of an encrypted transport, which the record does not get', () => {
    const certificates = makeCertificates([], new Date());
    const { configMap, files } = serverObjects({ ...request, transport: 'tls', certificates });
    expect(configMap.data).toMatchObject({
      'certificate.pem': certificates.certificate,
      'key.pem': certificates.key,
    });
    expect(configMap.data?.Corefile).toContain('tls "/etc/bench/certificate.pem" "/etc/bench/key.pem"');
    expect(Object.keys(files)).toEqual(['Corefile']);
  });

  it('have what the server needs beside it in their pods, without a part in its limit', () => {
    const server = findServer('coredns-cluster', DEFAULTS);
    const { deployment, configMap } = serverObjects({ ...request, server });
    const { containers = [], initContainers = [] } = deployment.spec?.template.spec ?? {};
    expect(initContainers.map(({ name, image, restartPolicy }) => [name, image, restartPolicy])).toEqual([
      ['api', 'c', 'Always'],
      ['upstream', 'c', 'Always'],
    ]);
    expect(initContainers[0]?.command?.slice(-2)).toEqual(['--address', '127.0.0.1']);
    expect(initContainers[0]?.args).toEqual(['--port', '8101']);
    expect(initContainers[0]?.resources).toBeUndefined();
    expect(configMap.data?.Corefile).toContain('endpoint http://127.0.0.1:8101');
    expect(configMap.data?.Corefile).toContain('forward . 127.0.0.1:8102');
    expect(containers.map(({ readinessProbe }) => readinessProbe?.httpGet?.port)).toEqual([8181]);
    const plain = serverObjects(request).deployment.spec?.template.spec;
    expect(plain?.initContainers).toBeUndefined();
    expect(plain?.containers[0]?.readinessProbe).toBeUndefined();
  });

  it('ask for the tier as limit and, unless told otherwise, as request', () => {
    const resources = (more = {}) =>
      serverObjects({ ...request, settings: { ...settings, ...more } }).deployment.spec?.template.spec
        ?.containers[0]?.resources;
    expect(resources()).toEqual({ requests: { cpu: '1' }, limits: { cpu: '1' } });
    expect(resources({ cpuRequest: '100m', memoryLimit: '64Mi' })).toEqual({
      requests: { cpu: '100m', memory: '64Mi' },
      limits: { cpu: '1', memory: '64Mi' },
    });
  });

  it.each([
    ['quota', 2],
    ['node', 16],
  ] as const)('--workers %s: DinoDNS has %d workers', (workers, count) => {
    const { plan } = serverObjects({
      ...request,
      settings: { ...settings, workers },
      server: dinodns,
      mode: 'multi',
      allowances: [2],
    });
    expect(plan.workers).toBe(count);
    expect(plan.command.join(' ')).toContain(`--workers ${count}`);
  });

  it('give CoreDNS the one capability that its binary demands, and DinoDNS none', () => {
    const capabilities = (server: typeof coredns) =>
      serverObjects({ ...request, server }).deployment.spec?.template.spec?.containers[0]?.securityContext
        ?.capabilities;
    expect(capabilities(coredns)).toEqual({ drop: ['ALL'], add: ['NET_BIND_SERVICE'] });
    expect(capabilities(dinodns)).toEqual({ drop: ['ALL'] });
  });

  it('leave the user to the image on request, as OpenShift wants it', () => {
    const user = (runAsUser: string) =>
      serverObjects({ ...request, settings: { ...settings, runAsUser } }).deployment.spec?.template.spec
        ?.securityContext;
    expect(user('1000')).toMatchObject({ runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true });
    expect(user('image')).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('that do not fit into a ConfigMap are refused with the reason', () => {
    expect(() => serverObjects({ ...request, zoneSet: zoneSetOf(100_000) })).toThrow(
      expect.objectContaining({ code: 'E_CONFIG', message: expect.stringContaining('1 MiB') }),
    );
  });
});

describe('k8s/examples', () => {
  it.each(['single', 'multi'])('tier2-%s.yaml is what bench manifests prints', async (mode) => {
    const world = await testWorld();
    try {
      const flags = ['--servers', 'coredns,dinodns', '--zones', '3', '--tier', '2', '--mode', mode];
      expect(await world.bench('manifests', ...flags)).toBe(0);
      const file = new URL(`../../../k8s/examples/tier2-${mode}.yaml`, import.meta.url);
      const [, ...lines] = (await readFile(file, 'utf8')).split('\n');
      expect(lines.join('\n')).toBe(world.out());
    } finally {
      await world.remove();
    }
  });
});

describe('bench manifests', () => {
  const printed = async (...flags: string[]) => {
    const world = await testWorld();
    try {
      const status = await world.bench('manifests', '--servers', 'coredns', '--zones', '3', ...flags);
      return { status, out: world.out(), err: world.err() };
    } finally {
      await world.remove();
    }
  };

  it('has the paths to the pods, each with its Service and the port on which it answers', async () => {
    const { status, out } = await printed('--path', 'service,local,headless', '--server-node', 'a');
    expect(status).toBe(0);
    const documents = parseAllDocuments(out).map((document) => document.toJS());
    const of = (kind: string) => documents.filter((document) => document.kind === kind);
    expect(of('Service').map(({ spec }) => [spec.clusterIP, spec.internalTrafficPolicy])).toEqual([
      [undefined, undefined],
      [undefined, 'Local'],
      ['None', undefined],
    ]);
    const jobs = of('Job');
    expect(jobs.map(({ metadata }) => metadata.name)).toEqual([
      ...['service', 'local', 'headless'].map((path) => `load-coredns-${path}-tier1-single`),
    ]);
    const commands = jobs.map((job) => job.spec.template.spec.containers[0].args.join(' '));
    expect(commands[0]).toContain('-s s-coredns-service-tier1-single -p 53 ');
    expect(commands[2]).toContain('-s s-coredns-headless-tier1-single -p 5353 ');
  });

  it('refuses what cannot be known before: the address of a pod', async () => {
    const { status, err } = await printed('--path', 'service,pod');
    expect(status).toBe(2);
    expect(err).toContain('--path pod: a pod has no address before it runs');
  });
});

it('nodes with one boot ID are named as one machine, whatever is measured on the cluster', async () => {
  const node = (name: string, bootID: string) => ({
    metadata: { name },
    status: { nodeInfo: { bootID } as V1NodeSystemInfo },
  });
  const items = [node('a', '1'), node('b', '2'), node('c', '1'), node('d', ''), node('e', '')];
  const client = {
    text: async () => '{"gitVersion":"v1.31.0","status":{"desired":{"version":""}}}',
    list: async (kind: string) => ({ items: kind === 'Node' ? items : [] }),
    get: async () => null,
  } as unknown as KubeClient;
  const { environment, warnings } = await describeBoth(
    realWorld(),
    client,
    KUBERNETES_DEFAULTS,
    new AbortController().signal,
  );
  expect(environment.cluster?.nodes).toHaveLength(items.length);
  expect(warnings).toEqual([expect.stringMatching(/^nodes a, c are one machine /)]);
});

it('servers and loaders share the CPUs of a machine, however many nodes it is', () => {
  const node = (name: string, bootID: string, cpu: string) => ({
    metadata: { name },
    status: { nodeInfo: { bootID } as V1NodeSystemInfo, allocatable: { cpu } },
  });
  const [a, b, c] = [node('a', '1', '2'), node('b', '1', '1900m'), node('c', '2', '8')];
  const shared = (serverNodes: V1Node[], loaderNodes: V1Node[]) => sharedCpusOf({ serverNodes, loaderNodes });
  expect(shared([a], [a])).toBe(2);
  expect(shared([a], [b])).toBe(2);
  expect(shared([a, b], [a, b])).toBe(2);
  expect(shared([a], [c])).toBe(Number.POSITIVE_INFINITY);
  // Unknown boot IDs are those of different machines.
  expect(shared([node('d', '', '4')], [node('e', '', '4')])).toBe(Number.POSITIVE_INFINITY);
});

it('--workers node needs nodes that are alike', () => {
  const cores = (nodes: Record<string, number>, workers: 'node' | 'quota' = 'node') =>
    coresOfServerNode({ nodeCpus: new Map(Object.entries(nodes)), settings: { workers } });
  expect(cores({ a: 8, b: 8 })).toBe(8);
  expect(cores({ a: 8, b: 4 }, 'quota')).toBeNull();
  expect(() => cores({ a: 8, b: 4 })).toThrow(
    expect.objectContaining({ code: 'E_CONFIG', evidence: ['a has 8', 'b has 4'] }),
  );
});

it('warns where loaders of a trial shared a node, if more than one node takes loaders', () => {
  const warnings = (trialLoaders: readonly string[], loaderNodes: readonly string[]) =>
    placementWarnings(
      { placement: { servers: new Set(['s']), loaders: new Set(trialLoaders) }, loaderNodes },
      trialLoaders,
    );
  expect(warnings(['b', 'a', 'b'], ['a', 'b'])).toEqual([
    'loaders of a trial shared node b and competed for CPU, though 2 nodes take loaders: give each its own with fewer --loaders, or with more nodes (--loader-node)',
  ]);
  expect(warnings(['a', 'b'], ['a', 'b'])).toEqual([]);
  expect(warnings(['a', 'a'], ['a'])).toEqual([]);
  expect(warnings(['s'], ['s', 'a'])).toEqual([expect.stringContaining('shared node s')]);
});

describe('small parts', () => {
  it('names and labels are what Kubernetes allows', () => {
    expect(namespaceOf('dinodns-bench', '20261121-125435-F464')).toBe('dinodns-bench-20261121-125435-f464');
    expect(namespaceOf('a', 'x'.repeat(80))).toHaveLength(63);
    expect(labelValue('-späti/ät-')).toBe('sp-ti--t');
    expect(labelValue('x'.repeat(80))).toHaveLength(63);
  });

  it('ConfigMap keys have no slash, their mounts do', () => {
    const { object, mount } = configMapOf({ name: 'm', namespace: 'n', labels: {} }, 'x', [
      { path: 'zones/a.zone', chunks: ['a', 'b'] },
    ]);
    expect(object.data).toEqual({ 'zones__a.zone': 'ab' });
    expect(mount).toEqual({ configMap: 'm', items: { 'zones__a.zone': 'zones/a.zone' } });
  });

  it('a node is a name or labels; a toleration has a value and an effect, or any', () => {
    expect(nodeSelectorOf('worker-1')).toEqual({ 'kubernetes.io/hostname': 'worker-1' });
    expect(nodeSelectorOf('pool=dns,example.com/zone=a')).toEqual({ pool: 'dns', 'example.com/zone': 'a' });
    expect(tolerationOf('dedicated=dns:NoSchedule')).toEqual({
      key: 'dedicated',
      operator: 'Equal',
      value: 'dns',
      effect: 'NoSchedule',
    });
    expect(tolerationOf('spot')).toEqual({ key: 'spot', operator: 'Exists' });
  });

  it('candidates are nodes that fit, are not cordoned, and whose taints are tolerated', () => {
    const node = (name: string, more = {}, labels = {}) => ({
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      spec: more,
    });
    const taint = { taints: [{ key: 'dedicated', value: 'dns', effect: 'NoSchedule' }] };
    const nodes = [node('a'), node('b', { unschedulable: true }), node('c', taint, { pool: 'dns' })];
    const names = (...rest: [string?, string[]?]) =>
      candidateNodes(nodes, rest[0], rest[1]).map(({ metadata }) => metadata?.name);
    expect(names()).toEqual(['a']);
    expect(names(undefined, ['dedicated'])).toEqual(['a', 'c']);
    expect(names('pool=dns', ['dedicated=dns:NoSchedule'])).toEqual(['c']);
    expect(names('pool=dns', ['dedicated=web'])).toEqual([]);
    expect(names('b')).toEqual([]);
    // As Kubernetes has it: without a key, every taint; without an operator, the value.
    const tolerating = (...tolerations: V1Toleration[]) =>
      nodesFor(nodes, { tolerations }).map(({ metadata }) => metadata?.name);
    expect(tolerating({ operator: 'Exists' })).toEqual(['a', 'c']);
    expect(tolerating({ key: 'dedicated', value: 'dns' })).toEqual(['a', 'c']);
    expect(tolerating({ key: 'dedicated' })).toEqual(['a']);
    const unready = ['False', 'Unknown', 'True'].map((status) => ({
      ...node(status),
      status: { conditions: [{ type: 'Ready', status }] },
    }));
    const ready = nodesFor(unready, { tolerations: [{ operator: 'Exists' }] });
    expect(ready.map(({ metadata }) => metadata?.name)).toEqual(['True']);
  });

  it('a node that is there and takes no pods is refused with why: cordoned, tainted or not ready', () => {
    const node = (name: string, spec: V1NodeSpec = {}, status = 'True') => ({
      metadata: { name, labels: { 'kubernetes.io/hostname': name, pool: 'dns' } },
      ...{ spec, status: { conditions: [{ type: 'Ready', status }] } },
    });
    const taint = (key: string, value?: string) => ({
      ...{ key, effect: 'NoSchedule', ...(value === undefined ? {} : { value }) },
    });
    const nodes = [
      node('a', { unschedulable: true, taints: [taint('node.kubernetes.io/unschedulable')] }),
      node('b', { taints: [taint('dedicated', 'dns'), taint('spot')] }),
      node('c', { taints: [taint('node.kubernetes.io/unreachable')] }, 'Unknown'),
    ];
    const refusal = (settings: Partial<KubernetesSettings>) => {
      const none = { nodes, serverNodes: [], loaderNodes: [] };
      try {
        return demandNodes(none, { ...KUBERNETES_DEFAULTS, ...settings });
      } catch (error) {
        const { message, evidence } = error as BenchError;
        return { message, evidence };
      }
    };
    const lines = [
      'node a is cordoned',
      'node b has taint dedicated=dns:NoSchedule (tolerate it with --server-tolerations dedicated=dns:NoSchedule), has taint spot:NoSchedule (tolerate it with --server-tolerations spot:NoSchedule)',
      'node c is not ready',
    ];
    expect(refusal({ serverNode: 'pool=dns' })).toEqual({
      message: '--server-node: no node that matches "pool=dns" takes pods',
      evidence: lines,
    });
    expect(refusal({})).toEqual({ message: 'no node of the cluster accepts pods', evidence: lines });
    expect(refusal({ serverNode: 'b', serverTolerations: ['spot'] })).toMatchObject({
      evidence: [expect.stringMatching(/^node b has taint dedicated=dns:NoSchedule \([^)]*\)$/)],
    });
    expect(refusal({ serverNode: 'd' })).toEqual({
      message: '--server-node: no node matches "d"',
      evidence: ['nodes: a, b, c'],
    });
  });

  it('those that would take the pod and are full are named with what is left of CPU and memory, the one with the most room first', () => {
    const node = (name: string, cpu: string, memory = '4Gi') => ({
      metadata: { name, labels: { pool: name === 'other' ? 'web' : 'dns' } },
      status: { allocatable: { cpu, memory } },
    });
    const pod = (nodeName: string | null, cpu: string, phase = 'Running', memory = '1Gi') => ({
      spec: {
        ...(nodeName === null ? { nodeSelector: { pool: 'dns' } } : { nodeName }),
        containers: [{ name: 'main', resources: { requests: { cpu, memory } } }],
      },
      status: { phase },
    });
    const nodes = [node('small', '2'), node('large', '4'), node('other', '1'), node('free', '8', '512Mi')];
    const pods = [pod('small', '1500m'), pod('large', '1500m'), pod('large', '4', 'Succeeded')];
    const closed = [
      { ...node('cordoned', '1'), spec: { unschedulable: true } },
      { ...node('tainted', '1'), spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } },
    ];
    expect(fullNodes(pod(null, '3'), [...nodes, ...closed], pods)).toEqual([
      'node large is full: 2.5 CPUs of 4 CPUs left, the pod requests 3 CPUs',
      'node free is full: 512 MiB of memory of 512 MiB of memory left, the pod requests 1024 MiB of memory',
      'node small is full: 0.5 CPUs of 2 CPUs left, the pod requests 3 CPUs',
    ]);
  });

  it('are refused by --replicas before anything is made: too few for spread, too small for packed', () => {
    const node = (name: string, allocatableCpus: number, role = 'server') => ({
      ...describeNode({ metadata: { name } }, [role]),
      allocatableCpus,
    });
    const nodes = [node('a', 1.9), node('b', 4), node('c', 8, 'loader')];
    const replicas = (count: number, cores: number) => [
      { count: 1, cores: 0.1 },
      { count, cores },
    ];
    const demand = (how: 'spread' | 'packed' | undefined, count: number, cores: number) => () =>
      demandPlaces(how, replicas(count, cores), nodes);
    expect(demand('spread', 3, 3)).toThrow(
      '--replicas spread: 3 pods need 3 nodes, and servers may use 2: a, b',
    );
    expect(demand('packed', 5, 4.5)).toThrow(
      '--replicas packed: 5 pods request 4.5 CPUs together, and the largest node that servers may use, b, has 4 CPUs',
    );
    for (const fits of [demand('spread', 2, 9), demand('packed', 9, 4), demand(undefined, 9, 9)])
      expect(fits).not.toThrow();
  });

  it('the cluster: provider, network plugin, proxy mode, where they can be told', () => {
    expect(providerOf([{ spec: { providerID: 'gce://p/z/n' } }])).toBe('gke');
    expect(providerOf([{ spec: { providerID: 'kind://docker/kind/kind' } }])).toBe('kind');
    expect(providerOf([{}])).toBeNull();
    expect(cniOf(['coredns-1', 'calico-node-abc'])).toBe('calico');
    expect(cniOf(['cilium-x', 'calico-node-y'])).toBeNull();
    expect(proxyModeOf('kind: KubeProxyConfiguration\nmode: ipvs\n')).toBe('ipvs');
    expect(proxyModeOf('mode: ""\n')).toBe('iptables');
    expect(proxyModeOf('')).toBeNull();
  });

  it('lines of programs: the checker, the shell, DinoDNS', () => {
    expect(parseCheckerLine('12 AAEC')).toEqual({ index: 12, answer: Buffer.from([0, 1, 2]) });
    expect(parseCheckerLine('12 !no answer within 2 s')).toEqual({
      index: 12,
      answer: 'no answer within 2 s',
    });
    expect(parseCheckerLine('ready 0.5')).toBeNull();
    expect(parseTimes(['x', '[bench] times', '0m0.00s 0m0.01s', '1m1.50s 0m2.25s'])).toBe(63.75);
    expect(parseTimes(['no times'])).toBeNull();
    expect(parseReadyLine('{"ready":true,"workers":4}')?.workers).toBe(4);
    expect(parseReadyLine('{"ready":true,"workers":0}')?.workers).toBeNull();
    expect(parseReadyLine('{"level":30')).toBeNull();
    expect(imageTag('registry.k8s.io:5000/coredns/coredns:v1.13.1@sha256:0')).toBe('v1.13.1');
    expect(imageTag('coredns')).toBe('unknown');
  });

  it('a load balancer gets the load of as many loaders as it has instances, and sockets for each', () => {
    const load = { clients: 20, threads: 1, outstanding: 100 };
    expect(loadFor(load, { address: 'a', port: 53 })).toEqual(load);
    expect(loadFor(load, { address: 'a', port: 53, instances: 4 })).toEqual({
      clients: 400,
      threads: 4,
      outstanding: 400,
    });
    expect(loadFor({ ...load, clients: 300 }, { address: 'a', port: 53, instances: 2 }).clients).toBe(600);
  });

  it('the loader of the published method has the CPUs of the tier, and 7 in mode single', () => {
    const published = configure({ preset: 'blog', env: {}, flags: {} });
    const cpuOf = (tier: number, mode: 'single' | 'multi') => loaderCpuFor(published, { tier, mode });
    expect([cpuOf(1, 'multi'), cpuOf(4, 'multi'), cpuOf(1, 'single'), cpuOf(4, 'single')]).toEqual([
      '1',
      '4',
      '7',
      '7',
    ]);
    expect(loadFor(published, { address: 'a', port: 53 })).toMatchObject({ clients: 1, threads: 1 });
    expect(loadFor(published, { address: 'a', port: 53, instances: 4 })).toMatchObject({ threads: 4 });
    const run = { settings: published.kubernetes, loaderRequestCores: 0 };
    expect(loaderResources(run, cpuOf(2, 'multi'))).toEqual({ requests: { cpu: '2' }, limits: { cpu: '2' } });
    expect(() => loaderResources(run)).toThrow('which only bench run has');
    const flags = { preset: 'blog', env: {}, flags: { loaderCpu: '3', clients: '20' } };
    expect(loaderCpuFor(configure(flags), { tier: 4, mode: 'single' })).toBe('3');
    expect(configure(flags).clients).toBe(20);
  });

  it('a loader asks for half of what servers leave on a node, for one core at most, for nothing if there is none', () => {
    expect(loaderRequest(2, 1)).toBe(0.5);
    expect(loaderRequest(2, 2)).toBe(0);
    expect(loaderRequest(2, 4)).toBe(0);
    expect(loaderRequest(Number.POSITIVE_INFINITY, 4)).toBe(1);
  });

  it("images: the project's own CoreDNS of the version that is compared, and ours of this version", () => {
    const imageOf = (name: string, images: ReturnType<typeof imagesOf>) =>
      images.of(findServer(name, { corednsVersion: '1.13.1' }));
    expect(imageOf('coredns', imagesOf(settings, 'dnsperf'))).toBe('coredns/coredns:1.13.1');
    expect(imageOf('coredns@1.11.3', imagesOf(settings, 'dnsperf'))).toBe('coredns/coredns:1.11.3');
    const own = imagesOf({ ...settings, corednsImage: 'r:5000/c:x', dinodnsImage: 'r/x:2' }, 'builtin');
    expect(imageOf('dinodns', own)).toBe('r/x:2');
    expect(own.checker).toBe('r/x:2');
    expect(imageOf('coredns+file', own)).toBe('r:5000/c:x');
    expect(imageOf('coredns@1.11.3+file', own)).toBe('r:5000/c:1.11.3');
    const others = imagesOf({ ...settings, serverImages: ['knot=r:5000/knot:3'] }, 'dnsperf');
    expect(imageOf('knot', others)).toBe('r:5000/knot:3');
    expect(imageOf('nsd', others)).toMatch(/^dinodns-bench\/nsd:\d/);
    expect(imageOf('echo', others)).toMatch(/^dinodns-bench\/echo:\d/);
    expect(() => imageOf('bind', own)).toThrow('bind has no container image');
    expect(() => imageOf('echo+node', own)).toThrow('echo+node has no container image');
  });
});

describe('settings of the kubernetes target', () => {
  const configured = (flags: Record<string, unknown>) => configure({ env: {}, flags });

  it.each([
    [{}, 'dnsperf'],
    [{ loader: 'builtin' }, 'builtin'],
    [{ objective: 'max-rate' }, 'builtin'],
  ])('%o: the loader is %s', (flags, kind) => {
    expect(loaderKindOf(configured(flags), [])).toBe(kind);
  });

  it('tiers are CPU quantities as well', () => {
    expect(configured({ tier: '500m,1,2.5' }).tiers).toEqual([0.5, 1, 2.5]);
  });

  it('the published experiment is a preset', () => {
    expect(configure({ preset: 'blog', env: {}, flags: { target: 'kubernetes' } })).toMatchObject({
      tiers: [1, 2, 4],
      modes: ['single', 'multi'],
      durationSeconds: 600,
      ratesPerSecond: [null],
      loader: 'dnsperf',
      kubernetes: { target: 'kubernetes', workers: 'node' },
    });
  });

  it.each([
    ['namespacePrefix', 'Not_ok'],
    ['serverNode', 'a b'],
    ['loaderCpu', 'many'],
    ['replicas', '2'],
    ['memoryLimit', '-1Gi'],
    ['serverTolerations', 'a=b:Sometimes'],
    ['podLabels', 'team'],
    ['runAsUser', '0'],
    ['pullSecrets', 'Bad Name'],
    ['target', 'moon'],
  ])('%s: %j is refused', (name, value) => {
    expect(() => configured({ [name]: value })).toThrow(expect.objectContaining({ code: 'E_CONFIG' }));
  });
});
