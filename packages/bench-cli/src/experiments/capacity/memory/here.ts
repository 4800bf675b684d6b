/** Starts of CoreDNS on this machine, side by side: each beside an API server of its point's objects. */
import type {
  Measuring,
  Opened,
  OpenRequest,
  PlannedTrial,
  TrialEvents,
} from '../../../engine/experiment.ts';
import { oneAtATime } from '../../../one-at-a-time.ts';
import { fileNameOf } from '../../../text.ts';
import { withCoredns } from '../deploy-coredns.ts';
import { loadsInto, openCoredns } from '../machine.ts';
import type { MemoryEvidence } from './evidence.ts';
import { type MemoryPoint, pointOf, RATES, rateOf } from './points.ts';
import { writeQueryFiles } from './queries.ts';
import type { MemorySettings } from './settings.ts';
import { measureStart, PACE, QUICK_PACE } from './start.ts';

/** What was decided of a run. */
export interface MemoryPlan {
  readonly points: readonly MemoryPoint[];
  readonly lanes: number;
}

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 5;

export async function openHere(
  request: OpenRequest<MemorySettings, MemoryPlan>,
): Promise<Opened<Measuring<MemoryEvidence>>> {
  const { world, settings, decided } = request;
  const opened = await openCoredns(request, 'capacity memory', settings);
  const { context } = opened;
  const rate = rateOf(settings);
  // One load at a time: two would share the CPUs, and neither would hold its rate.
  const alone = oneAtATime();

  async function measure({ key, case: item }: PlannedTrial, on: TrialEvents): Promise<MemoryEvidence> {
    const point = pointOf(item);
    const raw = `${context.rawDirectory}/${fileNameOf(key)}`;
    try {
      await world.fs.mkdir(raw, { recursive: true });
      const send = loadsInto(context, raw);
      const queries = await writeQueryFiles(world, raw, point.cluster);
      const started = { ...context, onFiles: on.files };
      return await withCoredns(
        started,
        { ...point, directory: raw },
        async ({ instance, running }, signal) => {
          const measured = await measureStart({
            ...{ world, point, queries, rate, signal, running },
            pace: settings.quick ? QUICK_PACE : PACE,
            load(queryFile, durationSeconds, stage) {
              // A slow one would not have filled the cache when the time for it is over.
              const ratePerSecond = queryFile === queries.fill ? Math.max(rate, RATES.local) : rate;
              const load = { queryFile, durationSeconds, signal, ratePerSecond, openLoop: false };
              return alone(() => send(instance, { ...load, timeoutSeconds: TIMEOUT_SECONDS }, `-${stage}`));
            },
            onPhase: on.phase,
          });
          return { ...measured, cluster: null };
        },
      );
    } finally {
      await world.fs.rm(`${raw}/fill.txt`, { force: true });
    }
  }

  return {
    ...opened,
    context: { measure },
    conditions: { ...opened.conditions, 'side by side': `up to ${decided.lanes} starts` },
  };
}
