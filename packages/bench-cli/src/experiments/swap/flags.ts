/** Flags of `bench swap`, as settings. */
import type { SettingName } from '../../config/settings.ts';
import { seconds } from '../../config/value-schemas.ts';
import { BenchError } from '../../errors.ts';
import type { World } from '../../world.ts';
import { parseWorkload, type WorkloadChoice } from './in-place/find-workload.ts';
import type { InPlaceSettings } from './in-place/in-place.ts';
import { parseSequence } from './in-place/placements.ts';
import { readOwnQueries } from './query-files.ts';

/** Settings of `bench run` that a swap has as well. */
export const SHARED_SETTINGS = [
  'context',
  'namespacePrefix',
  'loaderImage',
  'pullPolicy',
  'pullSecrets',
  'loaderNode',
  'loaderTolerations',
  'loaderCpu',
  'podLabels',
  'runAsUser',
  'observe',
  'scheduleTime',
  'readyTime',
  'out',
] as const satisfies readonly SettingName[];

/** As published. */
export const SWAP_DEFAULTS = {
  placements: 'ABBAABBA',
  rate: 2000,
  duration: 60,
  settle: 30,
  idle: 60,
  lease: 60,
  leaseNamespace: 'kube-system',
} as const;

/** A shorter one would expire between two renewals on a busy machine. */
const MIN_LEASE_SECONDS = 5;

type Values = Readonly<Record<string, unknown>>;

/** @throws BenchError `E_USAGE` for what is not a duration, or too short. */
export function secondsOf(
  values: Values,
  name: 'duration' | 'settle' | 'idle' | 'lease',
  minimum: number,
): number {
  const given = values[name];
  if (given === undefined) return SWAP_DEFAULTS[name];
  const parsed = seconds(minimum, '').safeParse(given);
  if (parsed.success) return parsed.data;
  throw new BenchError('E_USAGE', `--${name}: "${given}" must be a duration of at least ${minimum} seconds`, {
    fix: 'Give a duration, for example 30, 90s or 2m.',
  });
}

function rateOf({ rate = SWAP_DEFAULTS.rate }: Values): number {
  const value = Number(rate);
  if (Number.isFinite(value) && value > 0) return value;
  throw new BenchError('E_USAGE', `--rate: "${rate}" must be a number of queries per second above 0`, {
    fix: 'Give one rate, for example 2000.',
  });
}

const textOf = (values: Values, name: string) =>
  values[name] === undefined ? undefined : String(values[name]);

/** The DNS that the flags name; empty for that of the cluster. @throws BenchError `E_USAGE`. */
export function choiceOf(values: Values): WorkloadChoice {
  const workload = textOf(values, 'workload');
  const container = textOf(values, 'container');
  const service = textOf(values, 'service');
  return {
    ...(workload === undefined ? {} : { workload: parseWorkload(workload) }),
    ...(container === undefined ? {} : { container }),
    ...(service === undefined ? {} : { service }),
  };
}

/** The flags that say what is swapped in place, and how. @throws BenchError for any that is not valid. */
export async function inPlaceSettings(
  world: Pick<World, 'fs' | 'cwd'>,
  values: Values,
): Promise<InPlaceSettings> {
  const to = textOf(values, 'to');
  if (to === undefined) {
    throw new BenchError('E_USAGE', '--to is missing: the version or image to compare with', {
      fix: 'Name it: `bench swap --to 1.13.1`.',
    });
  }
  return {
    to,
    choice: choiceOf(values),
    sequence: parseSequence(textOf(values, 'placements') ?? SWAP_DEFAULTS.placements),
    settleSeconds: secondsOf(values, 'settle', 0),
    idleSeconds: secondsOf(values, 'idle', 0),
    durationSeconds: secondsOf(values, 'duration', 1),
    ratePerSecond: rateOf(values),
    leaseSeconds: secondsOf(values, 'lease', MIN_LEASE_SECONDS),
    leaseNamespace: textOf(values, 'leaseNamespace') ?? SWAP_DEFAULTS.leaseNamespace,
    ownQueries: await readOwnQueries(world, values),
  };
}

/** Those settings that were given as flags. */
export function sharedFlags(values: Values): Partial<Record<SettingName, unknown>> {
  return Object.fromEntries(
    SHARED_SETTINGS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
}
