/**
 * A cluster as arithmetic: every service, pod and endpoint is made from its index when it is asked for. So a cluster
 * of any size takes no memory, and its objects, its DNS names and their answers cannot disagree.
 *
 * Services are in blocks over the namespaces, endpoints in blocks over the services. Endpoint `e` is pod `e` (modulo the
 * number of pods), and a pod lives in the namespace of its first service.
 */
import { type Addresses, nodeOfPod, PODS_PER_NODE, podAddresses, serviceAddresses } from './addresses.ts';
import { suffix } from './hash.ts';
import { type ClusterInput, type ClusterSpec, parseClusterSpec } from './spec.ts';

/** What a hash is for, so that the same index gives different texts. */
export const KIND = { namespace: 1, service: 2, pod: 3, replicaSet: 4, slice: 5, node: 6 } as const;

/** The one port of every service. */
export const SERVICE_PORT = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' } as const;

export interface Service {
  readonly index: number;
  readonly name: string;
  readonly namespace: string;
  /** Without an address of its own: its name has the addresses of its endpoints. */
  readonly headless: boolean;
  /** None if it is headless. */
  readonly addresses: Addresses;
  readonly firstEndpoint: number;
  readonly endpointCount: number;
}

export interface Pod {
  readonly index: number;
  readonly name: string;
  readonly namespace: string;
  readonly addresses: Addresses;
  readonly node: number;
  /** The service that it was made for; null if it backs none. */
  readonly service: number | null;
  /** Its name within a headless service; null if it is not of a stateful set. */
  readonly hostname: string | null;
}

/** Digits of the numbers in names: at least three or five, so that names sort as they are numbered. */
function digits(count: number, least: number): number {
  return Math.max(least, String(Math.max(0, count - 1)).length);
}

export class Cluster {
  readonly spec: ClusterSpec;
  readonly nodes: number;
  readonly #serviceDigits: number;
  readonly #namespaceDigits: number;

  constructor(spec: ClusterSpec) {
    this.spec = spec;
    this.nodes = Math.ceil(spec.pods / PODS_PER_NODE);
    this.#serviceDigits = digits(spec.services, 5);
    this.#namespaceDigits = digits(spec.namespaces, 3);
  }

  namespaceName(index: number): string {
    return `team-${String(index).padStart(this.#namespaceDigits, '0')}`;
  }

  nodeName(index: number): string {
    return `node-${String(index).padStart(5, '0')}`;
  }

  /** The service of an index from 0 to `spec.services` − 1; larger ones continue the pattern, without endpoints. */
  service(index: number): Service {
    const { services, namespaces, dualStack } = this.spec;
    const isOurs = index < services;
    const headless = isOurs && this.#isHeadless(index);
    const firstEndpoint = this.#firstEndpoint(Math.min(index, services));
    return {
      index,
      name: `${headless ? 'db' : 'web'}-${String(index).padStart(this.#serviceDigits, '0')}`,
      namespace: this.namespaceName(
        isOurs ? Math.floor((index * namespaces) / services) : index % namespaces,
      ),
      headless,
      addresses: headless ? [] : serviceAddresses(index, dualStack),
      firstEndpoint,
      endpointCount: isOurs ? this.#firstEndpoint(index + 1) - firstEndpoint : 0,
    };
  }

  pod(index: number): Pod {
    const { endpoints, namespaces, dualStack, seed } = this.spec;
    const addresses = podAddresses(index, dualStack);
    const common = { index, addresses, node: nodeOfPod(index) };
    const ending = suffix(seed, KIND.pod, index);
    if (index >= endpoints) {
      const name = `job-${String(index).padStart(6, '0')}-${ending}`;
      return {
        ...common,
        name,
        namespace: this.namespaceName(index % namespaces),
        service: null,
        hostname: null,
      };
    }
    const owner = this.service(this.serviceOfEndpoint(index));
    const ofService = { ...common, namespace: owner.namespace, service: owner.index };
    if (owner.headless) {
      const name = `${owner.name}-${index - owner.firstEndpoint}`;
      return { ...ofService, name, hostname: name };
    }
    const name = `${owner.name}-${replicaSetHash(seed, owner.index)}-${ending}`;
    return { ...ofService, name, hostname: null };
  }

  /** How many services are headless. */
  get headlessServices(): number {
    return this.#headlessBefore(this.spec.services);
  }

  /** The index of the `n`th headless service, or of the `n`th other one; from 0. */
  nthService(headless: boolean, n: number): number {
    let low = 0;
    let high = this.spec.services - 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const before = this.#headlessBefore(middle + 1);
      if ((headless ? before : middle + 1 - before) > n) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The pod behind an endpoint. */
  podOfEndpoint(endpoint: number): number {
    return endpoint % this.spec.pods;
  }

  /** The service that an endpoint belongs to. */
  serviceOfEndpoint(endpoint: number): number {
    const { services, endpoints } = this.spec;
    return Math.floor(((endpoint + 1) * services - 1) / endpoints);
  }

  /** The endpoints that a pod is. */
  endpointsOfPod(pod: number): number[] {
    const { pods, endpoints } = this.spec;
    const found: number[] = [];
    for (let endpoint = pod; endpoint < endpoints; endpoint += pods) found.push(endpoint);
    return found;
  }

  /** Spread evenly: whenever the count of the headless ones up to here rises. */
  #isHeadless(service: number): boolean {
    return this.#headlessBefore(service + 1) > this.#headlessBefore(service);
  }

  #headlessBefore(service: number): number {
    return Math.floor(service * this.spec.headless);
  }

  #firstEndpoint(service: number): number {
    const { services, endpoints } = this.spec;
    return services === 0 ? 0 : Math.floor((service * endpoints) / services);
  }
}

/** The hash of a pod template, as it is in the names of a Deployment's pods. */
export function replicaSetHash(seed: number, service: number): string {
  return suffix(seed, KIND.replicaSet, service) + suffix(seed, KIND.replicaSet, -1 - service);
}

/** Makes a cluster. @throws ClusterError `E_CLUSTER` with all problems. */
export function defineCluster(input: ClusterInput = {}): Cluster {
  return new Cluster(parseClusterSpec(input));
}

/** The cluster with this number of pods and services in the published proportion (15,000 to 820). */
export function specForObjects(objects: number): { readonly pods: number; readonly services: number } {
  const services = Math.round((objects * 820) / 15_820);
  return { services, pods: objects - services };
}
