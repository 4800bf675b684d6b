/** Puts profile, mode and zones together into a server that can be started and stopped. */
import cluster from 'node:cluster';
import { cpus } from 'node:os';
import { defineZoneSet } from '@dinodns-bench/zones';
import type { DefaultServer } from 'dinodns/common/server/index.js';
import { watchFramework } from './cluster/framework-primary.ts';
import { PORT_VARIABLE } from './cluster/messages.ts';
import { createPrimary, type Primary } from './cluster/primary.ts';
import { serveAsWorker } from './cluster/worker.ts';
import { usableCpus } from './cpus/usable-cpus.ts';
import { probe } from './endpoint/probe.ts';
import { reservePort } from './endpoint/reserve-port.ts';
import { ServerError, stoppedEarly } from './errors.ts';
import { type ResolvedOptions, resolveOptions, type ServerOptions, type ZoneSource } from './options.ts';
import { dinodnsProfile } from './profiles/dinodns.ts';
import type { BuiltServer, Profile } from './profiles/profile.ts';
import { stockProfile } from './profiles/stock.ts';

/** A graceful stop gives up on queries that are not answered within this time. */
export const STOP_SECONDS = 5;
/** Start and first answer together take no longer; a million zones on a slow CPU take about a minute. */
const READY_SECONDS = 120;
/** Clients over UDP and TCP per worker that must be answered, because the kernel picks the worker. */
const PROBES_PER_WORKER = 4;

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
}

export interface Server {
  /** The framework's server of this process: add middleware and handlers before `start`. */
  readonly server: DefaultServer;
  /**
   * Resolves once the server answers over UDP and TCP, every worker of it. Rejects with a `ServerError`, and
   * then nothing is left running.
   */
  start(): Promise<Ready>;
  /** Answers what has been received, then closes everything. Takes at most about 6 seconds. */
  stop(): Promise<void>;
  /** Rejects with a `ServerError` if the started server cannot go on serving; never resolves. */
  readonly failed: Promise<never>;
}

const PROFILE_BY_NAME = { dinodns: dinodnsProfile, stock: stockProfile } as const satisfies Record<
  ResolvedOptions['profile'],
  Profile
>;

/**
 * A server that is not started yet. In mode `multi` the workers run the same program again, as always with
 * Node's cluster module: they come to the same `createServer` and `start`, which serves in them and resolves
 * there too. Throws `E_USAGE` or `E_UNSUPPORTED` for options that are impossible.
 */
export function createServer(options: ServerOptions = {}): Server {
  const resolved = resolveOptions(options, () => defineZoneSet());
  const profile = PROFILE_BY_NAME[resolved.profile];
  const refusal = profile.unsupported(resolved);
  if (refusal !== null) throw new ServerError('E_UNSUPPORTED', refusal.reason, refusal.fix);
  const built = profile.build(resolved, resolved.mode === 'multi');
  if (resolved.mode === 'single') return singleProcess(resolved, built);
  return cluster.isPrimary
    ? primaryProcess(resolved, profile, built)
    : workerProcess(resolved, profile, built);
}

function readyOf(options: ResolvedOptions, port: number, workers: number, pid = process.pid): Ready {
  const { addresses } = options;
  return { ready: true, address: addresses[0], addresses, port, pid, workers };
}

/** A name that the server knows. */
function anyName({ zones }: ResolvedOptions): string {
  for (const { name } of (zones satisfies ZoneSource).zones()) return name;
  return '.';
}

function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

function singleProcess(options: ResolvedOptions, built: BuiltServer): Server {
  const stopping = new AbortController();
  return {
    server: built.server,
    failed: never(),
    async start() {
      const port = await reservePort(options.addresses, options.port);
      stopping.signal.throwIfAborted();
      await built.open(port);
      try {
        const { signal } = stopping;
        await probe(options.addresses, port, anyName(options), {
          sockets: 1,
          seconds: READY_SECONDS,
          signal,
        });
      } catch (error) {
        await built.shutdown(0);
        throw error;
      }
      return readyOf(options, port, 1);
    },
    async stop() {
      stopping.abort(stoppedEarly());
      await built.shutdown(STOP_SECONDS);
    },
  };
}

function primaryProcess(options: ResolvedOptions, profile: Profile, built: BuiltServer): Server {
  const isOurs = profile.clusteredBy === 'package';
  const workers = isOurs ? (options.workers ?? usableCpus().cpus) : cpus().length;
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  let primary: Primary | undefined;
  return {
    server: built.server,
    failed: failure.promise,
    async start() {
      const port = await reservePort(options.addresses, options.port);
      process.env[PORT_VARIABLE] = String(port);
      const sockets = options.addresses.length * 2;
      primary = isOurs ? createPrimary(workers, port) : watchFramework(() => built.server.start(), sockets);
      primary.failed.catch(failure.reject);
      await startWithin(primary, options, port, workers);
      return readyOf(options, port, workers);
    },
    async stop() {
      await primary?.stop(STOP_SECONDS);
    },
  };
}

async function startWithin(
  primary: Primary,
  options: ResolvedOptions,
  port: number,
  workers: number,
): Promise<void> {
  const timer = Promise.withResolvers<never>();
  const timeout = setTimeout(() => {
    const message = `Not all of ${workers} workers were ready within ${READY_SECONDS} s.`;
    timer.reject(new ServerError('E_START', message, 'Look at their messages above, or use fewer zones.'));
  }, READY_SECONDS * 1000);
  try {
    await Promise.race([primary.start(), timer.promise]);
    const name = anyName(options);
    const sockets = workers * PROBES_PER_WORKER;
    await Promise.race([
      probe(options.addresses, port, name, { sockets, seconds: READY_SECONDS }),
      primary.failed,
    ]);
  } catch (error) {
    await primary.stop(0);
    throw error;
  } finally {
    clearTimeout(timeout);
  }
}

function workerProcess(options: ResolvedOptions, profile: Profile, built: BuiltServer): Server {
  const shutdown = () => built.shutdown(STOP_SECONDS);
  return {
    server: built.server,
    failed: never(),
    async start() {
      const port = Number(process.env[PORT_VARIABLE]);
      const open = () => built.open(port);
      if (profile.clusteredBy === 'package') await serveAsWorker(open, shutdown);
      else await open();
      return readyOf(options, port, 1);
    },
    stop: shutdown,
  };
}
