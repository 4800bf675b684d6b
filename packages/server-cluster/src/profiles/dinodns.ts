/**
 * Profile `dinodns`: the framework's server with batched networks in front. The zone store comes after all
 * middleware and handlers, so that these see every query first, as in any other DinoDNS server. A query that none
 * of them would touch is answered from the store's answer table, before it becomes an object.
 */

import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { WORKERS_VARIABLE } from '../cluster/protocol.ts';
import { type UsableCpus, usableCpus } from '../cpus/usable-cpus.ts';
import type { Ports } from '../endpoint/ports.ts';
import { bindError } from '../errors.ts';
import { Bypass } from '../framework/bypass.ts';
import { CaseInsensitiveRouter } from '../framework/router.ts';
import { Cookies } from '../limits/cookies.ts';
import { PendingLimit } from '../limits/pending-limit.ts';
import {
  addTotals,
  type ConnectionTotals,
  Counters,
  NO_CONNECTIONS,
  NO_SOCKETS,
  type SocketTotals,
  type WorkerSnapshot,
} from '../metrics/counters.ts';
import { BatchedUdpNetwork } from '../network/batched-udp.ts';
import { HttpsNetwork } from '../network/https.ts';
import { canReusePort } from '../network/managed-network.ts';
import { RobustTcpNetwork } from '../network/tcp.ts';
import { credentialsOf } from '../network/tls-credentials.ts';
import type { ResolvedOptions } from '../options.ts';
import { loadStore } from '../store/load.ts';
import { ZoneStore } from '../store/zone-store.ts';
import { createAnswerTable } from '../table/answer-table.ts';
import { Transfers } from '../transfer/transfer.ts';
import type { BuiltServer, Managed, Profile, Secrets } from './profile.ts';

function finish(): void {
  // The store comes last in the chain.
}

/**
 * Answers from the zones. For a name outside of them we are not authoritative and must not deny it (RFC 9499,
 * "lame delegation").
 */
function lastHandler(store: ZoneStore): Handler {
  return (request, response) => {
    store.handler(request, response, finish);
    if (!response.finished) response.errors.refused();
  };
}

interface Networks {
  readonly udp: readonly BatchedUdpNetwork[];
  readonly tcp: readonly RobustTcpNetwork[];
  readonly tls: readonly RobustTcpNetwork[];
  readonly https: readonly HttpsNetwork[];
}

function allOf({ udp, tcp, tls, https }: Networks) {
  return [...udp, ...tcp, ...tls, ...https];
}

async function openAll(networks: Networks, { dns, tls = 0, https = 0 }: Ports): Promise<void> {
  for (const network of networks.tls) network.port = tls;
  for (const network of networks.https) network.port = https;
  for (const network of [...networks.udp, ...networks.tcp]) network.port = dns;
  const all = allOf(networks);
  for (const network of all) {
    try {
      await network.open();
    } catch (error) {
      for (const opened of all) opened.close();
      throw bindError(error, network.address, network.port);
    }
  }
}

/** This process's counters and the totals of its sockets and connections. */
function snapshotOf(counters: Counters, { udp, tcp, tls, https }: Networks): WorkerSnapshot {
  const usage = process.cpuUsage();
  return {
    transports: {
      udp: [...counters.udp.values],
      tcp: [...counters.tcp.values],
      ...(tls.length === 0 ? {} : { tls: [...counters.tls.values] }),
      ...(https.length === 0 ? {} : { https: [...counters.https.values] }),
    },
    sockets: udp.map(({ totals }) => totals).reduce<SocketTotals>(addTotals, NO_SOCKETS),
    connections: [...tcp, ...tls, ...https]
      .map(({ totals }) => totals)
      .reduce<ConnectionTotals>(addTotals, NO_CONNECTIONS),
    cpuSeconds: (usage.user + usage.system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    startSeconds: performance.timeOrigin / 1000,
  };
}

function use(
  { cookies: secrets, pem }: Secrets,
  { tls, https }: Networks,
  cookies: Cookies | undefined,
): void {
  cookies?.renew(secrets.map((secret) => Buffer.from(secret, 'hex')));
  const credentials = pem === undefined ? undefined : credentialsOf(pem);
  if (credentials !== undefined) for (const network of [...tls, ...https]) network.renew(credentials);
}

function manage(
  store: ZoneStore,
  counters: Counters,
  networks: Networks,
  cookies: Cookies | undefined,
): Managed {
  return {
    async prepare(zones, secrets) {
      const next = new ZoneStore();
      await loadStore(next, zones);
      return () => {
        store.replaceWith(next);
        use(secrets, networks, cookies);
      };
    },
    snapshot: () => snapshotOf(counters, networks),
  };
}

/** How long each worker waits for more queries when workers outnumber CPUs. Measured: README, "Workers". */
const OVERCOMMITTED_GATHER_MICROSECONDS = 50;

/**
 * How the workers share the port's datagrams. No more workers get some than may run at once, because each worker that wakes up for
 * its share costs the others CPU time: two under a quota of one CPU took 1.26 times as much a query as one alone. The rest take the
 * place of those that end. Workers that share a CPU nevertheless wait for more than a few queries at a time.
 */
export function sharingOf(
  options: Pick<ResolvedOptions, 'balance' | 'gatherMicroseconds'>,
  workers: number,
  { limit, cpus }: Pick<UsableCpus, 'limit' | 'cpus'> = usableCpus(),
) {
  const isRandom = options.balance === 'random';
  const active = isRandom ? Math.min(workers, cpus) : workers;
  const gather = active > 1 && active > limit ? OVERCOMMITTED_GATHER_MICROSECONDS : 0;
  return {
    /** Workers that get datagrams; undefined: the kernel balances by flow. */
    spreadOver: isRandom ? active : undefined,
    gatherMicroseconds: options.gatherMicroseconds ?? gather,
  };
}

export const dinodnsProfile: Profile = {
  unsupported: () => null,
  build(options, shared): BuiltServer {
    const { addresses, port, log, rateLimit, udpBackend, tcp, allowTransfer } = options;
    const reusePort = shared && canReusePort;
    const workers = Number(process.env[WORKERS_VARIABLE] ?? 1);
    const { spreadOver, gatherMicroseconds } = sharingOf(options, workers);
    const store = new ZoneStore();
    const bypass = new Bypass(log);
    const responder = createAnswerTable(store);
    const counters = new Counters();
    const transfers = allowTransfer.length === 0 ? undefined : new Transfers(store, allowTransfer);
    // One for all networks: what it bounds is the memory of the process.
    const pending = new PendingLimit(options.maxPending);
    // These and the networks get their secrets with the first zones.
    const cookies = options.cookies === false ? undefined : new Cookies([]);
    const common = { port, reusePort, log, pending, responder, bypass, cookies };
    const streams = { ...common, ...tcp };
    /** On each address, if the options have this port. */
    const encrypted = <T>(at: number | undefined, create: (address: string) => T): T[] =>
      at === undefined ? [] : addresses.map(create);
    const networks: Networks = {
      udp: addresses.map(
        (address) =>
          new BatchedUdpNetwork({
            ...common,
            spreadOver,
            rateLimit,
            gatherMicroseconds,
            busyPollMicroseconds: options.busyPollMicroseconds,
            // Nobody reads latencies that no endpoint shows.
            isTimed: options.metrics !== undefined,
            address,
            backend: udpBackend,
            counters: counters.udp,
          }),
      ),
      tcp: addresses.map(
        (address) => new RobustTcpNetwork({ ...streams, transfers, address, counters: counters.tcp }),
      ),
      tls: encrypted(
        options.tls?.port,
        (address) =>
          new RobustTcpNetwork({ ...streams, transfers, tls: {}, address, counters: counters.tls }),
      ),
      https: encrypted(
        options.tls?.httpsPort,
        (address) => new HttpsNetwork({ ...streams, tls: {}, address, counters: counters.https }),
      ),
    };
    const router = new CaseInsensitiveRouter();
    router.tell(bypass);
    const server = new DefaultServer({
      networks: allOf(networks),
      router,
      defaultHandler: lastHandler(store),
    });
    return {
      server,
      managed: manage(store, counters, networks, cookies),
      get udpBackend() {
        return networks.udp[0]?.backend ?? 'dgram';
      },
      open: (ports) => openAll(networks, ports),
      async shutdown(seconds) {
        await Promise.all(allOf(networks).map((network) => network.shutdown(seconds)));
      },
    };
  },
};
