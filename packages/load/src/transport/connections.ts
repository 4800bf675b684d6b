/** Shared by the connection-based transports: counts, lanes behind one interface, and pauses after failures. */
import { nowNs } from '../clock.ts';
import type { OpenableLane } from './open-lanes.ts';
import type { Transport, TransportCounters } from './transport.ts';

/** Counts summed over all lanes of a transport. */
export interface ConnectionCounts {
  bytesSent: number;
  bytesReceived: number;
  connections: number;
  connectionFailures: number;
  /** Set-up times since they were last taken, in nanoseconds. */
  connectNs: number[];
}

export function zeroCounts(): ConnectionCounts {
  return { bytesSent: 0, bytesReceived: 0, connections: 0, connectionFailures: 0, connectNs: [] };
}

/** One connection at a time, reopened when it is lost or used up. */
export interface ConnectionLane extends OpenableLane {
  readonly isReady: boolean;
  readonly sendBytes: Uint8Array;
  reserve(length: number): number;
  commit(length: number): void;
  flush(): void;
  /** Gives up a connection that has been blocked by missing answers for longer than the timeout. */
  checkStalled(now: number): void;
}

/** Pause before the next attempt after a failure; doubles with each further failure, up to the maximum. */
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1000;

export interface Retry {
  later(act: () => void): void;
  /** A connection is up: the next failure waits for the first pause again. */
  reset(): void;
  cancel(): void;
}

export function createRetry(): Retry {
  let pause = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    later(act) {
      pause = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pause * 2));
      clearTimeout(timer);
      timer = setTimeout(act, pause);
    },
    reset() {
      pause = 0;
    },
    cancel: () => clearTimeout(timer),
  };
}

/** How many times per timeout lanes are checked for stalled connections. */
const CHECKS_PER_TIMEOUT = 4;

/** Lanes of one kind as a transport. */
export class ConnectionTransport implements Transport {
  readonly kind: 'tcp' | 'tls' | 'https';
  readonly lanes: number;
  readonly polled = false;
  readonly #lanes: readonly ConnectionLane[];
  readonly #counts: ConnectionCounts;
  readonly #touched: Uint8Array;
  readonly #stallTimer: NodeJS.Timeout;

  constructor(
    kind: 'tcp' | 'tls' | 'https',
    lanes: readonly ConnectionLane[],
    counts: ConnectionCounts,
    timeoutSeconds: number,
  ) {
    this.kind = kind;
    this.lanes = lanes.length;
    this.#lanes = lanes;
    this.#counts = counts;
    this.#touched = new Uint8Array(lanes.length);
    const interval = Math.max(10, (timeoutSeconds * 1000) / CHECKS_PER_TIMEOUT);
    this.#stallTimer = setInterval(() => {
      const now = nowNs();
      for (const lane of lanes) lane.checkStalled(now);
    }, interval);
    this.#stallTimer.unref();
  }

  #laneAt(lane: number): ConnectionLane {
    const found = this.#lanes[lane];
    if (found === undefined) throw new RangeError(`no lane ${lane}`);
    return found;
  }

  ready(lane: number): boolean {
    return this.#laneAt(lane).isReady;
  }

  reserve(lane: number, length: number): number {
    return this.#laneAt(lane).reserve(length);
  }

  sendBytes(lane: number): Uint8Array {
    return this.#laneAt(lane).sendBytes;
  }

  commit(lane: number, length: number): void {
    this.#laneAt(lane).commit(length);
    this.#touched[lane] = 1;
  }

  flush(): void {
    for (let lane = 0; lane < this.lanes; lane += 1) {
      if (this.#touched[lane] === 0) continue;
      this.#touched[lane] = 0;
      this.#laneAt(lane).flush();
    }
  }

  poll(): number {
    return 0;
  }

  /** Bytes on the wire above TCP, including framing and TLS; for HTTP/2, added when a connection closes. */
  get counters(): TransportCounters {
    const { bytesSent, bytesReceived, connections, connectionFailures } = this.#counts;
    return { bytesSent, bytesReceived, connections, connectionFailures, sendErrors: 0, kernelDrops: null };
  }

  takeConnectNanoseconds(): readonly number[] {
    return this.#counts.connectNs.splice(0);
  }

  async close(): Promise<void> {
    clearInterval(this.#stallTimer);
    for (const lane of this.#lanes) lane.close();
  }
}
