/** What the rest of the machine did in each second of a trial. */
import type { NeighbourSecond, Observation } from '../results/record.ts';
import type { Deployment } from '../targets/target.ts';
import type { World } from '../world.ts';
import type { Loaded } from './measured.ts';
import { createNeighbourMeter, type NeighbourReading, neighboursBetween } from './neighbours.ts';

/** CPU seconds used until a time; times are seconds since the observation began. */
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

/**
 * The windows between timely readings that lie within the load, whose times are seconds since the first reading. The observations
 * began at `observedFrom`, on the clock of the readings: before the loaders were started. Pure.
 */
export function neighbourSeconds(
  readings: readonly NeighbourReading[],
  observedFrom: number,
  server: Observation,
  loaders: readonly Observation[],
): NeighbourSecond[] {
  const begin = readings[0]?.machine.atSeconds ?? 0;
  const [serverUsage, ...loaderUsage] = [server, ...loaders].map(usageOver);
  const within: NeighbourReading[] = [];
  for (const reading of readings) {
    const { isTimely, atSeconds } = reading.machine;
    const sinceLast = atSeconds - (within.at(-1)?.machine.atSeconds ?? Number.NEGATIVE_INFINITY);
    if (isTimely && atSeconds - observedFrom <= server.durationSeconds && sinceLast >= MIN_SECONDS)
      within.push(reading);
  }
  return within.slice(1).flatMap((to, index) => {
    const from = within[index];
    if (from === undefined) return [];
    const [start, end] = [from.machine.atSeconds, to.machine.atSeconds];
    const used = (usage: Usage | undefined) =>
      usage === undefined ? 0 : usage(end - observedFrom) - usage(start - observedFrom);
    const own = {
      serverSeconds: used(serverUsage),
      loaderSeconds: loaderUsage.reduce((total, usage) => total + used(usage), 0),
    };
    return [{ atSeconds: end - begin, durationSeconds: end - start, ...neighboursBetween(from, to, own) }];
  });
}

interface NeighbourWatch {
  /** The load has begun. */
  started(): void;
  stop(): void;
  /** Stops, and says what was seen. Undefined where the server's own use is not known: it cannot be told from that of others. */
  end(loaded: Loaded): Promise<NeighbourSecond[] | undefined>;
}

const NOTHING: NeighbourWatch = {
  started: () => undefined,
  stop: () => undefined,
  end: async () => undefined,
};

/**
 * How long before the end of the load the last reading is due. One that comes late on a busy machine is still within the load: those
 * after it are not used, and a trial of a second without one would have no figures at all.
 */
const SPARE_SECONDS = 0.1;

/** Reads the counters of the machine at the start of a load of `durationSeconds`, and then about once a second. */
async function watchNeighbours(
  world: World,
  deployment: Pick<Deployment, 'usage'>,
  durationSeconds: number,
): Promise<NeighbourWatch> {
  const usage = await deployment.usage?.();
  if (usage === undefined) return NOTHING;
  const meter = await createNeighbourMeter(world);
  // The servers are observed from about now.
  const observedFrom = world.clock.monotonicSeconds();
  const readings: NeighbourReading[] = [];
  let reading: Promise<unknown> | null = null;
  const read = () => {
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
  };
  const until = durationSeconds - Math.min(SPARE_SECONDS, durationSeconds / 10);
  let stop: () => void = () => undefined;
  return {
    started: () => {
      read();
      stop = world.clock.every(until / Math.max(1, Math.round(durationSeconds)), read);
    },
    stop: () => stop(),
    end: async ({ observation, outcomes }) => {
      stop();
      await reading;
      const loaders = outcomes.flatMap((outcome) => outcome.observation ?? []);
      if (observation === null || loaders.length < outcomes.length || readings.length === 0) return undefined;
      return neighbourSeconds(readings, observedFrom, observation, loaders);
    },
  };
}

/**
 * A load of `durationSeconds`, with what the rest of the machine did meanwhile.
 * @param load Calls `onStarted` once, when queries are sent.
 */
export async function watched<L extends Loaded>(
  world: World,
  deployment: Pick<Deployment, 'usage'>,
  durationSeconds: number,
  load: (onStarted: () => void) => Promise<L>,
): Promise<L> {
  const watch = await watchNeighbours(world, deployment, durationSeconds);
  try {
    const loaded = await load(() => watch.started());
    return { ...loaded, neighbours: await watch.end(loaded) };
  } finally {
    watch.stop();
  }
}
