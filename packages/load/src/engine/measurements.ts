/** What a worker counts and times. Plain numbers, added up over intervals and workers. */
import { Histogram, type HistogramData } from '../histogram/histogram.ts';
import type { Sockets } from './sockets.ts';

export function noCounts() {
  return {
    /** Queries sent; repetitions and TCP fallbacks are not counted again. */
    sent: 0,
    /** Queries answered in time: id and question matched. */
    answered: 0,
    /** Queries not answered in time. */
    lost: 0,
    /** Lost queries whose connection failed. */
    lostWithConnection: 0,
    /** Queries still unanswered when the run was stopped by the user; neither answered nor lost. */
    interrupted: 0,
    /** Open loop: queries (or lookups) that were due and never sent, because the generator could not keep up with the rate. */
    unsent: 0,
    /** Queries that were due and had to wait because no id of a socket, or no connection, was free. */
    held: 0,
    /** Queries sent again after a timeout, and queries retried over TCP. */
    retried: 0,
    fallbacks: 0,
    /** Responses that arrived after their query was given up. */
    late: 0,
    /** Responses to a query that already had one. */
    duplicate: 0,
    /** Responses with an unknown id or a different question. */
    mismatched: 0,
    /** Messages too short for a header or their question, or with an unexpected number of questions. */
    malformed: 0,
    /** Answers with TC=1, and answers longer than the receive buffer (their end is lost). */
    truncated: 0,
    cut: 0,
    /** Messages with QR=0: the query itself, echoed. */
    echoed: 0,
    /** Answers that do not match `expect`: wrong code, wrong address, or unreadable. */
    wrongCode: 0,
    wrongAddress: 0,
    unreadable: 0,
    /** Answers that are older than `expect` allows. */
    stale: 0,
    /** Lookups of a simulated resolver: started, and how they ended. */
    lookups: 0,
    lookupsFound: 0,
    lookupsFailed: 0,
    bytesSent: 0,
    bytesReceived: 0,
    connections: 0,
    connectionFailures: 0,
    /** ICMP errors and failed connections, by kind. */
    refused: 0,
    reset: 0,
    closed: 0,
    connectTimeout: 0,
    tls: 0,
    protocol: 0,
    unreachable: 0,
    /** Datagrams that the kernel refused to send, and those it dropped at our own sockets. */
    sendErrors: 0,
    kernelDrops: 0,
  };
}

/** Counts of one interval or run. Every query that was sent ends as exactly one of answered, lost or interrupted. */
export type Counts = ReturnType<typeof noCounts>;

/** What was due by the end: queries, or lookups of a simulated resolver, each of which is several queries. `unsent` is a part of it. */
export function dueIn({ sent, lookups, unsent }: Counts): number {
  return (lookups > 0 ? lookups : sent) + unsent;
}

const COUNT_NAMES = Object.keys(noCounts()) as readonly (keyof Counts)[];

export function addCounts(sum: Counts, more: Counts): void {
  for (const name of COUNT_NAMES) sum[name] += more[name];
}

/** Response codes with their upper bits from EDNS (RFC 6891 §6.1.3). */
const CODES = 4096;

/** Maximum distinct reasons; the rest are counted together, so that a server cannot fill our memory. */
const MAX_REASONS = 50;
const OTHER_REASONS = 'other reasons';

function addReason(reasons: Record<string, number>, reason: string, count: number): void {
  const isKnown = Object.hasOwn(reasons, reason);
  const key = isKnown || Object.keys(reasons).length < MAX_REASONS ? reason : OTHER_REASONS;
  reasons[key] = (reasons[key] ?? 0) + count;
}

/** How a worker's event loop spent its time. */
export interface LoopTimes {
  /** Nanoseconds with something to do, and with nothing (polling an empty socket, or asleep). */
  busyNs: number;
  idleNs: number;
  /** Times the loop was away for over a millisecond without sleeping, and how long in total. */
  stalls: number;
  stalledNs: number;
}

/** When the first and the last answer without an error (NOERROR, NXDOMAIN) arrived, ns; from +∞ to −∞ if none did. */
export interface Span {
  firstNs: number;
  lastNs: number;
}

const noSpan = (): Span => ({ firstNs: Number.POSITIVE_INFINITY, lastNs: Number.NEGATIVE_INFINITY });

/** Everything one worker measured in one interval. Structured-cloneable. */
export interface MeasurementData {
  readonly counts: Counts;
  /** Answers by response code; codes with a count of 0 are omitted. */
  readonly codes: readonly (readonly [code: number, count: number])[];
  /** Connection and HTTP errors: how often each occurred. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly latency: HistogramData;
  /** How late queries were sent. Open loop only. */
  readonly lateness: HistogramData;
  readonly connect: HistogramData;
  /** Whole lookups of a simulated resolver. */
  readonly lookup: HistogramData;
  /** Time between two checks of the sockets while there was something to do. */
  readonly loopDelay: HistogramData;
  readonly times: LoopTimes;
  /** Since the start. */
  readonly good: Readonly<Span>;
}

export class Measurements {
  counts = noCounts();
  readonly codes = new Float64Array(CODES);
  reasons: Record<string, number> = {};
  readonly latency = new Histogram();
  readonly lateness = new Histogram();
  readonly connect = new Histogram();
  readonly lookup = new Histogram();
  readonly loopDelay = new Histogram();
  times: LoopTimes = { busyNs: 0, idleNs: 0, stalls: 0, stalledNs: 0 };
  /** On the worker's clock; in sums, since the start. */
  good = noSpan();
  /** By socket, from the start to the end, where asked for. */
  readonly sockets: Sockets | null;

  constructor(sockets: Sockets | null = null) {
    this.sockets = sockets;
  }

  /** What was measured since the last call; the load began at `startNs`. */
  take(startNs = 0): MeasurementData {
    const taken: MeasurementData = {
      counts: this.counts,
      codes: this.#takeCodes(),
      reasons: this.reasons,
      latency: this.latency.take(),
      lateness: this.lateness.take(),
      connect: this.connect.take(),
      lookup: this.lookup.take(),
      loopDelay: this.loopDelay.take(),
      times: this.times,
      good: { firstNs: this.good.firstNs - startNs, lastNs: this.good.lastNs - startNs },
    };
    this.good = noSpan();
    this.counts = noCounts();
    this.reasons = {};
    this.times = { busyNs: 0, idleNs: 0, stalls: 0, stalledNs: 0 };
    return taken;
  }

  #takeCodes(): [number, number][] {
    const taken: [number, number][] = [];
    for (let code = 0; code < CODES; code++) {
      const count = this.codes[code] ?? 0;
      if (count > 0) taken.push([code, count]);
    }
    this.codes.fill(0);
    return taken;
  }

  /** An answer without an error arrived. */
  hear(receivedNs: number): void {
    const { good } = this;
    if (receivedNs < good.firstNs) good.firstNs = receivedNs;
    if (receivedNs > good.lastNs) good.lastNs = receivedNs;
  }

  /** Counts an error by its reason, one of a small set of texts. */
  note(reason: string): void {
    addReason(this.reasons, reason, 1);
  }

  add(more: MeasurementData): void {
    addCounts(this.counts, more.counts);
    for (const [code, count] of more.codes) this.codes[code] = (this.codes[code] ?? 0) + count;
    for (const [reason, count] of Object.entries(more.reasons)) addReason(this.reasons, reason, count);
    this.latency.add(more.latency);
    this.lateness.add(more.lateness);
    this.connect.add(more.connect);
    this.lookup.add(more.lookup);
    this.loopDelay.add(more.loopDelay);
    this.times.busyNs += more.times.busyNs;
    this.times.idleNs += more.times.idleNs;
    this.times.stalls += more.times.stalls;
    this.times.stalledNs += more.times.stalledNs;
    this.good.firstNs = Math.min(this.good.firstNs, more.good.firstNs);
    this.good.lastNs = Math.max(this.good.lastNs, more.good.lastNs);
  }
}
