/**
 * A transport with its queries in flight: writes messages to its lanes, and records when each was sent.
 *
 * A batch is sent with one system call, which takes time (up to 2 µs per datagram over loopback): the clock is read
 * before and after, and the queries' send times are spread evenly between. Batches are short, so the uncertainty
 * about a single query is a few microseconds.
 */
import { HEADER_BYTES } from '@dinodns-bench/wire';
import { nowNs } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';
import type { Workload } from '../workload/workload.ts';
import type { Cookies } from './cookies.ts';
import { InFlight, NONE } from './in-flight.ts';
import type { Measurements } from './measurements.ts';
import { hashQuestion } from './questions.ts';
import { SendQueue } from './send-queue.ts';

/** Maximum queries per batch. Twice as many would save only 5 % of the CPU time. */
const MAX_BATCH = 16;

/** Initial estimate of the time to send one datagram; how fast it adapts; the multiple above which it is unusual. */
const FIRST_EACH_NS = 5000;
const SMOOTHING = 0.1;
const UNUSUAL = 1.5;
/** Batches below this are mostly the system call itself. */
const SMALL_BATCH = 4;

export class Channel {
  readonly transport: Transport;
  readonly inFlight: InFlight;
  /** Sent before anything new. */
  readonly queue = new SendQueue();
  /** DNS cookies; null if none are returned. */
  readonly cookies: Cookies | null;
  readonly #workload: Workload;
  readonly #questionEnds: Uint16Array;
  readonly #measurements: Measurements;
  readonly #scheduled: boolean;
  readonly #batch = new Int32Array(MAX_BATCH);
  #batched = 0;
  #lane = 0;
  #eachNs = FIRST_EACH_NS;

  constructor(
    transport: Transport,
    workload: Workload,
    questionEnds: Uint16Array,
    measurements: Measurements,
    /** Whether queries have a due time, so that lateness can be measured. */
    scheduled: boolean,
    cookies: Cookies | null,
  ) {
    this.transport = transport;
    this.inFlight = new InFlight({
      lanes: transport.lanes,
      lookups: workload.lookups !== null,
      hashes: workload.vary !== null,
      firsts: measurements.sockets !== null,
    });
    this.#workload = workload;
    this.#questionEnds = questionEnds;
    this.#measurements = measurements;
    this.#scheduled = scheduled;
    this.cookies = cookies;
  }

  /**
   * Queues a message on the next lane with room and returns its cell; `NONE` if no lane has room. `start` is when its
   * latency begins, ns; NaN: when it is sent.
   */
  write(message: number, start: number): number {
    const { transport, inFlight } = this;
    for (let tried = 0; tried < transport.lanes; tried++) {
      const lane = this.#lane;
      if (transport.ready(lane)) {
        const cell = inFlight.begin(lane, message);
        if (cell !== NONE) {
          inFlight.start[cell] = start;
          this.#put(cell, lane, message);
          return cell;
        }
      }
      this.#rotate();
    }
    return NONE;
  }

  /** Queues a message in flight again, with the same id; false if its lane has no room now. */
  rewrite(cell: number): boolean {
    const { transport, inFlight } = this;
    const lane = inFlight.laneOf(cell);
    if (!transport.ready(lane)) return false;
    inFlight.renew(cell);
    this.#put(cell, lane, inFlight.message[cell] ?? 0);
    return true;
  }

  /** Moves to the next lane. Once per batch, not per query: a batch on one lane is one system call. */
  #rotate(): void {
    this.#lane += 1;
    if (this.#lane >= this.transport.lanes) this.#lane = 0;
  }

  #put(cell: number, lane: number, message: number): void {
    const { transport, inFlight, cookies } = this;
    const { bytes, offsets } = this.#workload.arena;
    const from = offsets[message] ?? 0;
    const encoded = (offsets[message + 1] ?? 0) - from;
    const length = cookies === null ? encoded : encoded + cookies.lengthOf(lane);
    const at = transport.reserve(lane, length);
    // A ready lane must have room: anything else breaks the transport's contract.
    if (at < 0) throw new Error(`the ${transport.kind} transport was ready and gave no room`);
    const target = transport.sendBytes(lane);
    const id = inFlight.idOf(cell);
    target[at] = id >>> 8;
    target[at + 1] = id & 0xff;
    for (let i = 2; i < encoded; i++) target[at + i] = bytes[from + i] ?? 0;
    if (cookies !== null) cookies.complete(lane, target, at, encoded, this.#questionEnds[message] ?? 0);
    const { vary } = this.#workload;
    if (vary !== null) {
      vary(target, at, encoded, message);
      const end = this.#questionEnds[message] ?? 0;
      inFlight.hash[cell] = hashQuestion(target, at + HEADER_BYTES, end - HEADER_BYTES);
    }
    transport.commit(lane, length);
    this.#measurements.counts.bytesSent += length;
    this.#batch[this.#batched] = cell;
    this.#batched += 1;
    if (this.#batched === MAX_BATCH) this.flush();
  }

  /**
   * The time to send one datagram of a batch, ns, given the time this batch took. If that is unusually long,
   * something else had the CPU at some point: the queries are then timed as if the interruption came last, so
   * latency is overestimated rather than underestimated.
   */
  #eachOf(measured: number, count: number): number {
    if (count < SMALL_BATCH) return Math.min(measured, FIRST_EACH_NS);
    const usual = this.#eachNs;
    // Follows the fast batches: those that were not interrupted.
    if (measured < usual) this.#eachNs += (measured - usual) * SMOOTHING;
    else this.#eachNs += (Math.min(measured, 2 * usual) - usual) * (SMOOTHING / 10);
    return measured < usual * UNUSUAL ? measured : usual;
  }

  /** Sends what was written and records when each query was sent and, if scheduled, how late. */
  flush(): void {
    const count = this.#batched;
    if (count === 0) return;
    const { start, sent, first, retries } = this.inFlight;
    const { sockets } = this.#measurements;
    const before = nowNs();
    this.transport.flush();
    const each = this.#eachOf((nowNs() - before) / count, count);
    for (let i = 0; i < count; i++) {
      const cell = this.#batch[i] ?? 0;
      const left = before + (i + 0.5) * each;
      sent[cell] = left;
      if (sockets !== null && retries[cell] === 0) {
        first[cell] = left;
        sockets.send(this.inFlight.laneOf(cell), left);
      }
      const due = start[cell] ?? 0;
      if (Number.isNaN(due)) start[cell] = left;
      else if (this.#scheduled && retries[cell] === 0) this.#measurements.lateness.record(left - due);
    }
    this.#batched = 0;
    this.#rotate();
  }
}
