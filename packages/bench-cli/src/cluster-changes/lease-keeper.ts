/** Keeps the Lease of this process, and knows when it is lost: also after the process was stopped, or the machine slept. */
import type { Clock } from '../world.ts';
import type { ClusterApi } from './cluster-api.ts';
import { createLease, type Lease, readLease, removeLease, renewLease } from './lease.ts';

/** The run no longer holds the Lease: the guard puts everything back, and the run must change nothing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Somebody else holds it. */
export class LeaseTaken extends Error {
  override readonly name = 'LeaseTaken';

  constructor({ holder, renewedAt }: Lease) {
    super(`${holder} is changing the cluster, and renewed its Lease last at ${renewedAt}`);
  }
}

export interface LeaseKeeper {
  /** Aborted with a `LeaseLost` when the Lease has expired or was taken over. */
  readonly signal: AbortSignal;
  /** Asks the API server. @throws LeaseLost unless this process holds the Lease. */
  confirm(): Promise<void>;
  /** Stops renewing and gives the Lease back, through another way to the cluster where its own has ended. */
  release(through?: ClusterApi): Promise<void>;
  /** Stops renewing and leaves the Lease: the guard goes on when it expires. */
  abandon(): void;
}

export interface KeeperRequest {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly namespace: string;
  readonly holder: string;
  readonly durationSeconds: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** One answer may be lost and another late before the Lease expires. */
const RENEWALS_PER_DURATION = 4;

/**
 * A Lease that nobody renewed for this many durations is taken over, if there is no journal; clocks of machines may
 * differ by less.
 */
const STALE_DURATIONS = 3;

export function isStale({ renewedAt, durationSeconds }: Lease, now: Date): boolean {
  const age = (now.getTime() - Date.parse(renewedAt)) / 1000;
  return !(age < durationSeconds * STALE_DURATIONS);
}

async function acquire({ api, clock, ...request }: KeeperRequest): Promise<Lease> {
  const { namespace } = request;
  const created = await createLease(api, namespace, { ...request, now: clock.now() });
  if (created !== null) return created;
  const found = await readLease(api, namespace);
  if (found === null) return acquire({ api, clock, ...request });
  if (!isStale(found, clock.now())) throw new LeaseTaken(found);
  const taken = await renewLease(api, namespace, found, { ...request, now: clock.now() });
  if (taken === null) throw new LeaseTaken(found);
  return taken;
}

/**
 * When a Lease was last known to be ours. The monotonic clock does not run while the machine sleeps, and the other one
 * may be set: what is later counts.
 */
function stopwatch(clock: Clock): () => number {
  const monotonic = clock.monotonicSeconds();
  const wall = clock.now().getTime();
  return () => Math.max(clock.monotonicSeconds() - monotonic, (clock.now().getTime() - wall) / 1000);
}

/** @throws LeaseTaken if somebody else holds it. */
export async function keepLease(request: KeeperRequest): Promise<LeaseKeeper> {
  const { api, clock, namespace, holder, durationSeconds } = request;
  const lost = new AbortController();
  const stop = new AbortController();
  const lose = (reason: string) => {
    stop.abort();
    lost.abort(new LeaseLost(`this process has lost the Lease of the cluster: ${reason}`));
  };
  // Before the request: the guard sees the renewal after that.
  let age = stopwatch(clock);
  let lease = await acquire(request);
  const loseIfExpired = () => {
    if (age() >= durationSeconds && !stop.signal.aborted) {
      lose(`it was not renewed for ${durationSeconds} seconds`);
    }
  };
  const cancelCheck = clock.every(Math.min(1, durationSeconds / 10), loseIfExpired);

  const renewOnce = async () => {
    const next = stopwatch(clock);
    const renewed = await renewLease(api, namespace, lease, { holder, durationSeconds, now: clock.now() });
    if (stop.signal.aborted) return;
    if (renewed === null) {
      lose('somebody else has taken it over');
      return;
    }
    lease = renewed;
    age = next;
  };
  const renewing = (async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(durationSeconds / RENEWALS_PER_DURATION, stop.signal).catch(() => undefined);
      loseIfExpired();
      // Without an answer the Lease runs out, which the check above notices.
      if (!stop.signal.aborted) await renewOnce().catch(() => undefined);
    }
  })();
  const end = () => {
    stop.abort();
    cancelCheck();
  };
  return {
    signal: lost.signal,
    confirm: async () => {
      loseIfExpired();
      lost.signal.throwIfAborted();
      const found = await readLease(api, namespace);
      loseIfExpired();
      if (found?.holder !== holder && !lost.signal.aborted) lose('somebody else has taken it over');
      lost.signal.throwIfAborted();
    },
    release: async (through = api) => {
      end();
      await renewing;
      const found = await readLease(through, namespace);
      if (found?.holder === holder) await removeLease(through, namespace, found);
    },
    abandon: end,
  };
}
