/**
 * Makes the event loop send on time.
 *
 * Polled (a few UDP sockets): the loop checks the clock and the sockets itself, as fast as it can while there is
 * something to do. If nothing is due for a while it sleeps: in `Atomics.wait`, which wakes to within about 100 µs,
 * and then polls for the rest; or, for longer waits, in the event loop. Meanwhile answers wait in the kernel, which
 * has timestamped them; without kernel timestamps the loop does not sleep while queries are in flight, and where an
 * answer causes the next query to be sent, only for moments, or in the event loop, which answers wake.
 *
 * Otherwise (connections, many sockets): the event loop delivers what arrives, and the loop sends what is due.
 */
import { nowNs } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';
import type { Engine } from './engine.ts';
import type { Measurements } from './measurements.ts';

export interface LoopOptions {
  readonly engine: Engine;
  readonly transport: Transport;
  readonly measurements: Measurements;
  /** Whether the kernel timestamps answers, so that they may wait. */
  readonly timestamps: boolean;
  /** Whether an answer can cause another query to be sent: the next one of a lookup, or the same one over TCP. */
  readonly answersCauseSends: boolean;
  /**
   * Places in the window that are filled together. Waiting a few microseconds for more of them turns many small
   * system calls into one large one, here and in the server. 1: each is filled at once.
   */
  readonly coalesce: number;
  readonly startNs: number;
  /** When sending ends. */
  readonly endNs: number;
  /** How long to wait for answers after sending ends. */
  readonly drainNs: number;
  /** Whether to stop the run now. Called about once a millisecond. */
  readonly stopped: () => boolean;
  readonly intervalNs: number;
  /** Called at each multiple of the interval after the start until the run is over, with its number: the first is 0. */
  readonly onInterval: (index: number) => void;
  /** Called once, when nothing new will be sent. */
  readonly onSendingOver: () => void;
}

/** Length of one turn of the polled loop, after which the event loop runs. */
const TURN_NS = 1e6;
/** How long to poll an empty socket before waiting in the event loop. */
const IDLE_SPIN_NS = 50e3;
/** An answer that takes longer than this may be found a nap later: that is at most a twentieth of its time. */
const ANSWER_SPIN_NS = 2e6;
const NAP_NS = 100e3;
/** The event loop's timers are accurate to about a millisecond: shorter waits do not use them. */
const TIMER_NS = 4e6;
const TIMER_MARGIN_NS = 2e6;
/** The longest sleep: expiry, the end and a stop are noticed at most this late. */
const MAX_SLEEP_NS = 20e6;
/** How early to wake from `Atomics.wait`: adapts to the machine, between these bounds. */
const MIN_MARGIN_NS = 60e3;
const MAX_MARGIN_NS = 1e6;
/** Checking the sockets takes microseconds. If it takes longer than this, something else had the CPU or the thread. */
const STALL_NS = 1e6;
/** How long a free place in the window waits for others, and how often the sockets are checked meanwhile. */
const COALESCE_NS = 40e3;
const COALESCE_POLL_NS = 10e3;
/** How long queries are kept for answers that may wait in sockets which are not found empty. */
const READ_NS = 200e6;
/** How long to wait for answers after the user stops a run. */
const STOP_DRAIN_NS = 100e6;

export class Loop {
  readonly #options: LoopOptions;
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));
  #marginNs = 150e3;
  #lastNs = 0;
  #lastWorkNs = 0;
  /** When the sockets were last found empty: what arrived before has been read. */
  #emptyNs = Number.NEGATIVE_INFINITY;
  /** Since when they have been read, without a break, and not found empty. */
  #readingNs = Number.NEGATIVE_INFINITY;
  #nextIntervalNs: number;
  #drainedNs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;
  /** Whether the last check found something to do, and whether the loop has slept since. */
  #worked = true;
  #slept = false;
  #inTurn = false;
  /** When the oldest free place became free; 0 if none is free. */
  #vacantSinceNs = 0;
  #finish: () => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#nextIntervalNs = options.startNs + options.intervalNs;
  }

  /** Resolves when everything is sent, and answered or given up. The caller has started the engine with `wake`. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
      this.#lastNs = nowNs();
      this.#lastWorkNs = this.#lastNs;
      this.#sleepUntil(this.#lastNs, this.#options.startNs);
    });
  }

  /** Something arrived while the loop was waiting in the event loop. */
  wake(): void {
    if (this.#inTurn || this.#immediate !== null) return;
    this.#worked = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#soon();
  }

  #soon(): void {
    this.#immediate = setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#immediate = null;
    this.#timer = null;
    this.#inTurn = true;
    try {
      if (this.#work()) this.#finish();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#inTurn = false;
    }
  }

  /** Works for one turn and schedules the next; true when the run is over. */
  #work(): boolean {
    const { engine, transport } = this.#options;
    const turnEnds = nowNs() + TURN_NS;
    for (;;) {
      const now = nowNs();
      this.#account(now);
      if (now >= this.#nextIntervalNs) this.#interval(now);
      engine.expire(this.#readUntil(now));
      if (this.#isOver(now)) return true;
      const sent = this.#gathered(now) ? engine.pump(now) : this.#linger(now);
      const received = transport.polled ? transport.poll() : 0;
      if (received === 0) this.#emptyNs = this.#readingNs = now;
      this.#worked = sent > 0 || received > 0;
      if (this.#worked) this.#lastWorkNs = now;
      if (!transport.polled || now >= turnEnds) break;
      if (!this.#worked && this.#idle(now)) return false;
    }
    if (transport.polled) this.#soon();
    else this.#waitForEvents(nowNs());
    return false;
  }

  /**
   * A query that had timed out by then has no answer that waits in a socket. After a stall or sleep of this thread there may be many, and
   * the kernel knows when they came; sockets that are not polled have no such times.
   */
  #readUntil(now: number): number {
    const isReading = this.#options.transport.polled && now - this.#readingNs < READ_NS;
    return isReading ? this.#emptyNs : now;
  }

  /** Whether enough places are free to be filled, or have been free for long enough. */
  #gathered(now: number): boolean {
    const { engine, coalesce } = this.#options;
    const { vacant } = engine;
    if (vacant >= coalesce || vacant === 0) {
      this.#vacantSinceNs = 0;
      return true;
    }
    if (this.#vacantSinceNs === 0) this.#vacantSinceNs = now;
    if (now - this.#vacantSinceNs < COALESCE_NS) return false;
    this.#vacantSinceNs = 0;
    return true;
  }

  /** Lets answers accumulate: checking the socket costs as much as two answers. */
  #linger(now: number): number {
    const until = now + COALESCE_POLL_NS;
    while (nowNs() < until);
    return 0;
  }

  /** Polled, with nothing sent and nothing received: true if the next turn was scheduled for later. */
  #idle(now: number): boolean {
    const { engine, timestamps, answersCauseSends } = this.#options;
    if (!timestamps && engine.active > 0) return false;
    const next = Math.min(engine.nextSendNs, this.#nextIntervalNs, this.#options.endNs);
    // Nothing can be sent until an answer arrives: the event loop wakes us, unless one is imminent.
    const waiting = engine.nextSendNs === Number.POSITIVE_INFINITY;
    if (waiting && now - this.#lastWorkNs < IDLE_SPIN_NS) return false;
    if (next - now < this.#marginNs) return false;
    if (answersCauseSends && engine.active > 0 && !waiting) {
      const isImminent = now - this.#lastWorkNs < ANSWER_SPIN_NS;
      if (isImminent || next - now <= TIMER_NS) {
        // Not in this turn: answers over TCP come in the event loop.
        if (isImminent) this.#soon();
        else this.#sleepUntil(now, Math.min(next, now + this.#marginNs + NAP_NS));
        return true;
      }
    }
    this.#sleepUntil(now, waiting ? now + MAX_SLEEP_NS : next);
    return true;
  }

  /** Not polled: the next turn starts when something arrives or is due. */
  #waitForEvents(now: number): void {
    const { engine, endNs } = this.#options;
    const send = engine.nextSendNs;
    // Due and not sent: the batch was full, or no lane has room; the transport reports when one has.
    if (send <= now) {
      if (this.#worked) this.#soon();
      else this.#timerFor(TIMER_MARGIN_NS / 2);
      return;
    }
    if (send - now < TIMER_MARGIN_NS) {
      this.#soon();
      return;
    }
    const next = Math.min(send, this.#nextIntervalNs, endNs > now ? endNs : Number.POSITIVE_INFINITY);
    this.#timerFor(Math.min(next - now, MAX_SLEEP_NS) - TIMER_MARGIN_NS);
  }

  #timerFor(ns: number): void {
    this.#slept = true;
    this.#timer = setTimeout(() => this.#turn(), Math.max(1, Math.floor(ns / 1e6)));
  }

  /** Sleeps until shortly before `until`, and schedules the next turn. */
  #sleepUntil(now: number, until: number): void {
    const { polled } = this.#options.transport;
    const length = Math.min(until - now, MAX_SLEEP_NS);
    if (length > TIMER_NS || !polled) {
      this.#timerFor(length - TIMER_MARGIN_NS);
      return;
    }
    const wanted = length - this.#marginNs;
    if (wanted > 0) {
      Atomics.wait(this.#sleeper, 0, 0, wanted / 1e6);
      this.#slept = true;
      this.#adapt(nowNs() - now - wanted);
    }
    this.#soon();
  }

  /** Wakes earlier if sleeps last longer than requested; relaxes slowly. */
  #adapt(oversleptNs: number): void {
    const needed = oversleptNs * 1.2;
    this.#marginNs = needed > this.#marginNs ? needed : this.#marginNs * 0.99 + needed * 0.01;
    this.#marginNs = Math.min(MAX_MARGIN_NS, Math.max(MIN_MARGIN_NS, this.#marginNs));
  }

  /** Counts the time since the last clock reading as busy or idle. */
  #account(now: number): void {
    const { times, loopDelay } = this.#options.measurements;
    const passed = now - this.#lastNs;
    this.#lastNs = now;
    if (passed >= STALL_NS) this.#readingNs = now;
    if (this.#worked) times.busyNs += passed;
    else times.idleNs += passed;
    if (this.#slept) {
      this.#slept = false;
      return;
    }
    if (this.#worked) loopDelay.record(passed);
    if (passed < STALL_NS) return;
    times.stalls += 1;
    times.stalledNs += passed;
  }

  #interval(now: number): void {
    const { startNs, intervalNs, onInterval } = this.#options;
    const due = Math.round((this.#nextIntervalNs - startNs) / intervalNs);
    // A thread that was away for several has one for all of them, which has the number of the last.
    const ended = Math.max(due, Math.floor((now - startNs) / intervalNs));
    onInterval(ended - 1);
    this.#nextIntervalNs = startNs + (ended + 1) * intervalNs;
  }

  #isOver(now: number): boolean {
    const { engine, transport, endNs, drainNs, stopped, onSendingOver } = this.#options;
    const stop = stopped();
    if (now < endNs && !stop && !engine.sendingIsOver) return false;
    if (this.#drainedNs === Number.POSITIVE_INFINITY) {
      // What became due since the last check is not late yet.
      if (!stop) engine.pump(Math.min(now, endNs));
      engine.stopSending(Math.min(now, endNs));
      onSendingOver();
      this.#drainedNs = now + (stop ? STOP_DRAIN_NS : drainNs);
    }
    if (engine.active === 0) return true;
    if (stop) this.#drainedNs = Math.min(this.#drainedNs, now + STOP_DRAIN_NS);
    if (now < this.#drainedNs) return false;
    // After a stall longer than the drain, answers may wait, and queries that have timed out are lost, not interrupted.
    while (transport.polled && transport.poll() > 0 && nowNs() - now < READ_NS);
    engine.expire(now);
    engine.abandon();
    return true;
  }
}
