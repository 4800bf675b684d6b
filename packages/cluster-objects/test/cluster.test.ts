/** The generated cluster: its counts, its names, its addresses, and that everything agrees. */
import { describe, expect, it } from 'vitest';
import {
  ClusterError,
  type ClusterInput,
  defineCluster,
  ENDPOINT_SLICES,
  type KubeObject,
  NAMESPACES,
  NODES,
  PODS,
  RESOURCES,
  SERVICES,
  specForObjects,
} from '../src/index.ts';

const cluster = defineCluster();
const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`;

describe('the default cluster', () => {
  it('has the smallest published size', () => {
    expect(cluster.spec.pods + cluster.spec.services).toBe(15_820);
    const counts = RESOURCES.map((resource) => [resource.name, resource.count(cluster)]);
    expect(Object.fromEntries(counts)).toEqual({
      namespaces: 50,
      services: 820,
      endpointslices: 820,
      pods: 15_000,
      nodes: 137,
    });
  });

  it('enumerates exactly as many objects as it counts', () => {
    for (const resource of RESOURCES) {
      expect([...resource.objects(cluster, 0)]).toHaveLength(resource.count(cluster));
    }
  });

  it('has no two objects with the same name, id or resource version', () => {
    const ids = new Set<string>();
    const versions = new Set<string>();
    let total = 0;
    for (const resource of RESOURCES) {
      const names = new Set<string>();
      for (const object of resource.objects(cluster, 0)) {
        names.add(keyOf(object));
        ids.add(String(object.metadata.uid));
        versions.add(object.metadata.resourceVersion);
        total++;
      }
      expect(names.size).toBe(resource.count(cluster));
    }
    expect([ids.size, versions.size]).toEqual([total, total]);
  });

  it('is the same every time, and another with another seed', () => {
    const pods = (seed: number) => JSON.stringify([...PODS.objects(defineCluster({ pods: 200, seed }), 0)]);
    expect(pods(1)).toBe(pods(1));
    expect(pods(2)).not.toBe(pods(1));
  });

  it('continues from any position', () => {
    const large = defineCluster({ services: 7, pods: 30, endpoints: 1500, dualStack: true });
    for (const resource of [NAMESPACES, SERVICES, ENDPOINT_SLICES, PODS, NODES]) {
      const all = [...resource.objects(large, 0)].map(keyOf);
      for (let from = 0; from <= all.length; from++) {
        expect([...resource.objects(large, from)].map(keyOf)).toEqual(all.slice(from));
      }
    }
  });
});

const SHAPES: ClusterInput[] = [
  {},
  { services: 1, pods: 1 },
  { services: 8200, pods: 150_000 },
  { services: 7, pods: 100, endpoints: 350 },
  { services: 30, pods: 100, endpoints: 20 },
  { services: 10, pods: 0 },
  { services: 0, pods: 10 },
];

describe.each(SHAPES)('of a cluster with %o', (input) => {
  const made = defineCluster({ namespaces: 9, ...input });
  const { services, pods, endpoints, headless } = made.spec;

  it('each endpoint is in one service, and each service has its share', () => {
    let next = 0;
    for (let index = 0; index < services; index++) {
      const { firstEndpoint, endpointCount } = made.service(index);
      expect(firstEndpoint).toBe(next);
      next += endpointCount;
      expect(Math.abs(endpointCount - endpoints / services)).toBeLessThan(1);
    }
    expect(next).toBe(endpoints);
  });

  it('services and pods know each other', () => {
    for (let index = 0; index < pods; index += 1 + Math.floor(pods / 500)) {
      for (const endpoint of made.endpointsOfPod(index)) {
        expect(made.podOfEndpoint(endpoint)).toBe(index);
        const { firstEndpoint, endpointCount } = made.service(made.serviceOfEndpoint(endpoint));
        expect(endpoint - firstEndpoint).toBeGreaterThanOrEqual(0);
        expect(endpoint - firstEndpoint).toBeLessThan(endpointCount);
      }
      const { service, namespace } = made.pod(index);
      if (service !== null) expect(made.service(service).namespace).toBe(namespace);
    }
  });

  it('the share of headless services is as asked, and each is found by its number', () => {
    const all = Array.from({ length: services }, (_, index) => made.service(index));
    const found = all.filter((service) => service.headless);
    expect(Math.abs(found.length - services * headless)).toBeLessThan(1);
    expect(made.headlessServices).toBe(found.length);
    for (const kind of [true, false]) {
      const indexes = all.filter((service) => service.headless === kind).map(({ index }) => index);
      expect(indexes.map((_, n) => made.nthService(kind, n))).toEqual(indexes);
    }
  });

  it('addresses are unique', () => {
    const addresses = new Set<string>();
    let total = 0;
    for (let index = 0; index < services; index++) {
      for (const address of made.service(index).addresses) {
        addresses.add(address);
        total++;
      }
    }
    for (let index = 0; index < pods; index++) {
      addresses.add(made.pod(index).addresses[0] ?? '');
      total++;
    }
    expect(addresses.size).toBe(total);
  });
});

it('a million pods and services stay within their ranges', () => {
  const huge = defineCluster({ services: 1_000_000, pods: 1_000_000, dualStack: true });
  expect(huge.service(999_998).addresses).toEqual(['10.111.67.62', 'fd00:10:96::f:433e']);
  expect(huge.pod(999_999).addresses).toEqual(['10.163.130.101', 'fd00:10:128:2383::65']);
});

it('published sizes are made from their number of objects', () => {
  expect([0, 15_820, 63_280, 158_200].map(specForObjects)).toEqual([
    { services: 0, pods: 0 },
    { services: 820, pods: 15_000 },
    { services: 3280, pods: 60_000 },
    { services: 8200, pods: 150_000 },
  ]);
});

describe('a description that is not valid', () => {
  it.each([
    [{ services: -1 }, ['services cannot be -1']],
    [{ pods: 1.5, headless: 2 }, ['pods cannot be 1.5', 'headless cannot be 2']],
    [{ pod: 5 }, ['unknown key "pod"']],
    [{ domain: 'Cluster Local' }, ['domain cannot be "Cluster Local"']],
    [
      { services: 0, endpoints: 5 },
      ['5 endpoints need services and pods, but there are 0 services and 15000 pods'],
    ],
  ])('%o is refused with all its problems', (input, problems) => {
    const define = () => defineCluster(input as ClusterInput);
    expect(define).toThrow(ClusterError);
    try {
      define();
    } catch (error) {
      const found = error instanceof ClusterError ? error.problems : [];
      expect(found.map(({ problem }) => problem)).toEqual(problems);
      for (const { fix } of found) expect(fix).not.toBe('');
    }
  });
});
