/**
 * A DNS client for checks, not for load: is the server ready, and is every answer right? One connected
 * socket carries all queries, answers are matched by ID, nothing is retried.
 */
import type { Transport } from '../results/record.ts';
import type { Clock } from '../world.ts';
import type { Channel, ChannelHandlers } from './channel.ts';
import type { Endpoint } from './endpoint.ts';
import { openHttpsChannel } from './https-channel.ts';
import { type DecodedAnswer, type DnsQuery, decodeAnswer, encodeQuery } from './message.ts';
import { openTcpChannel, openTlsChannel } from './tcp-channel.ts';
import { openUdpChannel } from './udp-channel.ts';

export type { DecodedAnswer, DnsQuery } from './message.ts';

/**
 * - `timeout`: no message with the query's ID arrived in time;
 * - `undecodable`: a message arrived that is not a DNS response;
 * - `connection`: refused, reset or closed by the server;
 * - `closed`: this client was closed.
 */
export type DnsFailure = 'timeout' | 'undecodable' | 'connection' | 'closed';

/** A query without a readable answer. An answer with any response code is not an error. */
export class DnsQueryError extends Error {
  override readonly name = 'DnsQueryError';
  readonly failure: DnsFailure;
  readonly query: DnsQuery;

  constructor(failure: DnsFailure, query: DnsQuery, reason: string, cause?: unknown) {
    super(`${query.name} ${query.type}: ${reason}`, cause === undefined ? undefined : { cause });
    this.failure = failure;
    this.query = query;
  }
}

export interface AskOptions {
  /** From sending. Default 2. */
  readonly timeoutSeconds?: number;
  /** Rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface DnsClient {
  /**
   * Asks once. At most `concurrency` queries are in flight, further ones wait their turn.
   * Rejects with a `DnsQueryError` or with the signal's reason.
   */
  ask(query: DnsQuery, options?: AskOptions): Promise<DecodedAnswer>;
  /** Fails the queries in flight with `closed`. Safe to call twice. */
  close(): void;
}

interface Pending {
  readonly query: DnsQuery;
  resolve(answer: DecodedAnswer): void;
  reject(error: unknown): void;
}

const DEFAULT_TIMEOUT_SECONDS = 2;
const DEFAULT_CONCURRENCY = 100;
const HEX_BYTES_SHOWN = 32;

/** Runs at most `limit` tasks at once; further ones wait their turn. */
function limiter(limit: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // A finished task hands its place to the next in line.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** The queries in flight, by ID. */
type PendingQueries = ReturnType<typeof createPendingQueries>;

function createPendingQueries() {
  const pending = new Map<number, Pending>();
  let nextId = Math.floor(Math.random() * 0x10000);
  let unexpected = 0;
  return {
    /** An ID that no query in flight has. */
    takeId: () => {
      do nextId = (nextId + 1) % 0x10000;
      while (pending.has(nextId));
      return nextId;
    },
    add: (id: number, query: Pending) => pending.set(id, query),
    remove: (id: number) => pending.delete(id),
    /** Settles the query that `message` answers. */
    answer: (message: Buffer) => {
      const id = message.length >= 2 ? message.readUInt16BE(0) : -1;
      const asked = pending.get(id);
      if (asked === undefined) {
        unexpected += 1;
        return;
      }
      pending.delete(id);
      try {
        asked.resolve(decodeAnswer(message, asked.query));
      } catch (cause) {
        asked.reject(undecodable(asked.query, message, cause));
      }
    },
    failAll: (failure: DnsFailure, reason: string, cause?: unknown) => {
      const failed = [...pending.values()];
      pending.clear();
      for (const { query, reject } of failed) reject(new DnsQueryError(failure, query, reason, cause));
    },
    /** Messages that matched no query in flight: late, duplicate, or with a wrong ID. */
    get unexpected() {
      return unexpected;
    },
  };
}

/** Sends one query and waits for its answer, the timeout or the signal. */
function exchange(
  channel: Channel,
  pending: PendingQueries,
  after: Clock['after'],
  query: DnsQuery,
  { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, signal }: AskOptions,
): Promise<DecodedAnswer> {
  const id = pending.takeId();
  const message = encodeQuery(id, query);
  const unexpectedBefore = pending.unexpected;
  return new Promise<DecodedAnswer>((resolve, reject) => {
    const settle = () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
      pending.remove(id);
    };
    const fail = (error: unknown) => {
      settle();
      reject(error);
    };
    const onAbort = () => fail(signal?.reason);
    const cancel = after(timeoutSeconds, () => {
      const text = timeoutText(timeoutSeconds, pending.unexpected - unexpectedBefore);
      fail(new DnsQueryError('timeout', query, text));
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    pending.add(id, {
      query,
      resolve: (answer) => {
        settle();
        resolve(answer);
      },
      reject: fail,
    });
    channel.send(message).catch((error: unknown) => {
      fail(
        new DnsQueryError('connection', query, error instanceof Error ? error.message : 'not sent', error),
      );
    });
  });
}

const OPEN: Readonly<Record<Transport, (endpoint: Endpoint, handlers: ChannelHandlers) => Channel>> = {
  udp: openUdpChannel,
  tcp: openTcpChannel,
  tls: openTlsChannel,
  https: openHttpsChannel,
};

/** Opens a client. Returns at once: whether a server listens shows only with the first query. */
export function createDnsClient(
  endpoint: Endpoint,
  transport: Transport,
  { after }: Pick<Clock, 'after'>,
  { concurrency = DEFAULT_CONCURRENCY }: { readonly concurrency?: number } = {},
): DnsClient {
  const pending = createPendingQueries();
  const limited = limiter(concurrency);
  const channel = OPEN[transport](endpoint, {
    onMessage: pending.answer,
    onFailure: (error) => pending.failAll('connection', error.message, error),
  });
  let closed = false;
  return {
    ask: (query, options = {}) =>
      limited(async () => {
        options.signal?.throwIfAborted();
        if (closed) throw new DnsQueryError('closed', query, 'the client was closed');
        return await exchange(channel, pending, after, query, options);
      }),
    close: () => {
      if (closed) return;
      closed = true;
      channel.close();
      pending.failAll('closed', 'the client was closed');
    },
  };
}

function undecodable(query: DnsQuery, message: Buffer, cause: unknown): DnsQueryError {
  const shown = message.subarray(0, HEX_BYTES_SHOWN).toString('hex');
  const rest = message.length > HEX_BYTES_SHOWN ? '…' : '';
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DnsQueryError(
    'undecodable',
    query,
    `cannot decode ${message.length} bytes (${why}): ${shown}${rest}`,
    cause,
  );
}

function timeoutText(seconds: number, strayMessages: number): string {
  const stray = strayMessages === 0 ? '' : `; ${strayMessages} messages had other IDs`;
  return `no answer within ${seconds} s${stray}`;
}
