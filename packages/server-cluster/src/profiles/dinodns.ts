/**
 * Profile `dinodns`: the framework's server with batched networks in front. The zone store comes after all
 * middleware and handlers, so that these see every query first, as in any other DinoDNS server. A query that none
 * of them would touch is answered from the store's answer table, before it becomes an object.
 */
import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { WORKERS_VARIABLE } from '../cluster/messages.ts';
import { usableCpus } from '../cpus/usable-cpus.ts';
import { bindError } from '../errors.ts';
import { Gate } from '../framework/gate.ts';
import { CaseInsensitiveRouter } from '../framework/router.ts';
import { Counters } from '../metrics/counters.ts';
import {
  addConnections,
  addSockets,
  NO_CONNECTIONS,
  NO_SOCKETS,
  type WorkerSnapshot,
} from '../metrics/snapshot.ts';
import { BatchedUdpNetwork } from '../network/batched-udp.ts';
import { canReusePort } from '../network/reuse-port.ts';
import { RobustTcpNetwork } from '../network/tcp.ts';
import type { ZoneSource } from '../options.ts';
import { loadStore } from '../store/load.ts';
import { ZoneStore } from '../store/zone-store.ts';
import { createAnswerTable } from '../table/answer-table.ts';
import { Transfers } from '../transfer/transfer.ts';
import type { BuiltServer, Managed, Profile } from './profile.ts';

function finish(): void {
  // The store comes last in the chain.
}

/**
 * Answers from the zones. For a name outside of them we are not authoritative and must not deny it (RFC 9499,
 * "lame delegation").
 */
function answerFrom(store: ZoneStore): Handler {
  return (request, response) => {
    store.handler(request, response, finish);
    if (!response.finished) response.errors.refused();
  };
}

interface Networks {
  readonly udp: readonly BatchedUdpNetwork[];
  readonly tcp: readonly RobustTcpNetwork[];
}

async function openAll({ udp, tcp }: Networks, port: number): Promise<void> {
  const networks = [...udp, ...tcp];
  for (const network of networks) {
    network.port = port;
    try {
      await network.open();
    } catch (error) {
      for (const opened of networks) opened.close();
      throw bindError(error, network.address, port);
    }
  }
}

/** This process's counters and the totals of its sockets and connections. */
function snapshotOf(
  counters: Counters,
  { udp, tcp }: Networks,
  reloads: WorkerSnapshot['reloads'],
): WorkerSnapshot {
  const usage = process.cpuUsage();
  return {
    udp: [...counters.udp.values],
    tcp: [...counters.tcp.values],
    sockets: udp.map(({ totals }) => totals).reduce(addSockets, NO_SOCKETS),
    connections: tcp.map(({ totals }) => totals).reduce(addConnections, NO_CONNECTIONS),
    reloads: { ...reloads },
    cpuSeconds: (usage.user + usage.system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    startSeconds: performance.timeOrigin / 1000,
  };
}

function manage(store: ZoneStore, counters: Counters, networks: Networks): Managed {
  const reloads = { succeeded: 0, failed: 0 };
  return {
    async prepare(zones: ZoneSource) {
      const next = new ZoneStore();
      try {
        await loadStore(next, zones);
      } catch (error) {
        reloads.failed++;
        throw error;
      }
      return () => {
        store.replaceWith(next);
        reloads.succeeded++;
      };
    },
    snapshot: () => snapshotOf(counters, networks, reloads),
  };
}

/** How long each worker waits for more queries when workers outnumber CPUs. Measured: README, "Workers". */
const OVERCOMMITTED_GATHER_MICROSECONDS = 50;

/** Workers that share a CPU would otherwise wake up for a few queries each. */
function gatherTime(workers: number): number {
  return workers > 1 && workers > usableCpus().limit ? OVERCOMMITTED_GATHER_MICROSECONDS : 0;
}

export const dinodnsProfile: Profile = {
  name: 'dinodns',
  clusteredBy: 'package',
  unsupported: () => null,
  build(options, shared): BuiltServer {
    const { addresses, port, log, rateLimit, udpBackend, balance, tcp } = options;
    const reusePort = shared && canReusePort();
    const workers = Number(process.env[WORKERS_VARIABLE] ?? 1);
    const spread = reusePort && balance === 'random' ? { spreadOver: workers } : {};
    const gatherMicroseconds = options.gatherMicroseconds ?? gatherTime(workers);
    const store = new ZoneStore();
    const gate = new Gate({ log });
    const table = createAnswerTable(store);
    const responder = gate.guard(table);
    const counters = new Counters();
    const { allowTransfer } = options;
    const transfers = allowTransfer.length === 0 ? {} : { transfers: new Transfers(store, allowTransfer) };
    const common = { port, reusePort, responder, log };
    const networks: Networks = {
      udp: addresses.map((address) => {
        const limit = rateLimit === undefined ? {} : { rateLimit };
        return new BatchedUdpNetwork({
          ...common,
          ...spread,
          ...limit,
          gatherMicroseconds,
          address,
          backend: udpBackend,
          counters: counters.udp,
        });
      }),
      tcp: addresses.map(
        (address) =>
          new RobustTcpNetwork({ ...common, ...tcp, ...transfers, address, counters: counters.tcp }),
      ),
    };
    const server = new DefaultServer({
      networks: [...networks.udp, ...networks.tcp],
      router: new CaseInsensitiveRouter(gate),
      defaultHandler: answerFrom(store),
    });
    return {
      server,
      managed: manage(store, counters, networks),
      get udpBackend() {
        return networks.udp[0]?.backend ?? 'dgram';
      },
      load: (zones) => loadStore(store, zones),
      open: (openPort) => openAll(networks, openPort),
      async shutdown(seconds) {
        await Promise.all([...networks.udp, ...networks.tcp].map((network) => network.shutdown(seconds)));
      },
    };
  },
};
