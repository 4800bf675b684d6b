/** A worker process in mode `multi`. */
import { PORTS_VARIABLE } from '../cluster/messages.ts';
import { serveAsWorker } from '../cluster/serve-as-worker.ts';
import { removeSnapshots } from '../cluster/zones-snapshot.ts';
import type { Ports } from '../endpoint/ports.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import type { BuiltServer, Managed } from '../profiles/profile.ts';
import { never, readyOf, type Server, STOP_SECONDS } from './server.ts';
import { loadZones } from './zones.ts';

export function workerProcess(options: ResolvedOptions, built: BuiltServer): Server {
  const shutdown = () => built.shutdown(STOP_SECONDS);
  const { managed } = built;
  const ports: Ports = JSON.parse(process.env[PORTS_VARIABLE] ?? '{}');
  let snapshot: string | null = null;
  const zonesOf = (zonesFile: string | null) => {
    snapshot = zonesFile ?? snapshot;
    return loadZones(options, zonesFile);
  };
  // The primary removes its files itself, unless it is killed. Then Node.js ends the worker, whose channel is gone.
  process.once('exit', () => {
    if (snapshot !== null && !process.connected) removeSnapshots(snapshot);
  });
  const load = async (zonesFile: string | null) => built.load(await zonesOf(zonesFile));
  const open = async () => {
    await built.open(ports);
    return built.udpBackend;
  };
  return {
    server: built.server,
    failed: never(),
    async start() {
      if (managed !== null) await serveAsWorker({ ...tasksOf(managed, zonesOf), load, open, shutdown });
      else {
        await load(null);
        await open();
      }
      return readyOf(options, ports, 1, built.udpBackend, undefined);
    },
    reload: async () => undefined,
    stop: shutdown,
  };
}

function tasksOf(managed: Managed, zonesOf: (zonesFile: string | null) => Promise<ZoneSource>) {
  return {
    prepare: async (zonesFile: string | null) => managed.prepare(await zonesOf(zonesFile)),
    snapshot: () => managed.snapshot(),
  };
}
