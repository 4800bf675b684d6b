/** The library's one function: starts a run and returns its intervals and its result. */
import { versionIn } from '@dinodns-bench/program';
import { diagnoseSilence } from './diagnose.ts';
import { loadError } from './errors.ts';
import type { CannonInput, CannonOptions } from './options.ts';
import { checkOptions } from './options-check.ts';
import { assemble } from './result/assemble.ts';
import type { CannonResult, EndedBy, Interval } from './result/result.ts';
import { Tally } from './result/tally.ts';
import { parseServer, resolveServer } from './server-address.ts';
import { startStealClock } from './steal.ts';
import { descriptorError, descriptorLimit } from './transport/failures.ts';
import type { ServerAddress } from './transport/transport.ts';
import { type Pool, startPool } from './workers/pool.ts';
import type { Share, WorkerTask } from './workers/thread-messages.ts';
import { planWorkload } from './workload/plan.ts';
import type { WorkloadPlan } from './workload/workload.ts';

/** A run in progress. Iterate it for its intervals, await `result` for the end; either, both or neither. */
export interface Run extends AsyncIterable<Interval> {
  /**
   * What was measured. Rejects with a `LoadError` if the run could not begin or a worker failed. Losses, silence
   * and a stop are results, not errors.
   */
  readonly result: Promise<CannonResult>;
  /** Resolves when the first query is sent; rejects as `result`. */
  readonly started: Promise<void>;
  /** Ends the run now: waits 0.1 s for answers in flight, then resolves `result` with what there is. */
  stop(): void;
}

export interface RunControls {
  /** Stops the run as `stop` does; if it is aborted before the first query, `result` rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Called when everything is open and ready: the first query waits for it. If it rejects, so does `result`. */
  readonly beforeFirst?: () => Promise<void>;
}

/** The version in this package's package.json. */
export function packageVersion(): string {
  return versionIn(new URL('../package.json', import.meta.url));
}

/** Descriptors reserved for Node.js itself, with some to spare. */
const SPARE_DESCRIPTORS = 64;
/** A server that has refused for this long from the start, and never answered, is not running. */
const REFUSED_SECONDS = 1;

/**
 * Starts a run. @throws LoadError `E_OPTIONS` with all problems in the options, before anything is opened.
 */
export function cannon(input: CannonInput, { signal, beforeFirst }: RunControls = {}): Run {
  const options = checkOptions(input);
  const server = parseServer(options.server, options.transport);
  const intervals = new IntervalQueue();
  const started = Promise.withResolvers<void>();
  let pool: Pool | null = null;
  let stopped = false;
  const stop = () => {
    stopped = true;
    pool?.stop();
  };

  const load = async (): Promise<CannonResult> => {
    signal?.throwIfAborted();
    const address = await resolveServer(server);
    const plan = await planFor(options);
    checkDescriptors(options);
    const effective: CannonOptions =
      server.path === null ? options : { ...options, stream: { ...options.stream, path: server.path } };
    pool = await startPool(tasksOf(effective, plan, address));
    try {
      signal?.throwIfAborted();
      await beforeFirst?.();
      signal?.throwIfAborted();
      if (stopped) pool.stop();
      return await measure(pool, effective, plan, address);
    } finally {
      await pool.close();
    }
  };

  const measure = async (
    running: Pool,
    effective: CannonOptions,
    plan: WorkloadPlan,
    address: ServerAddress,
  ): Promise<CannonResult> => {
    let refused = false;
    const steal = startStealClock();
    const tally = new Tally(effective.workers, (interval) => {
      intervals.push({ ...interval, stealSeconds: steal.lap() });
      const { answered, refused: refusals } = tally.total.counts;
      if (answered === 0 && refusals > 0 && interval.toSeconds >= REFUSED_SECONDS && !stopped) {
        refused = true;
        running.stop();
      }
    });
    const startedAt = new Date();
    await running.run({
      onStarted: () => started.resolve(),
      onInterval: (worker, index, atNs, data) => tally.interval(worker, index, atNs, data),
      onDone: (worker, summary, atNs, data) => tally.done(worker, summary, atNs, data),
    });
    const stealSeconds = steal.total();
    const silent = tally.total.counts.answered === 0 && effective.transport === 'udp' && !refused;
    const exhausted = tally.workers.every(({ summary }) => summary.exhausted);
    const endedBy: EndedBy = refused ? 'refused' : stopped ? 'stopped' : exhausted ? 'queries' : 'duration';
    return assemble(tally, {
      version: packageVersion(),
      startedAt,
      options: effective,
      server: address,
      workload: plan.description,
      transport: running.facts,
      endedBy,
      stealSeconds,
      diagnosis: silent ? await diagnoseSilence(address, plan) : [],
    });
  };

  signal?.addEventListener('abort', stop, { once: true });
  const result = load().finally(() => {
    signal?.removeEventListener('abort', stop);
    intervals.end();
  });
  result.catch((error: unknown) => {
    started.reject(error);
    intervals.fail(error);
  });
  // Callers of `started` see the failure; for callers of `result` only, it must not be an unhandled rejection.
  started.promise.catch(() => undefined);
  return { result, started: started.promise, stop, [Symbol.asyncIterator]: () => intervals.iterate() };
}

async function planFor({ workload, message, passes }: CannonOptions): Promise<WorkloadPlan> {
  const plan = await planWorkload(workload, message);
  return passes === null ? plan : { ...plan, passes };
}

function checkDescriptors({ clients, workers, tcpFallback }: CannonOptions): void {
  const needed = (clients ?? workers) * (tcpFallback ? 2 : 1);
  const limit = descriptorLimit();
  if (limit !== null && needed + SPARE_DESCRIPTORS > limit) throw descriptorError(needed);
}

/** Part `index` of a whole number split into `parts`, as equal as possible; the first ones are larger by one. */
function part(whole: number, parts: number, index: number): number {
  return Math.floor(whole / parts) + (index < whole % parts ? 1 : 0);
}

/** One share per worker. `options` have been checked: there is enough for each. */
function sharesOf({ workers, clients, load, maxQueries }: CannonOptions): Share[] {
  const lanes = clients ?? workers;
  let firstLane = 0;
  return Array.from({ length: workers }, (_, worker) => {
    const share: Share = {
      worker,
      workers,
      lanes: part(lanes, workers, worker),
      firstLane,
      window: load.kind === 'closed' ? part(load.outstanding, workers, worker) : null,
      limit: maxQueries === null ? null : part(maxQueries, workers, worker),
    };
    firstLane += share.lanes;
    return share;
  });
}

function tasksOf(options: CannonOptions, plan: WorkloadPlan, server: ServerAddress): WorkerTask[] {
  const control = new Int32Array(new SharedArrayBuffer(4));
  return sharesOf(options).map((share) => ({ options, plan, server, share, control }));
}

/** Intervals for a reader that may come late or never: all are kept until read. */
class IntervalQueue {
  readonly #all: Interval[] = [];
  #over = false;
  #error: unknown = null;
  #news = Promise.withResolvers<void>();

  push(interval: Interval): void {
    this.#all.push(interval);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#error = error ?? loadError('E_INTERRUPTED', 'the run was stopped', 'run it again');
    this.#wake();
  }

  async *iterate(): AsyncGenerator<Interval, void, void> {
    for (let index = 0; ; ) {
      const interval = this.#all[index];
      if (interval !== undefined) {
        index += 1;
        yield interval;
      } else if (this.#error !== null) throw this.#error;
      else if (this.#over) return;
      else await this.#news.promise;
    }
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
