/** Lanes of connections as a transport. */
import { nowNs } from '../clock.ts';
import type { ConnectionCounts, Lane } from './lane.ts';
import type { Transport, TransportCounters } from './transport.ts';

/** How many times per timeout lanes are checked for stalled connections. */
const CHECKS_PER_TIMEOUT = 4;

export class ConnectionTransport implements Transport {
  readonly kind: 'tcp' | 'tls' | 'https';
  readonly lanes: number;
  readonly polled = false;
  readonly #lanes: readonly Lane[];
  readonly #counts: ConnectionCounts;
  readonly #touched: Uint8Array;
  readonly #stallTimer: NodeJS.Timeout;

  constructor(
    kind: 'tcp' | 'tls' | 'https',
    lanes: readonly Lane[],
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

  #laneAt(lane: number): Lane {
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
