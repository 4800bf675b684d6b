/** The primary of a multi-process server, with this package's workers or the framework's. */
import { cpus } from 'node:os';
import { watchFramework } from '../cluster/framework-primary.ts';
import { PoolPrimary, type Primary } from '../cluster/pool-primary.ts';
import { PORTS_VARIABLE } from '../cluster/protocol.ts';
import { type SnapshotFile, ZonesSnapshot } from '../cluster/zones-snapshot.ts';
import { usableCpus } from '../cpus/usable-cpus.ts';
import { type Ports, reservePorts } from '../endpoint/ports.ts';
import { probe } from '../endpoint/probe.ts';
import { ServerError, stoppedEarly } from '../errors.ts';
import type { ReloadCounts } from '../metrics/exposition.ts';
import type { MetricsEndpoint } from '../metrics/http.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import type { BuiltServer } from '../profiles/profile.ts';
import { counted, never, READY_SECONDS, readyOf, type Server, STOP_SECONDS, turns, watch } from './server.ts';
import { cannotReload, secretsOf, zonesReader } from './zones.ts';

/**
 * UDP and TCP clients per worker that must get an answer. There are several because the kernel picks the worker.
 */
const PROBES_PER_WORKER = 4;

export function frameworkPrimary(options: ResolvedOptions, built: BuiltServer): Server {
  const workers = cpus().length;
  let primary: Primary | undefined;
  return {
    server: built.server,
    failed: never(),
    async start() {
      const ports = await reservePorts(options);
      process.env[PORTS_VARIABLE] = JSON.stringify(ports);
      const networks = options.addresses.length * 2 + (options.tls === undefined ? 0 : 1);
      primary = watchFramework(() => built.server.start(), networks);
      await startWithin(primary, options, ports, workers);
      return readyOf(options, ports, workers, built.udpBackend, undefined);
    },
    reload: () => Promise.reject(cannotReload()),
    async stop() {
      await primary?.stop(STOP_SECONDS);
    },
  };
}

export function poolPrimary(options: ResolvedOptions, built: BuiltServer): Server {
  const { log, zonesFile, zoneFiles } = options;
  const size = options.workers ?? usableCpus().cpus;
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  const zones = new ZonesSnapshot();
  const secrets = secretsOf(options);
  const zonesNow = zonesReader(options, () => zones.directory());
  // A reload that is asked for during the start follows it: both write the same files.
  const inTurn = turns();
  const reloads: ReloadCounts = { succeeded: 0, failed: 0 };
  let isStopping = false;
  let pool: PoolPrimary | undefined;
  let endpoint: MetricsEndpoint | undefined;

  /** The zones that the options name, in a file for the workers; null if they load them by themselves. */
  async function own(): Promise<SnapshotFile | null> {
    return zonesFile === undefined && zoneFiles === undefined ? null : zones.write(await zonesNow());
  }

  async function close(seconds: number): Promise<void> {
    isStopping = true;
    await pool?.stop(seconds);
    await endpoint?.close();
    zones.clear();
  }

  return {
    server: built.server,
    failed: failure.promise,
    start: inTurn(async () => {
      const ports = await reservePorts(options);
      // To stop removes the directory, which fails what still writes to it.
      const file = await own().catch((error: unknown) => {
        throw isStopping ? stoppedEarly() : error;
      });
      zones.keep(file);
      if (isStopping) {
        zones.clear();
        throw stoppedEarly();
      }
      const workers = new PoolPrimary({
        size,
        standby: options.standby,
        ports,
        served: { zones: file, secrets },
        log,
      });
      pool = workers;
      workers.failed.catch((error) => close(0).then(() => failure.reject(error)));
      try {
        endpoint = await watch(
          options,
          () => ({ ready: workers.ready, size, serving: !isStopping }),
          async () => ({
            backend: workers.udpBackend ?? 'none',
            size,
            restarts: workers.restarts,
            reloads,
            workers: await workers.snapshots(),
          }),
        );
        await startWithin(workers, options, ports, size);
      } catch (error) {
        await close(0);
        throw error;
      }
      return readyOf(options, ports, size, workers.udpBackend ?? built.udpBackend, endpoint?.port);
    }),
    reload: inTurn(
      counted(reloads, async (source?: ZoneSource) => {
        const start = performance.now();
        const file = source === undefined ? await own() : await zones.write(source);
        try {
          await pool?.reload({ zones: file, secrets: secretsOf(options) });
        } catch (error) {
          file?.remove();
          throw error;
        }
        zones.keep(file);
        log.info({ seconds: (performance.now() - start) / 1000 }, 'Zones reloaded');
      }),
    ),
    stop: () => close(STOP_SECONDS),
  };
}

async function startWithin(
  primary: Primary,
  options: ResolvedOptions,
  ports: Ports,
  workers: number,
): Promise<void> {
  const timer = Promise.withResolvers<never>();
  const timeout = setTimeout(() => {
    const message = `Not all of ${workers} workers were ready within ${READY_SECONDS} s.`;
    timer.reject(new ServerError('E_START', message, 'See their messages above, or use fewer zones.'));
  }, READY_SECONDS * 1000);
  try {
    await Promise.race([primary.start(), timer.promise]);
    const sockets = workers * PROBES_PER_WORKER;
    await Promise.race([
      probe(options.addresses, ports, { sockets, seconds: READY_SECONDS }),
      primary.failed,
    ]);
  } catch (error) {
    await primary.stop(0);
    throw error;
  } finally {
    clearTimeout(timeout);
  }
}
