/** The points of a measurement: which cluster, read by which version in which configuration; and in which order. Pure. */
import { type ClusterInput, type ClusterSpec, defineCluster } from '@dinodns-bench/cluster-objects';
import { canonicalServerName } from '../../../config/server-name.ts';
import { type ConfigurationName, watchesPods } from '../configurations.ts';
import { type MemorySettings, PUBLISHED_SERVICE_SHARE } from './settings.ts';

export interface MemoryPoint {
  /** `coredns-cluster@1.15.0/autopath/158200`, and what differs from the published proportions. */
  readonly key: string;
  readonly server: string;
  readonly configuration: ConfigurationName;
  /** Pods and services. */
  readonly objects: number;
  readonly cluster: ClusterSpec;
}

export interface PlannedStart {
  readonly point: MemoryPoint;
  /** From 1. */
  readonly start: number;
}

interface Shape {
  readonly objects: number;
  readonly serviceShare: number;
  readonly endpointsPerPod: number;
  readonly headless: number;
}

function clusterOf({ objects, serviceShare, endpointsPerPod, headless }: Shape): ClusterSpec {
  const services = Math.round(objects * serviceShare);
  const pods = objects - services;
  const endpoints = services === 0 ? 0 : Math.round(pods * endpointsPerPod);
  const input: ClusterInput = { services, pods, endpoints, headless };
  return defineCluster(input).spec;
}

function shapesOf(settings: MemorySettings): Shape[] {
  return settings.objects.flatMap((objects) =>
    settings.serviceShares.flatMap((serviceShare) =>
      settings.endpointsPerPod.flatMap((endpointsPerPod) =>
        settings.headless.map((headless) => ({ objects, serviceShare, endpointsPerPod, headless })),
      ),
    ),
  );
}

/** The size, then what is not as published. */
function shapeText({ objects, serviceShare, endpointsPerPod, headless }: Shape): string {
  const extras = [
    serviceShare === PUBLISHED_SERVICE_SHARE ? '' : `services=${serviceShare}`,
    endpointsPerPod === 1 ? '' : `endpoints=${endpointsPerPod}`,
    headless === 0.1 ? '' : `headless=${headless}`,
  ].filter((extra) => extra !== '');
  return [objects, ...extras].join('/');
}

/** Every combination of the axes. Shapes that come out the same are one: no objects have no shares. */
export function memoryPoints(settings: MemorySettings): MemoryPoint[] {
  const points = settings.servers.flatMap((name) =>
    settings.configurations.flatMap((configuration) =>
      shapesOf(settings).map((shape): MemoryPoint => {
        const server = canonicalServerName(name);
        const text = shape.objects === 0 ? '0' : shapeText(shape);
        return {
          key: `${server}/${configuration}/${text}`,
          server,
          configuration,
          objects: shape.objects,
          cluster: clusterOf(shape),
        };
      }),
    ),
  );
  return [...new Map(points.map((point) => [point.key, point])).values()];
}

/** CoreDNS without objects, the pages of its program included; its API server, its upstream and a loader. */
const BASE_BYTES = 90e6;
const COMPANIONS_BYTES = 250e6;

/**
 * Bytes for each object at the largest moment, rounded up: CoreDNS 1.15.0 peaks at 2.5 GB when it reads 158,200 objects again
 * with all pods in memory, 1.11.3 at less; without pods, only services and endpoints count.
 */
const PEAK_BYTES_PER_OBJECT = 17_000;
const PEAK_BYTES_PER_ENDPOINT = 3_000;

/** What a start is expected to need at its largest moment, with all that runs beside it. */
export function expectedBytes({ configuration, objects, cluster }: MemoryPoint): number {
  const read = watchesPods(configuration)
    ? objects * PEAK_BYTES_PER_OBJECT
    : (cluster.services + cluster.endpoints) * PEAK_BYTES_PER_ENDPOINT;
  return BASE_BYTES + COMPANIONS_BYTES + read;
}

/** Seconds of a start without objects, and for each object that is read; measured, and only to tell the time left. */
const BASE_SECONDS = 40;
const SECONDS_PER_OBJECT = 0.000_3;

export function expectedSeconds({ configuration, objects, cluster }: MemoryPoint): number {
  const read = watchesPods(configuration) ? objects + cluster.endpoints : cluster.endpoints / 4;
  return BASE_SECONDS + read * SECONDS_PER_OBJECT;
}

/**
 * All starts, interleaved: every point once, then every point again, so that whatever changes on the machine meets all
 * of them. Within a round the largest come first: the small ones fill what is left of the memory.
 */
export function planStarts(points: readonly MemoryPoint[], starts: number): PlannedStart[] {
  const largestFirst = points.toSorted((a, b) => expectedBytes(b) - expectedBytes(a));
  return Array.from({ length: starts }, (_, index) =>
    largestFirst.map((point) => ({ point, start: index + 1 })),
  ).flat();
}
