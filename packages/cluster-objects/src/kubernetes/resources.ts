/** The kinds of objects that the API server has, and how each is enumerated from any position. */
import type { Cluster } from '../cluster/cluster.ts';
import type { KubeObject } from './object.ts';
import { namespaceObject, nodeObject, podObject, serviceObject, sliceCount, sliceObject } from './objects.ts';

export interface Resource {
  /** In addresses: `services`. */
  readonly name: string;
  readonly kind: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** How many the cluster has. */
  count(cluster: Cluster): number;
  /** All of them from a position on, in the order of their numbers. */
  objects(cluster: Cluster, from: number): Iterable<KubeObject>;
}

function numbered(
  count: (cluster: Cluster) => number,
  make: (cluster: Cluster, index: number) => KubeObject,
) {
  return {
    count,
    *objects(cluster: Cluster, from: number): Generator<KubeObject, void, void> {
      const end = count(cluster);
      for (let index = from; index < end; index++) yield make(cluster, index);
    },
  };
}

const CORE = { group: '', apiVersion: 'v1' } as const;

function countSlices(cluster: Cluster): number {
  let total = 0;
  for (let index = 0; index < cluster.spec.services; index++)
    total += sliceCount(cluster, cluster.service(index));
  return total;
}

function* slices(cluster: Cluster, from: number): Generator<KubeObject, void, void> {
  let skip = from;
  for (let index = 0; index < cluster.spec.services; index++) {
    const service = cluster.service(index);
    const count = sliceCount(cluster, service);
    for (let part = skip; part < count; part++) yield sliceObject(cluster, service, part);
    skip = Math.max(0, skip - count);
  }
}

export const NAMESPACES: Resource = {
  ...CORE,
  name: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  ...numbered(({ spec }) => spec.namespaces, namespaceObject),
};

export const SERVICES: Resource = {
  ...CORE,
  name: 'services',
  kind: 'Service',
  namespaced: true,
  ...numbered(
    ({ spec }) => spec.services,
    (cluster, index) => serviceObject(cluster, cluster.service(index)),
  ),
};

export const ENDPOINT_SLICES: Resource = {
  group: 'discovery.k8s.io',
  apiVersion: 'discovery.k8s.io/v1',
  name: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
  count: countSlices,
  objects: slices,
};

export const PODS: Resource = {
  ...CORE,
  name: 'pods',
  kind: 'Pod',
  namespaced: true,
  ...numbered(
    ({ spec }) => spec.pods,
    (cluster, index) => podObject(cluster, cluster.pod(index)),
  ),
};

export const NODES: Resource = {
  ...CORE,
  name: 'nodes',
  kind: 'Node',
  namespaced: false,
  ...numbered(({ nodes }) => nodes, nodeObject),
};

export const RESOURCES: readonly Resource[] = [NAMESPACES, SERVICES, ENDPOINT_SLICES, PODS, NODES];
