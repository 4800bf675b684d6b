/** The slices of a round on this machine: the load generator is started for each, and everything is read at its borders. */

import { balancedOrder } from '../plan/plan.ts';
import { sum } from '../stats/intervals.ts';
import {
  attempt,
  type Contestant,
  completedOf,
  isUp,
  type Round,
  type SlicePlace,
  sliceOf,
} from './duet-contestant.ts';
import { loadAndObserve, runLoaders } from './load.ts';
import { paceOf } from './trial.ts';

/** CPU seconds of every server that is up. */
async function usageOf(contestants: readonly Contestant[]): Promise<Map<Contestant, number>> {
  const used = await Promise.all(
    contestants.filter(isUp).map(async (contestant) => {
      const usage = await contestant.deployment.usage?.();
      return usage === undefined ? [] : [[contestant, usage.cpuSeconds] as const];
    }),
  );
  return new Map(used.flat());
}

export async function measureSlices(round: Round): Promise<void> {
  const { contestants, plan, context } = round;
  const { clock } = context.world;
  const began = clock.monotonicSeconds();
  const first = contestants[0]?.planned.round ?? 0;
  const idle: IdleUse = new Map();
  let position = 0;
  for (let turn = 0; turn < plan.slices; turn += 1) {
    for (const contestant of balancedOrder(contestants, first + turn)) {
      const [before, from] = [await usageOf(contestants), clock.monotonicSeconds()];
      const place = { position, atSeconds: from - began };
      await attempt(round, contestant, () => measureSlice(round, contestant, place));
      const after = await usageOf(contestants);
      addIdle(idle, contestant, before, after, clock.monotonicSeconds() - from);
      position += 1;
    }
  }
  for (const [contestant, { cpuSeconds, seconds }] of idle) contestant.idleCores = cpuSeconds / seconds;
}

/** What servers used while others had the load, and how long that was. */
type IdleUse = Map<Contestant, { readonly cpuSeconds: number; readonly seconds: number }>;

/** Adds what all but one used meanwhile. */
function addIdle(
  idle: IdleUse,
  busy: Contestant,
  before: ReadonlyMap<Contestant, number>,
  after: ReadonlyMap<Contestant, number>,
  seconds: number,
): void {
  for (const [contestant, from] of before) {
    const to = after.get(contestant);
    if (contestant === busy || to === undefined) continue;
    const { cpuSeconds, seconds: waited } = idle.get(contestant) ?? { cpuSeconds: 0, seconds: 0 };
    idle.set(contestant, { cpuSeconds: cpuSeconds + Math.max(0, to - from), seconds: waited + seconds });
  }
}

async function measureSlice(
  { context, events, meter, plan }: Round,
  contestant: Contestant,
  place: SlicePlace,
): Promise<void> {
  if (!isUp(contestant)) return;
  const { planned, deployment } = contestant;
  const pace = paceOf(context, planned, null);
  events.phase('measuring');
  if (plan.settleSeconds > 0) {
    const settled = await runLoaders(context, planned, deployment, {
      stage: 'settle',
      ...pace,
      durationSeconds: plan.settleSeconds,
      progress: events,
    });
    contestant.queries += completedOf(settled);
  }
  const usage = await deployment.usage?.();
  const window = await meter.begin(usage?.pids ?? []);
  const loaded = await loadAndObserve(context, planned, deployment, {
    stage: `slice-${contestant.measurements.length + 1}`,
    ...pace,
    durationSeconds: plan.sliceSeconds,
    progress: events,
  });
  const neighbours = await window.end({
    serverSeconds: loaded.observation?.cpuSeconds ?? 0,
    loaderSeconds: sum(loaded.outcomes.map(({ observation }) => observation?.cpuSeconds ?? 0)),
  });
  contestant.queries += completedOf(loaded.outcomes);
  contestant.measurements.push({
    loaded,
    slice: sliceOf({ context, ...contestant }, loaded, neighbours, place),
  });
}
