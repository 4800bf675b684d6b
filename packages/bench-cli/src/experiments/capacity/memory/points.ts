/** The points of a measurement: which cluster, read by which version in which configuration; and what a start of it takes. Pure. */
import { type ClusterInput, type ClusterSpec, defineCluster } from '@dinodns-bench/cluster-objects';
import { canonicalServerName } from '../../../config/server-name.ts';
import type { Point } from '../../../engine/experiment.ts';
import { claimsOf, type EngineCase } from '../../../engine/record.ts';
import { BenchError } from '../../../errors.ts';
import { formatCount } from '../../../report/numbers.ts';
import { formatDuration } from '../../../text.ts';
import { MAX_CREATION_RATE } from '../cluster/create-paced.ts';
import { demandBounded } from '../cluster/settings.ts';
import { createdFor, type SyntheticSize } from '../cluster/synthetic-objects.ts';
import { CONFIGURATION_NAMES, type ConfigurationName, watchesPods } from '../configurations.ts';
import type { Configuration } from '../published.ts';
import { type MemorySettings, PUBLISHED_SERVICE_SHARE } from './settings.ts';

interface Shape {
  /** Pods and services. */
  readonly objects: number;
  readonly serviceShare: number;
  readonly endpointsPerPod: number;
  readonly headless: number;
}

export interface MemoryPoint extends Shape {
  /** `coredns-cluster@1.15.0/autopath/158200`, and what differs from the published proportions. */
  readonly key: string;
  readonly server: string;
  readonly configuration: ConfigurationName;
  readonly cluster: ClusterSpec;
}

function clusterOf({ objects, serviceShare, endpointsPerPod, headless }: Shape): ClusterSpec {
  const services = Math.round(objects * serviceShare);
  const pods = objects - services;
  const endpoints = services === 0 ? 0 : Math.round(pods * endpointsPerPod);
  const input: ClusterInput = { services, pods, endpoints, headless };
  return defineCluster(input).spec;
}

/** Where none are given. On a cluster: far enough apart for a line that may be used for twice as many, few enough for any cluster. */
const OBJECTS = { local: [0, 15_820, 63_280, 158_200], kubernetes: [0, 2000] } as const;

/** On a cluster, pods are created on request only. */
const CONFIGURATIONS_MEASURED = {
  local: ['default', 'autopath'],
  kubernetes: ['default'],
} as const satisfies Record<string, readonly ConfigurationName[]>;

/** As published. On a cluster, the program beside CoreDNS asks; more would take the CPU from it. */
export const RATES = { local: 30_000, kubernetes: 2000 } as const;

/** @throws BenchError `E_CONFIG` for more than a cluster is asked */
export function rateOf({ target, rate = RATES[target] }: Pick<MemorySettings, 'target' | 'rate'>): number {
  if (target === 'local' || rate <= RATES.kubernetes) return rate;
  throw new BenchError(
    'E_CONFIG',
    `--rate: ${formatCount(rate)} queries a second are more than a cluster is asked (${formatCount(RATES.kubernetes)})`,
    { fix: 'Lower it, or omit it. Memory hardly depends on the rate.' },
  );
}

/** @throws BenchError `E_CONFIG` for one that a cluster is not asked for */
export function clusterConfiguration(name: ConfigurationName): Configuration {
  if (name === 'default' || name === 'autopath') return name;
  throw new BenchError('E_CONFIG', `the configuration "${name}" is measured on one machine only`, {
    fix: 'On a cluster, measure default, autopath or both.',
  });
}

function shapesOf(settings: MemorySettings): Shape[] {
  const { objects: sizes = OBJECTS[settings.target] } = settings;
  return sizes.flatMap((objects) =>
    settings.serviceShare.flatMap((serviceShare) =>
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
  return objects === 0 ? '0' : [objects, ...extras].join('/');
}

const NOTHING: Shape = {
  objects: 0,
  serviceShare: PUBLISHED_SERVICE_SHARE,
  endpointsPerPod: 1,
  headless: 0.1,
};

function pointFor(server: string, configuration: ConfigurationName, shape: Shape): MemoryPoint {
  const key = `${server}/${configuration}/${shapeText(shape)}`;
  return { ...shape, key, server, configuration, cluster: clusterOf(shape) };
}

/** Every combination of the axes. Shapes that come out the same are one: no objects have no shares. */
export function memoryPoints(settings: MemorySettings): MemoryPoint[] {
  const { configurations = CONFIGURATIONS_MEASURED[settings.target] } = settings;
  const shapes = shapesOf(settings).map((shape) => (shape.objects === 0 ? NOTHING : shape));
  const points = settings.servers
    .map(canonicalServerName)
    .flatMap((server) =>
      configurations.flatMap((configuration) =>
        shapes.map((shape) => pointFor(server, configuration, shape)),
      ),
    );
  return [...new Map(points.map((point) => [point.key, point])).values()];
}

/** What is varied besides the server. */
export function enginePoint(point: MemoryPoint, target: MemorySettings['target']): Point {
  return {
    configuration: point.configuration,
    objects: point.objects,
    'service share': point.serviceShare,
    'endpoints per pod': point.endpointsPerPod,
    // On a cluster, that depends on how many Services there are.
    ...(target === 'local' && { 'headless share': point.headless }),
  };
}

/** The inverse of `enginePoint`. */
export function pointOf({ subject, point }: Pick<EngineCase, 'subject' | 'point'>): MemoryPoint {
  const configuration = CONFIGURATION_NAMES.find((name) => name === point.configuration);
  if (configuration === undefined) throw new Error(`no configuration ${point.configuration}`);
  return pointFor(subject, configuration, {
    objects: Number(point.objects),
    serviceShare: Number(point['service share']),
    endpointsPerPod: Number(point['endpoints per pod']),
    headless: Number(point['headless share'] ?? NOTHING.headless),
  });
}

/** What CoreDNS could read at a point. */
export interface Counts {
  readonly objects: number;
  readonly services: number;
  readonly pods: number;
  readonly endpoints: number;
}

/** A case of a record, and what it was about. */
export interface MemoryCase
  extends Counts,
    Pick<MemoryPoint, 'key' | 'server' | 'configuration'>,
    Pick<EngineCase, 'summary'> {
  /** Whether nothing but the size was varied: as published. */
  readonly isPlain: boolean;
}

/** The cases of a record, without the twin of `--aa`. */
export function memoryCases(record: { readonly cases: readonly EngineCase[] }): MemoryCase[] {
  return claimsOf(record).map((item) => {
    const { server, configuration, cluster, ...shape } = pointOf(item);
    const { services, pods, endpoints } = cluster;
    const isPlain = shapeText(shape) === String(shape.objects);
    const { key, summary } = item;
    return {
      key,
      summary,
      server,
      configuration,
      objects: shape.objects,
      services,
      pods,
      endpoints,
      isPlain,
    };
  });
}

/** CoreDNS without objects, the pages of its program included; its API server, its upstream and a loader. */
const BASE_BYTES = 90e6;
export const COMPANIONS_BYTES = 250e6;

/**
 * Bytes for each object at the largest moment, rounded up: CoreDNS 1.15.0 peaks at 2.5 GB when it reads 158,200 objects again
 * with all pods in memory, 1.11.3 at less; without pods, only services and endpoints count.
 */
const PEAK_BYTES_PER_OBJECT = 17_000;
const PEAK_BYTES_PER_ENDPOINT = 3_000;

/** What a start is expected to need at its largest moment, with all that runs beside it. */
export function expectedBytes({
  configuration,
  objects,
  cluster,
}: Pick<MemoryPoint, 'configuration' | 'objects' | 'cluster'>): number {
  const read = watchesPods(configuration)
    ? objects * PEAK_BYTES_PER_OBJECT
    : (cluster.services + cluster.endpoints) * PEAK_BYTES_PER_ENDPOINT;
  return BASE_BYTES + COMPANIONS_BYTES + read;
}

/** More at once only make each other slow: every one has a server, an API server and an upstream. */
export function maxLanes(cpus: number): number {
  return Math.max(2, Math.ceil(cpus * 2));
}

/**
 * Seconds of a start without objects, and for each object that is read: measured, and only to tell the time left. Starts side by
 * side wait for each other, since their loads run one at a time; those on a cluster for pods and kubelets.
 */
const BASE_SECONDS = { local: 35, kubernetes: 90 } as const;
const QUICK_SECONDS = { local: 15, kubernetes: 50 } as const;
const SECONDS_PER_LANE = 5;
const SECONDS_PER_OBJECT = 0.000_3;

export function expectedSeconds(
  point: MemoryPoint,
  { target, quick }: MemorySettings,
  lanes: number,
): number {
  const { configuration, objects, cluster } = point;
  const base = (quick ? QUICK_SECONDS : BASE_SECONDS)[target];
  if (target === 'kubernetes')
    return base + createdFor(createdSize(point), clusterConfiguration(configuration)) / MAX_CREATION_RATE;
  const read = watchesPods(configuration) ? objects + cluster.endpoints : cluster.endpoints / 4;
  return base + SECONDS_PER_LANE * lanes + read * SECONDS_PER_OBJECT;
}

/** On a cluster, few Services have an address, whatever the point says. */
export function createdSize({ cluster }: Pick<MemoryPoint, 'cluster'>): SyntheticSize {
  const { services, pods, endpoints } = cluster;
  return { services, pods, endpoints };
}

/** What a plan says of a point. */
export function detailsOf({ configuration, cluster }: MemoryPoint, { target }: MemorySettings): string {
  if (target === 'kubernetes') {
    const created = createdFor(createdSize({ cluster }), clusterConfiguration(configuration));
    return `${formatCount(created)} objects created in ${formatDuration(created / MAX_CREATION_RATE)} at least`;
  }
  const { services, pods, endpoints } = cluster;
  return `${formatCount(services)} services, ${formatCount(pods)} pods, ${formatCount(endpoints)} endpoints`;
}

/** @throws BenchError `E_CONFIG` or `E_USAGE` if a point cannot be measured even alone, or is more than the cluster may be given */
export function demandRoom(
  points: readonly Pick<MemoryPoint, 'key' | 'configuration' | 'objects' | 'cluster'>[],
  { target, maxObjects }: Pick<MemorySettings, 'target' | 'maxObjects'>,
  budgetBytes: number,
): void {
  if (target === 'kubernetes') {
    for (const { objects, configuration } of points) {
      clusterConfiguration(configuration);
      demandBounded(objects, maxObjects);
    }
    return;
  }
  const [largest] = points.toSorted((a, b) => expectedBytes(b) - expectedBytes(a));
  if (largest === undefined || expectedBytes(largest) <= budgetBytes) return;
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  throw new BenchError(
    'E_CONFIG',
    `${largest.key} is expected to need ${gigabytes(expectedBytes(largest))}, and --memory allows ${gigabytes(budgetBytes)}`,
    { fix: 'Allow more with --memory, or measure fewer --objects.' },
  );
}
