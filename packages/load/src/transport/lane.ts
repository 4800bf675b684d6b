/**
 * One connection at a time to the server, reopened when it is lost or has had its share of queries. What goes over it is the
 * business of `StreamLane` and `HttpsLane`.
 */
import type { ClientHttp2Session } from 'node:http2';
import type { OnReadOpts, Socket } from 'node:net';
import { nowNs } from '../clock.ts';
import { laneFailureOf } from './failures.ts';
import type { LaneFailure, TransportRequest } from './transport.ts';

/** Resolves with a connection that is up: TLS has shaken hands and the certificate is verified. */
export type Dial = (lane: number, onread?: OnReadOpts) => Promise<Socket>;

/** What all lanes of a transport share. */
export interface LaneShared extends TransportRequest {
  readonly dial: Dial;
}

/** Pause before the next attempt after a failure; doubles with each further failure, up to the maximum. */
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1000;

export abstract class Lane<Connection extends Socket | ClientHttp2Session = Socket | ClientHttp2Session> {
  protected readonly lane: number;
  protected readonly shared: LaneShared;
  protected connection: Connection | null = null;
  /** Queries sent on this connection, and those unanswered. */
  protected sent = 0;
  protected unanswered = 0;
  #closed = false;
  #pause = 0;
  #openedNs = 0;
  /** Whether this connection has brought anything. */
  #heard = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(lane: number, shared: LaneShared) {
    this.lane = lane;
    this.shared = shared;
  }

  abstract readonly isReady: boolean;
  abstract readonly sendBytes: Uint8Array;
  abstract reserve(length: number): number;
  abstract commit(length: number): void;
  abstract flush(): void;
  /** Gives up a connection that has been blocked by missing answers for longer than the timeout. */
  abstract checkStalled(now: number): void;
  /** Makes a connection that is up. */
  protected abstract connect(): Promise<Connection>;
  /** Ends a connection once everything has been sent. */
  protected abstract finish(connection: Connection): void;
  /** Drops what is queued to be sent. */
  protected abstract dropQueue(): void;

  /** Opens a connection; rejects if that fails. */
  async open(): Promise<void> {
    const begun = nowNs();
    const connection = await this.connect();
    if (this.#closed) {
      connection.destroy();
      return;
    }
    this.shared.handler.onConnected(nowNs() - begun);
    this.connection = connection;
    this.sent = 0;
    this.unanswered = 0;
    this.#openedNs = nowNs();
    this.#heard = false;
    let reason: Error | null = null;
    connection.on('error', (error: Error) => {
      reason = error;
    });
    connection.on('close', () => this.#lost(connection, reason));
  }

  /** The connection was not closed by us. */
  #lost(connection: Connection, error: Error | null): void {
    if (this.connection !== connection || this.#closed) return;
    const hadUnanswered = this.unanswered > 0;
    // Closed at once: the server has accepted a connection that it does not want, and would close the next ones as well.
    const isUnwanted = !this.#heard && nowNs() - this.#openedNs < MAX_PAUSE_MS * 1e6;
    this.drop();
    if (error !== null || hadUnanswered || isUnwanted)
      this.fail(error === null ? 'closed' : laneFailureOf(error), error);
    // The server closing an idle connection is not a failure.
    else this.#reopen();
  }

  /** Something came: the server serves this connection. */
  protected hear(): void {
    this.#heard = true;
    this.#pause = 0;
  }

  /** Reports a failure to the engine, and retries after a pause. */
  fail(failure: LaneFailure, error: Error | null): void {
    this.shared.handler.onLaneFailure(this.lane, failure, error);
    if (this.#closed) return;
    this.#pause = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pause * 2));
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#reopen(), this.#pause);
  }

  #reopen(): void {
    this.open().then(
      () => this.shared.handler.onReady(),
      (error: Error) => {
        if (!this.#closed) this.fail(laneFailureOf(error), error);
      },
    );
  }

  /** Forgets the connection and anything queued to be sent on it. */
  protected drop(): void {
    this.connection = null;
    this.unanswered = 0;
    this.dropQueue();
  }

  protected get isUsedUp(): boolean {
    const { queriesPerConnection } = this.shared.stream;
    return queriesPerConnection !== null && this.sent >= queriesPerConnection;
  }

  /** Closes a connection that has had all its queries answered and opens the next. */
  protected renewIfUsedUp(): void {
    if (this.isUsedUp && this.unanswered === 0) this.renew();
  }

  protected renew(): void {
    const { connection } = this;
    if (connection === null) return;
    this.drop();
    this.finish(connection);
    this.#reopen();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.connection?.destroy();
    this.drop();
  }
}
