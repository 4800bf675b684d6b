/** What a program gets from `createServer`, whichever processes are behind it. */
import type { DefaultServer } from 'dinodns/common/server/index.js';
import type { ResolvedOptions, ZoneSource } from '../options.ts';

/** A graceful stop gives up on queries that are not answered within this time. */
export const STOP_SECONDS = 5;
/** Start and first answer together take no longer; a million zones on a slow CPU take about a minute. */
export const READY_SECONDS = 120;

/** The server answers. */
export interface Ready {
  readonly ready: true;
  /** The first of the addresses. */
  readonly address: string;
  readonly addresses: readonly string[];
  readonly port: number;
  /** The process to send SIGTERM to: the only one, or the primary. */
  readonly pid: number;
  /** Processes that answer queries. */
  readonly workers: number;
  /** `native`: many datagrams per system call; `dgram`: one at a time, through Node.js. */
  readonly udpBackend: string;
  /** Port of the metrics endpoint; absent without one. */
  readonly metricsPort?: number;
}

export interface Server {
  /** The framework's server of this process: add middleware and handlers before `start`. */
  readonly server: DefaultServer;
  /**
   * Resolves once the server answers over UDP and TCP, every worker of it. Rejects with a `ServerError`, and
   * then nothing is left running.
   */
  start(): Promise<Ready>;
  /**
   * Serves other zones from now on: these, or without an argument those that the options load. Meanwhile the
   * present ones are served; each process goes over from one query to the next, and all of them only if none
   * has failed. Rejects with a `ServerError` that says why, and then nothing has changed. In mode `multi` it is
   * the primary's to call; in a worker it does nothing.
   */
  reload(zones?: ZoneSource): Promise<void>;
  /** Answers what has been received, then closes everything. Takes at most about 6 seconds. */
  stop(): Promise<void>;
  /** Rejects with a `ServerError` if the started server cannot go on serving; never resolves. */
  readonly failed: Promise<never>;
}

export function readyOf(
  { addresses }: ResolvedOptions,
  port: number,
  workers: number,
  udpBackend: string,
  metricsPort: number | undefined,
): Ready {
  const metrics = metricsPort === undefined ? {} : { metricsPort };
  return {
    ready: true,
    address: addresses[0],
    addresses,
    port,
    pid: process.pid,
    workers,
    udpBackend,
    ...metrics,
  };
}

export function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** Runs one at a time, in the order of the calls, whatever becomes of the one before. */
export function inTurn<T extends unknown[]>(
  run: (...args: T) => Promise<void>,
): (...args: T) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (...args) => {
    const own = last.then(() => run(...args));
    last = own.catch(() => undefined);
    return own;
  };
}
