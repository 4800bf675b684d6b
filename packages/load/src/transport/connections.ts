/** Lanes of connections as a transport. */
import { nowNs } from '../clock.ts';
import type { Lane } from './lane.ts';
import { NO_FACTS, NO_LOSSES, type Transport } from './transport.ts';

/** How many times per timeout lanes are checked for stalled connections. */
const CHECKS_PER_TIMEOUT = 4;

export class ConnectionTransport implements Transport {
  readonly kind: 'tcp' | 'tls' | 'https';
  readonly lanes: number;
  readonly polled = false;
  readonly facts = NO_FACTS;
  readonly losses = NO_LOSSES;
  readonly #lanes: readonly Lane[];
  readonly #touched: Uint8Array;
  readonly #stallTimer: NodeJS.Timeout;

  constructor(kind: 'tcp' | 'tls' | 'https', lanes: readonly Lane[], timeoutSeconds: number) {
    this.kind = kind;
    this.lanes = lanes.length;
    this.#lanes = lanes;
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

  async close(): Promise<void> {
    clearInterval(this.#stallTimer);
    for (const lane of this.#lanes) lane.close();
  }
}
