/** A single-process server. */
import { ZonesSnapshot } from '../cluster/zones-snapshot.ts';
import { type Ports, reservePorts } from '../endpoint/ports.ts';
import { probe } from '../endpoint/probe.ts';
import { stoppedEarly } from '../errors.ts';
import type { ReloadCounts } from '../metrics/exposition.ts';
import type { MetricsEndpoint } from '../metrics/http.ts';
import type { ResolvedOptions } from '../options.ts';
import type { BuiltServer } from '../profiles/profile.ts';
import { counted, never, READY_SECONDS, readyOf, type Server, STOP_SECONDS, turns, watch } from './server.ts';
import { cannotReload, secretsOf, zonesReader } from './zones.ts';

type State = 'starting' | 'serving' | 'stopping';

export function singleProcess(options: ResolvedOptions, built: BuiltServer): Server {
  const stopping = new AbortController();
  const { managed } = built;
  // The published framework reads its certificate itself.
  const secrets = managed === null ? { cookies: [] } : secretsOf(options);
  let state: State = 'starting';
  let endpoint: MetricsEndpoint | undefined;

  const snapshot = new ZonesSnapshot();
  const zonesNow = zonesReader(options, () => snapshot.directory());
  // A reload that is asked for during the start follows it: both write the same files.
  const inTurn = turns();
  const reloads: ReloadCounts = { succeeded: 0, failed: 0 };

  async function open(ports: Ports): Promise<void> {
    const swap = await managed?.prepare(await zonesNow(), secrets);
    swap?.();
    await built.open(ports);
    try {
      const limits = { sockets: 1, seconds: READY_SECONDS, signal: stopping.signal };
      await probe(options.addresses, ports, limits);
    } catch (error) {
      await built.shutdown(0);
      throw error;
    }
  }

  return {
    server: built.server,
    failed: never(),
    start: inTurn(async () => {
      const ports = await reservePorts(options);
      stopping.signal.throwIfAborted();
      if (managed !== null) {
        endpoint = await watch(
          options,
          () => ({ ready: state === 'starting' ? 0 : 1, size: 1, serving: state === 'serving' }),
          () => ({
            backend: built.udpBackend,
            size: 1,
            restarts: 0,
            reloads,
            workers: new Map([[0, managed.snapshot()]]),
          }),
        );
      }
      try {
        await open(ports);
      } catch (error) {
        await endpoint?.close();
        snapshot.clear();
        throw error;
      }
      state = 'serving';
      return readyOf(options, ports, 1, built.udpBackend, endpoint?.port);
    }),
    reload: inTurn(
      counted(reloads, async (zones) => {
        if (managed === null) throw cannotReload();
        const next = zones ?? (await zonesNow());
        const start = performance.now();
        const swap = await managed.prepare(next, secretsOf(options));
        swap();
        options.log.info({ seconds: (performance.now() - start) / 1000 }, 'Zones reloaded');
      }),
    ),
    async stop() {
      state = 'stopping';
      stopping.abort(stoppedEarly());
      await built.shutdown(STOP_SECONDS);
      await endpoint?.close();
      snapshot.clear();
    },
  };
}
