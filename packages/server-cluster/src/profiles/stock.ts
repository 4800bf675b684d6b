/**
 * Profile `stock`: the published framework exactly as documented, faults included, so that comparisons show what a
 * user of it gets. We watch it from outside and change nothing.
 */
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { DNSOverHTTP, DNSOverTCP, DNSOverUDP } from 'dinodns/common/network/index.js';
import { DefaultServer } from 'dinodns/common/server/index.js';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';
import type { SupportedRecordType, ZoneData } from 'dinodns/types/dns.js';
import { bindError } from '../errors.ts';
import { readCredentials } from '../network/tls-credentials.ts';
import { DEFAULT_BALANCE, type ResolvedOptions, type ZoneSource } from '../options.ts';
import { zonesOf } from '../process/zones.ts';
import { addZones } from '../store/load.ts';
import type { ZoneInput } from '../store/zone-input.ts';
import type { BuiltServer, Profile } from './profile.ts';

type StockNetwork = DNSOverTCP | DNSOverUDP;

/** DNS over HTTPS as the framework has it, on the port alone: it listens on every address, whatever it is given. */
function httpsNetwork({ addresses: [address], tls }: ResolvedOptions): DNSOverHTTP[] {
  if (tls?.httpsPort === undefined) return [];
  const { cert, key } = readCredentials(tls);
  return [new DNSOverHTTP({ address, port: tls.httpsPort, ssl: { cert, key } })];
}

/** The framework's store keeps only data by name and type, without TTLs or zones. */
function fill(store: DefaultStore, source: ZoneSource): Promise<void> {
  const addZone = (zone: ZoneInput): void => {
    const byNameAndType = new Map<string, { name: string; type: SupportedRecordType; data: unknown[] }>();
    for (const { name, type, data } of zone.records) {
      const key = `${name} ${type}`;
      const entry = byNameAndType.get(key) ?? { name, type: type as SupportedRecordType, data: [] };
      entry.data.push(data);
      byNameAndType.set(key, entry);
    }
    for (const { name, type, data } of byNameAndType.values()) {
      store.set(name, type, data as ZoneData[SupportedRecordType][]);
    }
  };
  return addZones({ addZone }, source);
}

/** Resolves once the socket listens; rejects if it cannot. */
function listening(network: StockNetwork): Promise<void> {
  return new Promise((resolve, reject) => {
    network.on('listening', resolve);
    network.on('error', (error?: unknown) => reject(bindError(error, network.address, network.port)));
  });
}

function unsupported(options: ResolvedOptions) {
  const ipv6 = options.addresses.find((address) => !isIPv4(address));
  const ours = [
    options.metrics === undefined ? undefined : 'metrics',
    options.rateLimit === undefined ? undefined : 'response rate limiting',
    options.maxPending === undefined ? undefined : 'limit of pending queries',
    options.cookies === undefined ? undefined : 'cookies',
    options.zoneFiles === undefined ? undefined : 'zone files',
    options.allowTransfer.length === 0 ? undefined : 'zone transfers',
    options.udpBackend === 'auto' ? undefined : 'choice of the UDP backend',
    options.balance === DEFAULT_BALANCE ? undefined : 'choice of the balance',
    options.gatherMicroseconds === undefined ? undefined : 'time to gather queries',
    options.tls?.port === undefined ? undefined : 'DNS over TLS',
    options.busyPollMicroseconds === 0 ? undefined : 'time to look for queries',
    Object.keys(options.tcp).length === 0 ? undefined : 'limits for TCP',
  ].find((feature) => feature !== undefined);
  const checks: readonly [boolean, string, string][] = [
    [ipv6 !== undefined, `cannot listen on ${ipv6}: its UDP network is IPv4 only`, 'Give an IPv4 address'],
    [ours !== undefined, `has no ${ours}`, 'Omit that option'],
    [options.standby > 0, 'has no standby processes', 'Omit --standby'],
    [
      options.mode === 'multi' && options.workers !== undefined,
      'always starts one worker per CPU of the machine (os.cpus().length)',
      'Omit --workers',
    ],
  ];
  const [, reason, fix] = checks.find(([isWrong]) => isWrong) ?? [];
  if (reason === undefined) return null;
  return { reason: `The published framework ${reason}.`, fix: `${fix}, or choose --profile dinodns.` };
}

export const stockProfile: Profile = {
  unsupported,
  build(options): BuiltServer {
    const https = httpsNetwork(options);
    const networks: StockNetwork[] = options.addresses.flatMap((address) => [
      new DNSOverTCP({ address, port: options.port }),
      new DNSOverUDP({ address, port: options.port }),
    ]);
    const store = new DefaultStore();
    const server = new DefaultServer({
      networks: [...networks, ...https],
      multithreaded: options.mode === 'multi',
    });
    return {
      server,
      managed: null,
      udpBackend: 'dgram',
      async open({ dns, https: httpsPort = 0 }) {
        await fill(store, await zonesOf(options));
        for (const network of https) network.port = httpsPort;
        for (const network of networks) network.port = dns;
        server.use(store.handler);
        // Its HTTP network announces nothing; its server does, and failures are on standard error.
        const opened = Promise.all([
          ...networks.map(listening),
          ...https.map(({ server: http }) => once(http, 'listening')),
        ]);
        server.start();
        await opened;
      },
      async shutdown() {
        server.stop();
      },
    };
  },
};
