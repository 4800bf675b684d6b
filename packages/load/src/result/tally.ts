/** Sums the workers' measurements: each interval once all workers have sent theirs, and the whole run. */
import { rcodeName } from '@dinodns-bench/wire';
import { type MeasurementData, Measurements } from '../engine/measurements.ts';
import type { WorkerSummary } from '../workers/thread-messages.ts';
import type { Interval } from './result.ts';
import { statisticsOf } from './statistics.ts';

/** One finished worker. */
export interface WorkerTally {
  readonly summary: WorkerSummary;
  /** Everything this worker measured. */
  readonly measurements: Measurements;
}

/**
 * Non-zero counts by response code name. Only those are named: this runs for each interval, and where there is one CPU, it keeps
 * the worker from sending meanwhile.
 */
export function namedCodes(codes: Float64Array): Record<string, number> {
  const named: Record<string, number> = {};
  for (let code = 0; code < codes.length; code++) {
    const count = codes[code] ?? 0;
    if (count > 0) named[rcodeName(code)] = count;
  }
  return named;
}

/** An interval as far as the workers' measurements tell. */
export type MeasuredInterval = Omit<Interval, 'stealSeconds'>;

interface OpenInterval {
  readonly measurements: Measurements;
  toNs: number;
}

export class Tally {
  readonly total = new Measurements();
  readonly #workers: Measurements[];
  readonly #summaries: (WorkerSummary | undefined)[];
  /** The number of the interval that each worker is in: it has sent all before it. */
  readonly #current: Uint32Array;
  readonly #open = new Map<number, OpenInterval>();
  readonly #emit: (interval: MeasuredInterval) => void;
  /** How many intervals were emitted, and the end of the last of them. */
  #emitted = 0;
  #fromNs = 0;

  constructor(workers: number, emit: (interval: MeasuredInterval) => void) {
    this.#workers = Array.from({ length: workers }, () => new Measurements());
    // Filled, because `every` passes over places that were never set.
    this.#summaries = new Array<WorkerSummary | undefined>(workers).fill(undefined);
    this.#current = new Uint32Array(workers);
    this.#emit = emit;
  }

  /** A worker's interval. Finished workers send none: intervals are then complete without them. */
  interval(worker: number, index: number, atNs: number, data: MeasurementData): void {
    this.#current[worker] = index + 1;
    this.total.add(data);
    this.#workers[worker]?.add(data);
    const open = this.#open.get(index) ?? { measurements: new Measurements(), toNs: 0 };
    open.measurements.add(data);
    open.toNs = Math.max(open.toNs, atNs);
    this.#open.set(index, open);
    this.#emitComplete();
  }

  /** A worker's last interval, and its end. */
  done(worker: number, summary: WorkerSummary, atNs: number, data: MeasurementData): void {
    this.#summaries[worker] = summary;
    this.interval(worker, this.#current[worker] ?? 0, atNs, data);
  }

  /** All workers, once each is done. */
  get workers(): WorkerTally[] {
    return this.#workers.flatMap((measurements, worker) => {
      const summary = this.#summaries[worker];
      return summary === undefined ? [] : [{ summary, measurements }];
    });
  }

  /** In order. One for which no worker sent anything, because all were away, is a part of the next. */
  #emitComplete(): void {
    for (const [index, open] of [...this.#open].sort(([a], [b]) => a - b)) {
      const complete = this.#summaries.every(
        (summary, worker) => summary !== undefined || (this.#current[worker] ?? 0) > index,
      );
      if (!complete) return;
      this.#open.delete(index);
      this.#emit(intervalOf(this.#emitted, this.#fromNs, open));
      this.#emitted += 1;
      this.#fromNs = open.toNs;
    }
  }
}

function intervalOf(index: number, fromNs: number, { measurements, toNs }: OpenInterval): MeasuredInterval {
  const seconds = Math.max((toNs - fromNs) / 1e9, 1e-9);
  const { counts, codes, latency, lateness, good } = measurements;
  return {
    index,
    fromSeconds: fromNs / 1e9,
    toSeconds: toNs / 1e9,
    qps: counts.answered / seconds,
    sentPerSecond: counts.sent / seconds,
    counts,
    codes: namedCodes(codes),
    latencySeconds: statisticsOf(latency),
    latenessSeconds: statisticsOf(lateness),
    goodSeconds: good.lastNs < good.firstNs ? null : { first: good.firstNs / 1e9, last: good.lastNs / 1e9 },
  };
}
