/** Converts the transports' running counters into counts per interval, and takes their connection times. */
import type { Measurements } from '../engine/measurements.ts';
import type { Transport, TransportCounters } from '../transport/transport.ts';

type Read = Pick<TransportCounters, 'connections' | 'connectionFailures' | 'sendErrors'> & {
  readonly kernelDrops: number;
};

const NOTHING: Read = { connections: 0, connectionFailures: 0, sendErrors: 0, kernelDrops: 0 };

export class CounterReader {
  readonly #transports: readonly Transport[];
  readonly #measurements: Measurements;
  #last: Read = NOTHING;

  constructor(transports: readonly Transport[], measurements: Measurements) {
    this.#transports = transports;
    this.#measurements = measurements;
  }

  /** Adds the changes since the last call. */
  read(): void {
    const now = this.#transports.reduce(
      (sum: Read, { counters }) => ({
        connections: sum.connections + counters.connections,
        connectionFailures: sum.connectionFailures + counters.connectionFailures,
        sendErrors: sum.sendErrors + counters.sendErrors,
        kernelDrops: sum.kernelDrops + (counters.kernelDrops ?? 0),
      }),
      NOTHING,
    );
    const { counts, connect } = this.#measurements;
    counts.connections += now.connections - this.#last.connections;
    counts.connectionFailures += now.connectionFailures - this.#last.connectionFailures;
    counts.sendErrors += now.sendErrors - this.#last.sendErrors;
    counts.kernelDrops += now.kernelDrops - this.#last.kernelDrops;
    this.#last = now;
    for (const transport of this.#transports) {
      for (const nanoseconds of transport.takeConnectNanoseconds()) connect.record(nanoseconds);
    }
  }
}
