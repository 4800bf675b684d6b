/** The messages between the main thread and its workers. */
import type { MeasurementData } from '../engine/measurements.ts';
import type { SocketReport } from '../engine/sockets.ts';
import type { CannonOptions } from '../options.ts';
import type { ServerAddress, TransportFacts } from '../transport/transport.ts';
import type { WorkloadPlan } from '../workload/workload.ts';

/** One worker's share of the run. */
export interface Share {
  readonly worker: number;
  readonly workers: number;
  /** Sockets or connections of this worker, at least 1, and the total of the workers before it. */
  readonly lanes: number;
  readonly firstLane: number;
  /** Maximum queries in flight; null for an open loop. */
  readonly window: number | null;
  /** Maximum queries; null for no limit. */
  readonly limit: number | null;
}

/** What a worker is started with. */
export interface WorkerTask {
  readonly options: CannonOptions;
  readonly plan: WorkloadPlan;
  readonly server: ServerAddress;
  readonly share: Share;
  /** Shared with all workers: `STOP` is set to end the run. */
  readonly control: Int32Array;
}

/** Index in `control`. */
export const STOP = 0;

/** To the worker, once all are ready: when to start, on the clock of `process.hrtime.bigint()`. */
export interface GoMessage {
  readonly kind: 'go';
  readonly atNs: bigint;
}

/** A thread's CPU time, and how long it waited for a CPU. */
export interface ThreadUse {
  /** CPU time, user and system, ns. */
  readonly cpuNs: number;
  /** Time the thread was ready to run and waited for a CPU, ns; null where only CPU time is known. */
  readonly waitedNs: number | null;
}

export interface WorkerSummary {
  /** Nanoseconds after the start: the end of sending, and the last timely answer (0 if none). */
  readonly sendingNs: number;
  readonly lastAnswerNs: number;
  /** Whether sending ended early because there was nothing more to send. */
  readonly exhausted: boolean;
  /** Of the worker's thread, while it sent. */
  readonly use: ThreadUse | null;
  /** Null unless asked for. */
  readonly sockets: readonly SocketReport[] | null;
}

/** An error as plain data: class instances are not preserved between threads. */
export interface ErrorData {
  readonly code: string | null;
  readonly problems: readonly { readonly problem: string; readonly fix: string }[];
  readonly message: string;
  readonly stack: string | undefined;
}

/** To the worker: close everything and exit, whether it has started or not. */
export interface QuitMessage {
  readonly kind: 'quit';
}

export type WorkerMessage =
  | { readonly kind: 'ready'; readonly facts: TransportFacts }
  | {
      readonly kind: 'interval';
      /** The number of the interval: the first is 0. A worker that was away sends none for those before the last. */
      readonly index: number;
      readonly atNs: number;
      readonly data: MeasurementData;
    }
  | {
      readonly kind: 'done';
      readonly summary: WorkerSummary;
      readonly atNs: number;
      readonly data: MeasurementData;
    }
  | { readonly kind: 'failed'; readonly error: ErrorData };
