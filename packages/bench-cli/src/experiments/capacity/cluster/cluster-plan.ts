/** What `bench capacity memory --target kubernetes` measures: what was typed, or what the run to resume says. Pure. */
import { BenchError } from '../../../errors.ts';
import { formatCount } from '../../../report/numbers.ts';
import { wholeNumber } from '../demand.ts';
import { memorySettings } from '../memory/settings.ts';
import type { Configuration } from '../published.ts';
import type { ClusterPoint, ClusterRecord } from './cluster-record.ts';
import { DEFAULT_MAX_OBJECTS, demandBounded } from './measure-on-cluster.ts';

/** Where none is given: enough to be seen above the scatter, few enough for any cluster. */
const DEFAULT_OBJECTS = [1000];

/** The program beside CoreDNS asks; more would take the CPU from it. */
const MAX_QUERIES_PER_SECOND = 2000;

/** Settings that mean something on one machine only. */
const LOCAL_ONLY = ['servers', 'serviceShares', 'endpointsPerPod', 'headless', 'sideBySide', 'memory'];

/** Under the names of the settings of `bench capacity memory`, as typed. */
export type Given = Readonly<Record<string, unknown>>;

export interface ClusterMemoryPlan {
  readonly objects: readonly number[];
  readonly configurations: readonly Configuration[];
  readonly starts: number;
  readonly rate: number;
  readonly maxObjects: number;
  readonly quick: boolean;
  readonly version: string | null;
}

/** @throws BenchError `E_USAGE` for a rate that was typed and is too high */
function rateOf(given: Given, rate: number): number {
  if (rate <= MAX_QUERIES_PER_SECOND || given.rate === undefined)
    return Math.min(rate, MAX_QUERIES_PER_SECOND);
  throw new BenchError(
    'E_USAGE',
    `--rate: ${formatCount(rate)} queries a second are more than a cluster is asked (${formatCount(MAX_QUERIES_PER_SECOND)})`,
    { fix: 'Lower it, or omit it. Memory hardly depends on the rate.' },
  );
}

/** @throws BenchError `E_USAGE` or `E_CONFIG` for what a cluster is not asked */
export function planClusterMemory(given: Given, flags: Given): ClusterMemoryPlan {
  const unused = LOCAL_ONLY.filter((name) => given[name] !== undefined);
  if (unused.length > 0) {
    throw new BenchError('E_USAGE', `--target kubernetes has no ${unused.join(', ')}`, {
      fix: 'Omit what is for measurements on one machine.',
    });
  }
  const settings = memorySettings(given);
  const configurations = settings.configurations.map((name): Configuration => {
    if (name === 'default' || name === 'autopath') return name;
    throw new BenchError('E_USAGE', `--config: "${name}" is measured on one machine only`, {
      fix: 'On a cluster, give default, autopath or both.',
    });
  });
  const text = (name: string) => (flags[name] === undefined ? undefined : String(flags[name]));
  const plan = {
    objects: given.objects === undefined ? DEFAULT_OBJECTS : settings.objects,
    // Pods are created on request only.
    configurations: given.configurations === undefined ? (['default'] as const) : configurations,
    starts: settings.starts,
    rate: rateOf(given, settings.rate),
    maxObjects: wholeNumber('--max-objects', text('maxObjects'), DEFAULT_MAX_OBJECTS, 1),
    quick: settings.quick,
    version: text('corednsVersion') ?? null,
  };
  for (const objects of plan.objects) demandBounded(objects, plan.maxObjects);
  return plan;
}

/** The plan of a run that is resumed. */
export function planOf({ settings }: Pick<ClusterRecord, 'settings'>): ClusterMemoryPlan {
  const { maxObjects, version, ...given } = settings;
  return planClusterMemory(given, { maxObjects, corednsVersion: version ?? undefined });
}

/** What is still to be measured of a point: its objects must be created for each start that is missing. */
export interface MissingStarts {
  readonly configuration: Configuration;
  readonly objects: number;
  readonly starts: number;
}

const isAt = (point: ClusterPoint, { configuration, objects }: Omit<MissingStarts, 'starts'>) =>
  point.configuration === configuration && point.objects === objects;

export function missingStarts(
  { configurations, objects, starts }: ClusterMemoryPlan,
  points: readonly ClusterPoint[],
): MissingStarts[] {
  return configurations
    .flatMap((configuration) => objects.map((size) => ({ configuration, objects: size })))
    .map((at) => {
      const done = points.find((point) => isAt(point, at))?.starts.length ?? 0;
      return { ...at, starts: starts - done };
    })
    .filter((missing) => missing.starts > 0);
}

/** `points` with further starts of one of them; what it says of its objects is that of the last ones. */
export function withStarts(points: readonly ClusterPoint[], further: ClusterPoint): ClusterPoint[] {
  const before = points.find((point) => isAt(point, further));
  if (before === undefined) return [...points, further];
  const whole = { ...further, starts: [...before.starts, ...further.starts] };
  return points.map((point) => (point === before ? whole : point));
}
