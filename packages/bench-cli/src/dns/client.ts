/**
 * A DNS client for checks, not for load: is the server ready, and is every answer right? One connected
 * socket carries all queries, answers are matched by id, nothing is repeated.
 */
import type { Transport } from '../results/record.ts';
import type { Clock } from '../world.ts';
import type { Endpoint } from './endpoint.ts';
import { type DecodedAnswer, type DnsQuery, decodeAnswer, encodeQuery } from './message.ts';
import { openTcpChannel } from './tcp-channel.ts';
import { openUdpChannel } from './udp-channel.ts';

export type { DecodedAnswer, DnsQuery } from './message.ts';

/**
 * - `timeout`: nothing with the query's id came in time;
 * - `undecodable`: something came, and it is no DNS response;
 * - `connection`: refused, reset or closed by the server;
 * - `closed`: this client was closed.
 */
export type DnsFailure = 'timeout' | 'undecodable' | 'connection' | 'closed';

/** A query that got no answer that can be read. An answer with any response code is not an error. */
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
  /** Messages that matched no query in flight: late, doubled, or with a wrong id. */
  readonly unexpectedMessages: number;
  /** Fails what is in flight with `closed`. Safe to call twice. */
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

/** Opens a client. Resolves at once: whether anybody listens shows when something is asked. */
export function createDnsClient(
  endpoint: Endpoint,
  transport: Transport,
  { after }: Pick<Clock, 'after'>,
  { concurrency = DEFAULT_CONCURRENCY }: { readonly concurrency?: number } = {},
): DnsClient {
  const pending = new Map<number, Pending>();
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let nextId = Math.floor(Math.random() * 0x10000);
  let unexpectedMessages = 0;
  let closed = false;

  const failAll = (failure: DnsFailure, reason: string, cause?: unknown) => {
    const failed = [...pending.values()];
    pending.clear();
    for (const { query, reject } of failed) reject(new DnsQueryError(failure, query, reason, cause));
  };
  const open = transport === 'udp' ? openUdpChannel : openTcpChannel;
  const channel = open(endpoint, {
    onMessage: (message) => {
      const id = message.length >= 2 ? message.readUInt16BE(0) : -1;
      const asked = pending.get(id);
      if (asked === undefined) {
        unexpectedMessages += 1;
        return;
      }
      pending.delete(id);
      try {
        asked.resolve(decodeAnswer(message, asked.query));
      } catch (cause) {
        asked.reject(undecodable(asked.query, message, cause));
      }
    },
    onFailure: (error) => failAll('connection', error.message, error),
  });

  const takeId = () => {
    do nextId = (nextId + 1) % 0x10000;
    while (pending.has(nextId));
    return nextId;
  };

  const exchange = (query: DnsQuery, { timeoutSeconds, signal }: AskOptions): Promise<DecodedAnswer> => {
    const id = takeId();
    const message = encodeQuery(id, query);
    const strayBefore = unexpectedMessages;
    const limit = timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
    return new Promise<DecodedAnswer>((resolve, reject) => {
      const settle = () => {
        cancel();
        signal?.removeEventListener('abort', onAbort);
        pending.delete(id);
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      const onAbort = () => fail(signal?.reason);
      const cancel = after(limit, () => {
        fail(new DnsQueryError('timeout', query, timeoutText(limit, unexpectedMessages - strayBefore)));
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      pending.set(id, {
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
  };

  return {
    ask: async (query, options = {}) => {
      if (inFlight >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
      else inFlight += 1;
      try {
        options.signal?.throwIfAborted();
        if (closed) throw new DnsQueryError('closed', query, 'the client was closed');
        return await exchange(query, options);
      } finally {
        // The place in flight is handed on to the next in line, or given back.
        const next = waiting.shift();
        if (next === undefined) inFlight -= 1;
        else next();
      }
    },
    get unexpectedMessages() {
      return unexpectedMessages;
    },
    close: () => {
      if (closed) return;
      closed = true;
      channel.close();
      failAll('closed', 'the client was closed');
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
