/** One of the processes that serve in mode `multi`. */
import { PORT_VARIABLE } from '../cluster/messages.ts';
import { serveAsWorker } from '../cluster/worker.ts';
import type { ResolvedOptions } from '../options.ts';
import type { BuiltServer, Managed } from '../profiles/profile.ts';
import { never, readyOf, type Server, STOP_SECONDS } from './server.ts';
import { loadZones } from './zones.ts';

export function workerProcess(options: ResolvedOptions, built: BuiltServer): Server {
  const shutdown = () => built.shutdown(STOP_SECONDS);
  const { managed } = built;
  const port = Number(process.env[PORT_VARIABLE]);
  const load = async (zonesFile: string | null) => built.load(await loadZones(options, zonesFile));
  const open = async () => {
    await built.open(port);
    return built.udpBackend;
  };
  return {
    server: built.server,
    failed: never(),
    async start() {
      if (managed !== null) await serveAsWorker({ ...tasksOf(managed, options), load, open, shutdown });
      else {
        await load(null);
        await open();
      }
      return readyOf(options, port, 1, built.udpBackend, undefined);
    },
    reload: async () => undefined,
    stop: shutdown,
  };
}

function tasksOf(managed: Managed, options: ResolvedOptions) {
  return {
    prepare: async (zonesFile: string | null) => managed.prepare(await loadZones(options, zonesFile)),
    snapshot: () => managed.snapshot(),
  };
}
