/** A worker process in mode `multi`. */
import { PORTS_VARIABLE } from '../cluster/protocol.ts';
import { serveAsWorker } from '../cluster/serve-as-worker.ts';
import { readSnapshot, removeSnapshots } from '../cluster/zones-snapshot.ts';
import type { Ports } from '../endpoint/ports.ts';
import type { ResolvedOptions } from '../options.ts';
import type { BuiltServer } from '../profiles/profile.ts';
import type { Zones } from '../store/load.ts';
import { never, readyOf, type Server, STOP_SECONDS } from './server.ts';
import { zonesOf } from './zones.ts';

export function workerProcess(options: ResolvedOptions, built: BuiltServer): Server {
  const shutdown = () => built.shutdown(STOP_SECONDS);
  const { managed } = built;
  const ports: Ports = JSON.parse(process.env[PORTS_VARIABLE] ?? '{}');
  let snapshot: string | null = null;
  const read = (file: string | null): Promise<Zones> => {
    snapshot = file ?? snapshot;
    return file === null ? zonesOf(options) : readSnapshot(file);
  };
  // The primary removes its files itself, unless it is killed. Then Node.js ends the worker, whose channel is gone.
  process.once('exit', () => {
    if (snapshot !== null && !process.connected) removeSnapshots(snapshot);
  });
  const open = async () => {
    await built.open(ports);
    return built.udpBackend;
  };
  return {
    server: built.server,
    failed: never(),
    async start() {
      if (managed === null) await open();
      else {
        await serveAsWorker({
          prepare: async ({ zonesFile, secrets }) => managed.prepare(await read(zonesFile), secrets),
          snapshot: () => managed.snapshot(),
          open,
          shutdown,
        });
      }
      return readyOf(options, ports, 1, built.udpBackend, undefined);
    },
    reload: async () => undefined,
    stop: shutdown,
  };
}
