/** The result of `createServer`, whatever processes are behind it. */
import { given } from '@dinodns-bench/program';
import type { DefaultServer } from 'dinodns/common/server/index.js';
import type { Ports } from '../endpoint/ports.ts';
import type { Exposed, ReloadCounts } from '../metrics/exposition.ts';
import type { Health, MetricsEndpoint } from '../metrics/http.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import { packageVersion } from '../version.ts';

/** A graceful stop gives up on queries that take longer than this. */
export const STOP_SECONDS = 5;
/** Time limit for start and first answer together. A million zones on a slow CPU take about a minute. */
export const READY_SECONDS = 120;

/** The server answers. */
export interface Ready {
  readonly ready: true;
  /** The first address. */
  readonly address: string;
  readonly addresses: readonly string[];
  /** UDP and TCP. */
  readonly port: number;
  /** DNS over TLS; absent without it. */
  readonly tlsPort?: number;
  /** DNS over HTTPS; absent without it. */
  readonly httpsPort?: number;
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
   * Resolves once every worker answers, over every transport. Rejects with a `ServerError` and then leaves nothing
   * running.
   */
  start(): Promise<Ready>;
  /**
   * Serves the given zones, or without an argument reloads those of the options. The present zones stay in service
   * meanwhile. Each process switches between two queries, and none switches unless all have loaded the zones.
   * Rejects with a `ServerError` that says why, and then nothing has changed. In mode `multi`, call it in the
   * primary; in a worker it does nothing.
   */
  reload(zones?: ZoneSource): Promise<void>;
  /** Answers the queries received so far, then closes everything. Takes at most about 6 seconds. */
  stop(): Promise<void>;
  /** Rejects with a `ServerError` if a started server fails for good; never resolves. */
  readonly failed: Promise<never>;
}

export function readyOf(
  { addresses }: ResolvedOptions,
  { dns, tls, https }: Ports,
  workers: number,
  udpBackend: string,
  metricsPort: number | undefined,
): Ready {
  return {
    ready: true,
    address: addresses[0],
    addresses,
    port: dns,
    ...given({ tlsPort: tls, httpsPort: https }),
    pid: process.pid,
    workers,
    udpBackend,
    ...given({ metricsPort }),
  };
}

export function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** Counts how each call of `reload` ends. */
export function counted<T extends unknown[]>(
  counts: ReloadCounts,
  reload: (...args: T) => Promise<void>,
): (...args: T) => Promise<void> {
  return async (...args) => {
    try {
      await reload(...args);
    } catch (error) {
      counts.failed++;
      throw error;
    }
    counts.succeeded++;
  };
}

/** Makes functions whose calls run one at a time and in order, even if an earlier one fails. */
export function turns(): <T extends unknown[], R>(
  run: (...args: T) => Promise<R>,
) => (...args: T) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) =>
    (...args) => {
      const own = last.then(() => run(...args));
      last = own.catch(() => undefined);
      return own;
    };
}

/** Serves health and metrics if the options ask for it. Rejects with a `ServerError` if it cannot. */
export async function watch(
  { metrics: wanted, log }: ResolvedOptions,
  health: () => Health,
  exposed: () => Omit<Exposed, 'version'> | Promise<Omit<Exposed, 'version'>>,
): Promise<MetricsEndpoint | undefined> {
  if (wanted === undefined) return undefined;
  const { exposition } = await import('../metrics/exposition.ts');
  const { serveMetrics } = await import('../metrics/http.ts');
  const metrics = async () => exposition({ version: packageVersion(), ...(await exposed()) });
  return serveMetrics(wanted.address, wanted.port, { health, metrics }, log);
}
