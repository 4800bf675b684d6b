/**
 * How long a step of a start may take before CoreDNS counts as stuck. Just below the limit that it needs, the kernel drops pages
 * of its program again and again instead of killing it: CoreDNS uses a CPU and gets nowhere, for minutes. Pure.
 */
import type { ClusterSpec } from '@dinodns-bench/cluster-objects';
import type { STEPS } from './evidence.ts';

export type Step = (typeof STEPS)[number];

/** How long each step took in a start that survived. */
export type StepSeconds = Readonly<Partial<Record<Step, number>>>;

/** Without such a start: a busy machine reads a few thousand objects a second. */
const BASE_SECONDS = 90;
const MIN_OBJECTS_PER_SECOND = 1000;

/** Of what the step took in the first start that survived: that had the most room. Chance and other load make no such factor. */
const FACTOR = 10;

/**
 * Below this, the machine's other work counts for more than memory. A cold start waits for two programs of ours first, each for
 * up to 20 s; a cache is filled by up to five loads, 31 s in all, each of which starts a load generator.
 */
const LEAST_SECONDS = 15;
const LEAST_OF_STEP: StepSeconds = { 'cold start': 55, 'full cache': 60 };

/**
 * After an outage, CoreDNS waits twice before it reads: for another attempt to connect, and after it was told that its version is
 * gone. Each wait is at most twice the time away, and at most a minute (client-go doubles its waits from 0.8 s to 30 s, and adds
 * up to as much by chance).
 */
const LONGEST_WAIT_SECONDS = 60;
const retrySeconds = (outageSeconds: number) => 2 * Math.min(LONGEST_WAIT_SECONDS, 2 * outageSeconds + 4);

/** For a step, in seconds; of an outage, from its end. `usual`: of a start that survived, if there is one. */
export function patienceSeconds(
  step: Step,
  usual: StepSeconds,
  { services, pods, endpoints }: Pick<ClusterSpec, 'services' | 'pods' | 'endpoints'>,
  outageSeconds: number,
): number {
  if (step === 'API server outage')
    // The same work as a relist, and the time of an outage without memory pressure is mostly chance.
    return (
      patienceSeconds('relist', usual, { services, pods, endpoints }, outageSeconds) +
      retrySeconds(outageSeconds)
    );
  const most = BASE_SECONDS + (services + pods + endpoints) / MIN_OBJECTS_PER_SECOND;
  const took = usual[step];
  const least = LEAST_OF_STEP[step] ?? LEAST_SECONDS;
  return took === undefined ? most : Math.min(most, Math.max(least, FACTOR * took));
}
