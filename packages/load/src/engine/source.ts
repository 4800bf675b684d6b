/** What to send next, and when it is due: the workload's order at the schedule's times, up to the limits. */
import type { Schedule } from '../schedule/schedule.ts';
import type { Workload } from '../workload/workload.ts';

export interface SourceOptions {
  readonly workload: Workload;
  /** When queries are due, ns after the start; null: at once. */
  readonly schedule: Schedule | null;
  /** Whether the workload's own times are the schedule (a capture's). */
  readonly timed: boolean;
  /** Maximum queries (lookups); `Infinity` for no limit. */
  readonly limit: number;
  /** The run's start and the end of sending, on the clock of `nowNs`. */
  readonly startNs: number;
  readonly endNs: number;
}

export class Source {
  /** The next message or lookup; −1 if there is no more. */
  index = 0;
  /** When it is due, on the clock of `nowNs`; −Infinity: at once; `Infinity`: not before the end, or there is no more. */
  dueNs = Number.NEGATIVE_INFINITY;
  readonly #options: SourceOptions;
  #left: number;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#left = options.limit + 1;
    this.advance();
  }

  /** Whether there is no more, however long sending goes on. */
  get over(): boolean {
    return this.index < 0;
  }

  /** The current one has been sent: move to the next. */
  advance(): void {
    const { workload, schedule, timed, startNs, endNs } = this.#options;
    this.#left -= 1;
    this.index = this.#left > 0 ? workload.next() : -1;
    if (this.index < 0) {
      this.dueNs = Number.POSITIVE_INFINITY;
    } else if (timed && workload.dueSeconds !== null) {
      this.dueNs = startNs + workload.dueSeconds() * 1e9;
    } else if (schedule !== null) {
      this.dueNs = startNs + schedule();
    }
    if (this.dueNs >= endNs) this.dueNs = Number.POSITIVE_INFINITY;
  }

  /** Ends the source; returns how many were due by then and not sent. */
  end(atNs: number): number {
    let unsent = 0;
    if (this.dueNs !== Number.NEGATIVE_INFINITY) {
      for (; this.dueNs <= atNs; this.advance()) unsent += 1;
    }
    this.index = -1;
    this.dueNs = Number.POSITIVE_INFINITY;
    return unsent;
  }
}
