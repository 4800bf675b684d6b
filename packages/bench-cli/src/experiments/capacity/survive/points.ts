/** What is searched for: sizes of clusters, and versions of CoreDNS with their settings. Pure. */
import { type ClusterSpec, defineCluster } from '@dinodns-bench/cluster-objects';
import { canonicalServerName } from '../../../config/server-name.ts';
import { ratioFromText } from '../../../config/value-schemas.ts';
import type { Point, Subject } from '../../../engine/experiment.ts';
import type { EngineCase } from '../../../engine/record.ts';
import { BenchError } from '../../../errors.ts';
import { MAX_CREATION_RATE } from '../cluster/create-paced.ts';
import { createdFor } from '../cluster/synthetic-objects.ts';
import { type ConfigurationName, watchesPods } from '../configurations.ts';
import { serverWords } from '../figures.ts';
import { COMPANIONS_BYTES, clusterConfiguration, expectedBytes } from '../memory/points.ts';
import { PUBLISHED_SERVICE_SHARE } from '../memory/settings.ts';
import type { Size } from '../memory-basis.ts';
import { DEFAULT_SIZES, LISTS, SIZES, STREAMS_VARIABLE, type SurviveSettings } from './settings.ts';

/** What is compared: a version and what is set for it. */
export interface Variant {
  readonly server: string;
  readonly lists: (typeof LISTS)[number];
  /** `none`, or a share of the limit: `80%`. */
  readonly gomemlimit: string;
}

export interface SurvivePoint extends Variant {
  readonly key: string;
  readonly configuration: ConfigurationName;
  /** Pods and services. */
  readonly objects: number;
  readonly cluster: ClusterSpec;
}

/** What was decided of a run. */
export interface SurvivePlan {
  readonly lanes: number;
  /** No larger limit is tried. */
  readonly mostBytes: number;
  /** With the objects that were counted, instead of `--from-cluster`; null without that. */
  readonly counted: { readonly settings: SurviveSettings; readonly text: string } | null;
}

/** Of the Services whose endpoints are replaced at once; on a cluster, of the endpoints. */
export const REPLACED_SHARE = 0.1;

/** How a run on a cluster differs from one on this machine, in sentences: for plans and reports. */
export function clusterText(points: readonly Pick<SurvivePoint, 'configuration' | 'objects'>[]): string {
  return [
    'On a cluster, the API server itself is not restarted: CoreDNS reads it through a program in its pod, which acts as if the API server restarted or were away.',
    ...(points.some(({ objects }) => objects > 0)
      ? [
          `Endpoints of synthetic Services are replaced with at most ${MAX_CREATION_RATE} changes a second; the program keeps the changes back and passes them on at once.`,
        ]
      : []),
    ...(points.some(({ objects }) => objects === 0)
      ? ['With 0 objects, no endpoints are replaced: those of the cluster belong to others.']
      : []),
    ...(points.some(({ configuration }) => watchesPods(configuration))
      ? ['Pods are not replaced with their endpoints.']
      : []),
    'CoreDNS reads the objects of the cluster as well.',
  ].join(' ');
}

function wrong(problem: string, fix: string): BenchError {
  return new BenchError('E_CONFIG', problem, { fix });
}

/** Of a list that goes with `--objects`: its entry, or `missing` where the list was not given. */
function beside(
  flag: string,
  values: readonly number[] | undefined,
  objects: readonly number[],
  missing: (index: number) => number,
): readonly number[] {
  if (values !== undefined && values.length !== objects.length)
    throw wrong(
      `${flag} has ${values.length} entries, and --objects has ${objects.length}`,
      `Give one for each size, or omit ${flag}.`,
    );
  return values ?? objects.map((_, index) => missing(index));
}

/** @throws BenchError `E_CONFIG` for counts that contradict each other */
export function sizesOf({
  size,
  objects,
  services,
  endpoints,
  fromCluster,
  target,
}: SurviveSettings): readonly Size[] {
  const given = [
    ...(fromCluster ? ['--from-cluster'] : []),
    ...(size === undefined ? [] : ['--size']),
    ...(objects === undefined ? [] : ['--objects']),
  ];
  if (given.length > 1)
    throw wrong(`${given.slice(0, 2).join(' and ')} both say how large the cluster is`, 'Give one of them.');
  if (objects === undefined) {
    if (services !== undefined || endpoints !== undefined)
      throw wrong(
        '--services and --endpoints need --objects',
        'Give --objects as well: pods and services together.',
      );
    return (size ?? DEFAULT_SIZES[target]).map((name) => SIZES[name]);
  }
  const served = beside('--services', services, objects, (at) =>
    Math.round((objects[at] ?? 0) * PUBLISHED_SERVICE_SHARE),
  );
  const pods = objects.map((count, at) => count - (served[at] ?? 0));
  const behind = beside('--endpoints', endpoints, objects, (at) => pods[at] ?? 0);
  return objects.map((count, at) => {
    const [own = 0, rest = 0, addresses = 0] = [served[at], pods[at], behind[at]];
    // A cluster has objects of its own.
    if (count === 0 && target === 'kubernetes') return { services: 0, pods: 0, endpoints: 0 };
    if (own < 1 || rest < 1)
      throw wrong(
        `--services: ${own} of ${count} objects leave ${Math.max(0, rest)} pods`,
        'Give at least one service and one pod: --objects counts both.',
      );
    return { services: own, pods: rest, endpoints: addresses };
  });
}

function variantsOf({ servers, factors }: SurviveSettings): Variant[] {
  const { lists = ['default'], gomemlimit = ['none'] } = factors;
  return servers
    .map(canonicalServerName)
    .flatMap((server) =>
      lists.flatMap((list) => gomemlimit.map((limit) => variantNamed(`${server}/${list}/${limit}`))),
    );
}

/** What is set in the environment of CoreDNS. */
export function environmentOf(
  { lists, gomemlimit }: Variant,
  limitBytes: number,
  target: SurviveSettings['target'],
): Readonly<Record<string, string>> {
  const share = ratioFromText(gomemlimit);
  return {
    ...(lists === 'streamed' ? { [STREAMS_VARIABLE]: 'true' } : {}),
    // Our API server offers none then.
    ...(lists === 'paged' && target === 'kubernetes' ? { [STREAMS_VARIABLE]: 'false' } : {}),
    ...(typeof share === 'number' ? { GOMEMLIMIT: `${Math.floor(limitBytes * share)}B` } : {}),
  };
}

export const subjectNameOf = ({ server, lists, gomemlimit }: Variant) => `${server}/${lists}/${gomemlimit}`;

export function variantNamed(name: string): Variant {
  const [server = '', word, gomemlimit = 'none'] = name.split('/');
  return { server, lists: LISTS.find((each) => each === word) ?? 'default', gomemlimit };
}

/** Settings are named where they are varied, or not the default. */
export function subjectsOf(settings: SurviveSettings): Subject[] {
  const variants = variantsOf(settings);
  const isVaried = (of: (variant: Variant) => string, usual: string) =>
    variants.some((variant) => of(variant) !== usual);
  return variants.map((variant) => {
    const { server, lists, gomemlimit } = variant;
    const words = [
      serverWords(server),
      ...(isVaried((each) => each.lists, 'default') ? [`${lists} lists`] : []),
      ...(isVaried((each) => each.gomemlimit, 'none')
        ? [gomemlimit === 'none' ? 'no GOMEMLIMIT' : `GOMEMLIMIT ${gomemlimit.replace('%', '\u00a0%')}`]
        : []),
    ];
    return { name: subjectNameOf(variant), title: words.join(', ') };
  });
}

function pointFor(variant: Variant, configuration: ConfigurationName, size: Size): SurvivePoint {
  const { services, pods, endpoints } = size;
  const objects = services + pods;
  return {
    ...variant,
    ...{ configuration, objects },
    key: `${subjectNameOf(variant)}/${configuration}/${objects}/${services}/${endpoints}`,
    cluster: defineCluster({ services, pods, endpoints }).spec,
  };
}

export function pointsOf(settings: SurviveSettings, sizes: readonly Size[]): SurvivePoint[] {
  const { config = ['default'] } = settings.factors;
  // The setting takes no others.
  const configurations = config as readonly ConfigurationName[];
  return sizes.flatMap((size) =>
    configurations.flatMap((name) => variantsOf(settings).map((variant) => pointFor(variant, name, size))),
  );
}

/** What is varied besides version and settings. */
export function enginePoint({ configuration, objects, cluster }: SurvivePoint): Point {
  const { services, endpoints } = cluster;
  return { configuration, objects, services, endpoints };
}

/** The inverse. */
export function pointOf({ subject, point }: Pick<EngineCase, 'subject' | 'point'>): SurvivePoint {
  const [objects, services, endpoints] = [
    Number(point.objects),
    Number(point.services),
    Number(point.endpoints),
  ];
  // The plan has no other names.
  const configuration = point.configuration as ConfigurationName;
  return pointFor(variantNamed(subject), configuration, { services, pods: objects - services, endpoints });
}

/** Where the search begins: what a start is expected to need at its largest moment, rounded up. */
export function firstLimit(point: SurvivePoint): number {
  return expectedBytes(point) - COMPANIONS_BYTES;
}

/**
 * Of a start, measured on two CPUs, and only to tell the time left: what it does besides its outage, and how long CoreDNS then waits
 * before it reads again, twice as client-go does (`patience.ts`).
 */
const ACTIVE_SECONDS = 20;
const SECONDS_PER_OBJECT = 0.0002;
const WAIT_OF_OUTAGE = 2.5;
const LONGEST_WAIT_SECONDS = 65;

/** On a cluster, a pod has to start and to end, and endpoints are replaced at a pace. */
const CLUSTER_SECONDS = 20;

/** A search bisects, and whenever a start that should decide is killed, the next larger limit needs all of them again. */
const OTHER_STARTS = 5;
const REPEATED_SHARE = 0.7;

/** `together`: how many starts are side by side; all but their outages is done one start at a time. */
export function expectedSeconds(
  point: SurvivePoint,
  { outage, starts, target }: Pick<SurviveSettings, 'outage' | 'starts' | 'target'>,
  lanes: number,
  together: number,
): number {
  const { services, pods, endpoints } = point.cluster;
  const read = services + endpoints + (point.configuration === 'default' ? 0 : pods);
  const isCluster = target === 'kubernetes';
  const active = ACTIVE_SECONDS + (isCluster ? CLUSTER_SECONDS : 0) + read * SECONDS_PER_OBJECT;
  const away = outage + Math.min(WAIT_OF_OUTAGE * outage, LONGEST_WAIT_SECONDS);
  // The others are active while one waits.
  const search = (OTHER_STARTS + starts * (1 + REPEATED_SHARE)) * (together * active + away);
  const created = isCluster ? createdFor(point.cluster, clusterConfiguration(point.configuration)) : 0;
  // The engine divides by the lanes.
  return (search / together) * lanes + created / MAX_CREATION_RATE;
}
