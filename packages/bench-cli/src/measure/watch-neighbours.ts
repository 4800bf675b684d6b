/** What the rest of the machine did in each second of a trial. */
import type { NeighbourSecond, Observation } from '../results/record.ts';
import type { Deployment } from '../targets/target.ts';
import type { World } from '../world.ts';
import type { Loaded } from './measured.ts';
import { createNeighbourMeter, type NeighbourReading, neighboursBetween } from './neighbours.ts';

/** CPU seconds used until a time; times are seconds since the load began. */
type Usage = (atSeconds: number) => number;

/** Between samples, use is taken to be even. Pure. */
export function usageOver({ samples, durationSeconds, cpuSeconds }: Observation): Usage {
  const points = [{ at: 0, used: 0 }];
  for (const { atSeconds, cpuCores } of samples) {
    const { at, used } = points.at(-1) ?? { at: 0, used: 0 };
    points.push({ at: atSeconds, used: used + cpuCores * (atSeconds - at) });
  }
  points.push({ at: durationSeconds, used: cpuSeconds });
  return (at) => {
    const next = points.findIndex((point) => point.at >= at);
    if (next < 0) return cpuSeconds;
    const [to, from] = [points[next], points[next - 1]];
    if (to === undefined || from === undefined || to.at === from.at) return to?.used ?? 0;
    return from.used + ((to.used - from.used) * (at - from.at)) / (to.at - from.at);
  };
}

/**
 * The shortest window: readings are known to 0.05 s, so that shorter ones could tell of more CPUs than there are. On a busy machine, a
 * reading can come just before the next.
 */
const MIN_SECONDS = 0.25;

/** The windows between timely readings that lie within the load. Pure. */
export function neighbourSeconds(
  readings: readonly NeighbourReading[],
  server: Observation,
  loaders: readonly Observation[],
): NeighbourSecond[] {
  const begin = readings[0]?.machine.atSeconds ?? 0;
  const [serverUsage, ...loaderUsage] = [server, ...loaders].map(usageOver);
  const within: NeighbourReading[] = [];
  for (const reading of readings) {
    const { isTimely, atSeconds } = reading.machine;
    const sinceLast = atSeconds - (within.at(-1)?.machine.atSeconds ?? Number.NEGATIVE_INFINITY);
    if (isTimely && atSeconds - begin <= server.durationSeconds && sinceLast >= MIN_SECONDS)
      within.push(reading);
  }
  return within.slice(1).flatMap((to, index) => {
    const from = within[index];
    if (from === undefined) return [];
    const [start, end] = [from.machine.atSeconds - begin, to.machine.atSeconds - begin];
    const used = (usage: Usage | undefined) => (usage === undefined ? 0 : usage(end) - usage(start));
    const own = {
      serverSeconds: used(serverUsage),
      loaderSeconds: loaderUsage.reduce((total, usage) => total + used(usage), 0),
    };
    return [{ atSeconds: end, durationSeconds: end - start, ...neighboursBetween(from, to, own) }];
  });
}

interface NeighbourWatch {
  stop(): void;
  /** Stops, and says what was seen. Undefined where the server's own use is not known: it cannot be told from that of others. */
  end(loaded: Loaded): Promise<NeighbourSecond[] | undefined>;
}

const NOTHING: NeighbourWatch = { stop: () => undefined, end: async () => undefined };

/**
 * How long before the end of the load the last reading is due. One that comes late on a busy machine is still within the load: those
 * after it are not used, and a trial of a second without one would have no figures at all.
 */
const SPARE_SECONDS = 0.1;

/** Reads the counters of the machine about once a second during a load of `durationSeconds`. */
async function watchNeighbours(
  world: World,
  deployment: Pick<Deployment, 'usage'>,
  durationSeconds: number,
): Promise<NeighbourWatch> {
  const usage = await deployment.usage?.();
  if (usage === undefined) return NOTHING;
  const meter = await createNeighbourMeter(world);
  const first = await meter.read(usage.pids, usage.beside);
  if (first === null) return NOTHING;
  const readings = [first];
  let reading: Promise<unknown> | null = null;
  const until = durationSeconds - Math.min(SPARE_SECONDS, durationSeconds / 10);
  const stop = world.clock.every(until / Math.max(1, Math.round(durationSeconds)), () => {
    // One at a time: two at once could end in another order.
    reading ??= meter
      .read(usage.pids, usage.beside)
      .then(
        (next) => {
          if (next !== null) readings.push(next);
        },
        () => undefined,
      )
      .finally(() => {
        reading = null;
      });
  });
  return {
    stop,
    end: async ({ observation, outcomes }) => {
      stop();
      await reading;
      const loaders = outcomes.flatMap((outcome) => outcome.observation ?? []);
      if (observation === null || loaders.length < outcomes.length) return undefined;
      return neighbourSeconds(readings, observation, loaders);
    },
  };
}

/** A load of `durationSeconds`, with what the rest of the machine did meanwhile. */
export async function watched<L extends Loaded>(
  world: World,
  deployment: Pick<Deployment, 'usage'>,
  durationSeconds: number,
  load: () => Promise<L>,
): Promise<L> {
  const watch = await watchNeighbours(world, deployment, durationSeconds);
  try {
    const loaded = await load();
    return { ...loaded, neighbours: await watch.end(loaded) };
  } finally {
    watch.stop();
  }
}
