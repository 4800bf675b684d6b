/**
 * One worker's engine: decides what to send, matches what arrives, and gives up what timed out. It knows nothing of
 * sockets, threads or event loops: `Loop` calls it, and transports deliver messages to it.
 */
import { HEADER_BYTES, RCODE } from '@dinodns-bench/wire';
import { nowNs } from '../clock.ts';
import type { Check } from '../message/response.ts';
import { failureText } from '../transport/failures.ts';
import type { LaneFailure, Transport, TransportHandler } from '../transport/transport.ts';
import { LOOKUP_FOUND, MAX_PARALLEL, type PodLookups } from '../workload/pod-lookups.ts';
import type { Workload } from '../workload/workload.ts';
import { Channel } from './channel.ts';
import { Cookies } from './cookies.ts';
import { NONE, STATE } from './in-flight.ts';
import type { Measurements } from './measurements.ts';
import { questionEnds } from './questions.ts';
import { Responses } from './responses.ts';
import type { Source } from './source.ts';

/** Queries sent before the sockets are checked again. */
const MAX_BATCH = 64;
const QR = 0x80;
const TC = 0x02;

export interface EngineOptions {
  readonly workload: Workload;
  readonly measurements: Measurements;
  /** Maximum queries (or lookups) in flight; null for an open loop. */
  readonly window: number | null;
  readonly timeoutNs: number;
  /** How often an unanswered query is sent again. */
  readonly retries: number;
  readonly check: Check | null;
  /** Whether answers may have an extended response code in an OPT record. */
  readonly edns: boolean;
  /** The client's DNS cookie, if the server's is to be learnt and returned; else null. */
  readonly cookie: Uint8Array | null;
}

export class Engine {
  readonly #workload: Workload;
  readonly #measurements: Measurements;
  readonly #questionEnds: Uint16Array;
  readonly #timeoutNs: number;
  readonly #retries: number;
  readonly #responses: Responses;
  readonly #window: number;
  readonly #open: boolean;
  readonly #lookups: PodLookups | null;
  readonly #cookie: Uint8Array | null;
  readonly #next = new Uint32Array(MAX_PARALLEL);
  #main: Channel | null = null;
  #fallback: Channel | null = null;
  #source: Source | null = null;
  #wake: () => void = () => undefined;
  /** Queries (or lookups) started and not finished. */
  #active = 0;
  #lastAnswerNs = 0;
  /** Whether the next query has been counted as held. */
  #held = false;

  constructor({ workload, measurements, window, timeoutNs, retries, check, edns, cookie }: EngineOptions) {
    this.#workload = workload;
    this.#measurements = measurements;
    this.#questionEnds = questionEnds(workload.arena);
    this.#responses = new Responses({
      workload,
      questionEnds: this.#questionEnds,
      measurements,
      check,
      edns,
    });
    this.#timeoutNs = timeoutNs;
    this.#retries = retries;
    this.#window = window ?? Number.POSITIVE_INFINITY;
    this.#open = window === null;
    this.#cookie = cookie;
    this.#lookups = workload.lookups;
  }

  /** The handler for the main transport, or for the fallback that retries truncated answers. */
  handler(which: 'main' | 'fallback'): TransportHandler {
    const channel = () => (which === 'main' ? this.#main : this.#fallback);
    return {
      onMessage: (lane, bytes, offset, length, receivedNs, cut) => {
        const current = channel();
        if (current !== null) this.#receive(current, lane, bytes, offset, length, receivedNs, cut);
        this.#wake();
      },
      onGarbage: (lane, id, reason) => {
        this.#measurements.note(reason);
        this.#garbage(channel(), lane, id);
        this.#wake();
      },
      onLaneFailure: (lane, failure, error) => {
        if (channel()?.transport.kind !== 'udp') {
          this.#measurements.note(failureText(failure, error));
          this.#measurements.counts.connectionFailures += 1;
        }
        this.#laneFailed(channel(), lane, failure);
        this.#wake();
      },
      onConnected: (setUpNs) => {
        this.#measurements.counts.connections += 1;
        this.#measurements.connect.record(setUpNs);
      },
      onReady: () => this.#wake(),
    };
  }

  /** Transports are opened with this engine's handlers, so they come after it. */
  attach(main: Transport, fallback: Transport | null): void {
    const channelOf = (transport: Transport, scheduled: boolean) => {
      const cookies = this.#cookie === null ? null : new Cookies(transport.lanes, this.#cookie);
      return new Channel(
        transport,
        this.#workload,
        this.#questionEnds,
        this.#measurements,
        scheduled,
        cookies,
      );
    };
    this.#main = channelOf(main, this.#open);
    this.#fallback = fallback === null ? null : channelOf(fallback, false);
  }

  /** Starts sending from `source`. Calls `wake` when something arrived that may allow more to be sent. */
  start(source: Source, wake: () => void): void {
    this.#source = source;
    this.#wake = wake;
  }

  /** Queries (or lookups) in flight. */
  get active(): number {
    return this.#active;
  }

  /** Queries (or lookups) that the window has room for; `Infinity` in an open loop. */
  get vacant(): number {
    return this.#window - this.#active;
  }

  /** When the last timely answer arrived, on the clock of `nowNs`; 0 before the first. */
  get lastAnswerNs(): number {
    return this.#lastAnswerNs;
  }

  /** Whether nothing new will be sent. */
  get sendingIsOver(): boolean {
    return this.#source === null || this.#source.over;
  }

  /** When something can next be sent: a past time means now, `Infinity` that an answer must come first. */
  get nextSendNs(): number {
    const source = this.#source;
    if (source === null || this.#active >= this.#window) return Number.POSITIVE_INFINITY;
    return source.dueNs;
  }

  /** Ends sending; counts what was due and not sent. */
  stopSending(atNs: number): void {
    this.#measurements.sockets?.stop(atNs);
    const unsent = this.#source?.end(atNs) ?? 0;
    if (this.#open) this.#measurements.counts.unsent += unsent;
  }

  /** Abandons what is in flight because the user stopped the run: counted as neither answered nor lost. */
  abandon(): void {
    for (const channel of [this.#main, this.#fallback]) {
      if (channel === null) continue;
      for (let cell = channel.inFlight.oldest; cell !== NONE; cell = channel.inFlight.oldest) {
        channel.inFlight.end(cell, STATE.expired);
        this.#measurements.counts.interrupted += 1;
      }
    }
    this.#measurements.counts.interrupted += this.#fallback?.queue.length ?? 0;
    this.#active = 0;
  }

  /** Sends what is due at `nowNs`; returns how many were sent. */
  pump(nowNs: number): number {
    const [main, source] = [this.#main, this.#source];
    if (main === null || source === null) return 0;
    let count = this.#sendQueued(main);
    while (count < MAX_BATCH && this.#active < this.#window && source.dueNs <= nowNs) {
      const sent =
        this.#lookups === null ? this.#sendNext(main, source) : this.#beginLookup(main, source, nowNs);
      if (sent === 0) break;
      count += sent;
    }
    if (count > 0) main.flush();
    const fallback = this.#fallback;
    if (fallback !== null && fallback.queue.length > 0 && this.#sendQueued(fallback) > 0) fallback.flush();
    return count;
  }

  #sendNext(main: Channel, source: Source): number {
    if (main.write(source.index, this.#open ? source.dueNs : Number.NaN) === NONE) {
      if (!this.#held) this.#measurements.counts.held += 1;
      this.#held = true;
      return 0;
    }
    this.#held = false;
    this.#active += 1;
    this.#measurements.counts.sent += 1;
    source.advance();
    return 1;
  }

  #beginLookup(main: Channel, source: Source, nowNs: number): number {
    const lookups = this.#lookups;
    // Queries wait in order; a lookup does not begin until those of the previous one have been sent.
    if (lookups === null || main.queue.length > 0) return 0;
    const start = this.#open ? source.dueNs : nowNs;
    const slot = lookups.take(start);
    const count = lookups.begin(slot, source.index, this.#next);
    for (let i = 0; i < count; i++) {
      main.queue.push(this.#next[i] ?? 0, slot, this.#open ? source.dueNs : Number.NaN, nowNs);
    }
    this.#active += 1;
    this.#measurements.counts.lookups += 1;
    source.advance();
    return this.#sendQueued(main);
  }

  /** Sends what is queued on a channel, as far as its lanes have room. */
  #sendQueued(channel: Channel): number {
    const { queue, inFlight } = channel;
    let count = 0;
    while (queue.length > 0 && count < MAX_BATCH) {
      const cell = channel.write(queue.message, queue.start);
      if (cell === NONE) break;
      if (this.#lookups !== null) inFlight.lookup[cell] = queue.lookup;
      if (channel === this.#main) this.#measurements.counts.sent += 1;
      queue.shift();
      count += 1;
    }
    return count;
  }

  /** Retries or gives up queries that have been in flight, or have waited for a connection, for longer than the timeout. */
  expire(nowNs: number): void {
    this.#expireIn(this.#main, nowNs);
    this.#expireIn(this.#fallback, nowNs);
    const queue = this.#fallback?.queue;
    while (queue !== undefined && queue.length > 0 && queue.queued <= nowNs - this.#timeoutNs) {
      const { lookup, queued } = queue;
      queue.shift();
      this.#measurements.counts.lost += 1;
      this.#settle(lookup, queued + this.#timeoutNs, true, 0, 0);
    }
  }

  #expireIn(channel: Channel | null, nowNs: number): void {
    if (channel === null) return;
    const { inFlight } = channel;
    const before = nowNs - this.#timeoutNs;
    let repeated = 0;
    for (let cell = inFlight.oldest; cell !== NONE; cell = inFlight.oldest) {
      if ((inFlight.sent[cell] ?? 0) > before) break;
      if ((inFlight.retries[cell] ?? 0) < this.#retries && channel.rewrite(cell)) {
        this.#measurements.counts.retried += 1;
        repeated += 1;
      } else {
        this.#timeOut(channel, cell);
      }
    }
    if (repeated > 0) channel.flush();
  }

  /** Noticed later than it happened, when the loop slept. */
  #timeOut(channel: Channel, cell: number): void {
    this.#lose(channel, cell, (channel.inFlight.sent[cell] ?? 0) + this.#timeoutNs);
  }

  #lose(channel: Channel, cell: number, atNs: number): void {
    const { counts, sockets } = this.#measurements;
    const { inFlight } = channel;
    counts.lost += 1;
    sockets?.lose(inFlight.laneOf(cell), inFlight.first[cell] ?? 0);
    inFlight.end(cell, STATE.expired);
    this.#settle(inFlight.lookup[cell] ?? 0, atNs, true, 0, 0);
  }

  /** A query has finished at `atNs`: the lookup in `slot` continues, or its place in the window is free. */
  #settle(slot: number, atNs: number, isLost: boolean, code: number, answers: number): void {
    const lookups = this.#lookups;
    if (lookups === null || this.#main === null) {
      this.#active -= 1;
      return;
    }
    const count = lookups.step(slot, isLost, code, answers, this.#next);
    for (let i = 0; i < count; i++)
      this.#main.queue.push(this.#next[i] ?? 0, slot, Number.NaN, this.#lastAnswerNs);
    if (count >= 0) return;
    const { counts, lookup } = this.#measurements;
    if (count === LOOKUP_FOUND) counts.lookupsFound += 1;
    else counts.lookupsFailed += 1;
    // One that a lost query ended without any answer has no latency. With an answer to the other type it has, until then.
    if (!isLost || count === LOOKUP_FOUND) lookup.record(atNs - lookups.startOf(slot));
    lookups.end(slot);
    this.#active -= 1;
  }

  #receive(
    channel: Channel,
    lane: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    receivedNs: number,
    cut: boolean,
  ): void {
    const { counts, sockets } = this.#measurements;
    counts.bytesReceived += length;
    if (length < HEADER_BYTES) {
      counts.malformed += 1;
      return;
    }
    const { inFlight } = channel;
    const cell = inFlight.cellOf(lane, ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0));
    const state = cell === NONE ? STATE.unused : (inFlight.state[cell] ?? STATE.unused);
    if (state === STATE.unused) {
      counts.mismatched += 1;
      return;
    }
    const answersOffset = this.#responses.match(inFlight, cell, bytes, offset, length);
    if (answersOffset < 0) return;
    const { cookies } = channel;
    const isForUs = cookies?.learn(lane, bytes, offset, offset + length, offset + answersOffset) ?? true;
    if (!isForUs) {
      counts.mismatched += 1;
      return;
    }
    if (state !== STATE.outstanding) {
      if (state === STATE.answered) counts.duplicate += 1;
      else {
        counts.late += 1;
        sockets?.late(lane);
      }
      return;
    }
    // Read before anyone noticed that it had timed out. Without a time from the kernel, when it was read counts.
    const isRepeated = (inFlight.retries[cell] ?? 0) < this.#retries;
    if (receivedNs - (inFlight.sent[cell] ?? 0) > this.#timeoutNs && !isRepeated) {
      this.#timeOut(channel, cell);
      counts.late += 1;
      sockets?.late(lane);
      return;
    }
    const flags = bytes[offset + 2] ?? 0;
    const code = this.#responses.codeOf(bytes, offset, length, answersOffset);
    if (cut) counts.cut += 1;
    inFlight.end(cell, STATE.answered);
    if ((flags & TC) !== 0) {
      counts.truncated += 1;
      if (this.#askOverTcp(channel, cell, receivedNs)) return;
    }
    if ((flags & QR) === 0) counts.echoed += 1;
    counts.answered += 1;
    this.#measurements.codes[code] = (this.#measurements.codes[code] ?? 0) + 1;
    this.#measurements.latency.record(receivedNs - (inFlight.start[cell] ?? 0));
    if (receivedNs > this.#lastAnswerNs) this.#lastAnswerNs = receivedNs;
    if (code === RCODE.NOERROR || code === RCODE.NXDOMAIN) this.#measurements.hear(receivedNs);
    sockets?.answer(lane, receivedNs, code);
    this.#responses.verify(bytes, offset, length, answersOffset);
    const answers = ((bytes[offset + 6] ?? 0) << 8) | (bytes[offset + 7] ?? 0);
    this.#settle(inFlight.lookup[cell] ?? 0, this.#lastAnswerNs, false, code, answers);
  }

  /** A truncated answer does not count if the query can be retried over TCP; its latency keeps running. */
  #askOverTcp(channel: Channel, cell: number, nowNs: number): boolean {
    const fallback = this.#fallback;
    if (fallback === null || channel === fallback) return false;
    const { inFlight } = channel;
    const slot = this.#lookups === null ? NONE : (inFlight.lookup[cell] ?? 0);
    fallback.queue.push(inFlight.message[cell] ?? 0, slot, inFlight.start[cell] ?? 0, nowNs);
    this.#measurements.counts.fallbacks += 1;
    return true;
  }

  #garbage(channel: Channel | null, lane: number, id: number | null): void {
    this.#measurements.counts.malformed += 1;
    if (channel === null || id === null) return;
    const cell = channel.inFlight.cellOf(lane, id);
    if (cell !== NONE && channel.inFlight.state[cell] === STATE.outstanding)
      this.#lose(channel, cell, nowNs());
  }

  #laneFailed(channel: Channel | null, lane: number, failure: LaneFailure): void {
    const { counts } = this.#measurements;
    counts[failure === 'timeout' ? 'connectTimeout' : failure] += 1;
    // An ICMP error does not say which datagram it is about: those time out.
    if (channel === null || channel.transport.kind === 'udp') return;
    for (const cell of channel.inFlight.inLane(lane)) {
      counts.lostWithConnection += 1;
      this.#lose(channel, cell, nowNs());
    }
  }
}
