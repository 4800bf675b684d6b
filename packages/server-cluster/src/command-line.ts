/** The flags of `dinodns-server`. Nothing else reads the command line. */

import { openUdpSocket } from '@dinodns-bench/batched-udp';
import { exitStatusHelp, isHelp, usageError } from '@dinodns-bench/program';
import { Command, Option } from 'commander';
import { ServerError } from './errors.ts';
import { frameworkOf } from './framework/choose.ts';
import { DEFAULT_MAX_PENDING } from './limits/pending-limit.ts';
import { DEFAULT_IPV4_BITS, DEFAULT_IPV6_BITS, DEFAULT_SLIP } from './limits/rate-limiter.ts';
import { DEFAULT_LOG_LEVEL, LOG_LEVELS } from './log/log.ts';
import { DEFAULT_CLIENT_IPV6_BITS } from './network/connection-counts.ts';
import {
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
} from './network/stream-listener.ts';
import {
  BALANCES,
  DEFAULT_ADDRESS,
  DEFAULT_BALANCE,
  DEFAULT_METRICS_ADDRESS,
  DEFAULT_PORT,
  MODES,
  PROFILES,
  type RateLimitOptions,
  type ServerOptions,
  UDP_BACKENDS,
} from './options.ts';
import { describeVersions } from './version.ts';
import type { ZoneFileOption } from './zone-files/zone-file-option.ts';
import { generatedZones, readZonesSpec } from './zone-source.ts';

interface Flags {
  profile: (typeof PROFILES)[number];
  mode: (typeof MODES)[number];
  address: string[];
  port: number;
  workers?: number;
  standby?: number;
  zones: number;
  zonesFile?: string;
  zonesSpec?: string;
  zone?: string[];
  zoneDir?: string[];
  udpBackend: (typeof UDP_BACKENDS)[number];
  balance: (typeof BALANCES)[number];
  gather?: number;
  busyPoll?: number;
  metricsPort?: number;
  metricsAddress: string;
  logLevel: (typeof LOG_LEVELS)[number];
  tlsCert?: string;
  tlsKey?: string;
  tlsPort?: number;
  httpsPort?: number;
  tcpIdle?: number;
  tcpConnections?: number;
  tcpConnectionsPerClient?: number;
  tcpIpv6Prefix?: number;
  maxPending?: number;
  cookies: boolean;
  cookieSecretFile?: string;
  rrlRate?: number;
  rrlSlip: number;
  rrlIpv4Prefix: number;
  rrlIpv6Prefix: number;
  rrlExempt?: string[];
  allowTransfer?: string;
}

function wholeNumber(flag: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new ServerError('E_USAGE', `${flag} "${text}" is not a whole number.`, `Give ${flag} digits only.`);
  };
}

const EXIT_HELP = `
The first line on standard output means that every worker answers, over every
transport:
  {"ready":true,"address":"127.0.0.1","addresses":["127.0.0.1"],"port":5300,
   "pid":4711,"workers":1,"udpBackend":"native"}
SIGTERM or SIGINT stops the server once it has answered what it received; a
second one stops it at once. SIGHUP reloads the zones while the current ones are
served; if that fails, they stay.
${exitStatusHelp(['success', 'internal', 'usage', 'environment', 'server', 'interrupted', 'terminated'], {
  success: 'stopped, or help or version shown',
  interrupted: 'stopped at once by a second Ctrl-C (SIGINT)',
  terminated: 'stopped at once by a second SIGTERM',
})}`;

/** Its flags take half of 80 columns: descriptions are wrapped in the other half, too. */
function command(): Command {
  return new Command('dinodns-server')
    .description('Serves zone files and generated zones with DinoDNS, over UDP and TCP.')
    .addOption(
      new Option('--profile <name>', 'dinodns: robust networks and store; stock: the framework as published')
        .choices(PROFILES)
        .default('dinodns'),
    )
    .option(
      '--framework <directory>',
      'an installed npm package dinodns to use (default: the one beside this program)',
    )
    .addOption(
      new Option('--mode <mode>', 'single: one process; multi: a worker for each usable CPU')
        .choices(MODES)
        .default('single'),
    )
    .option('--address <ip...>', `addresses to listen on (default: ${DEFAULT_ADDRESS})`)
    .option(
      '--port <number>',
      'port for UDP and TCP; 0 picks a free one',
      wholeNumber('--port'),
      DEFAULT_PORT,
    )
    .option('--workers <number>', 'processes in mode multi (default: usable CPUs)', wholeNumber('--workers'))
    .option(
      '--standby <number>',
      'spare processes that replace a worker that ends (default: 0)',
      wholeNumber('--standby'),
    )
    .addOption(
      new Option('--zones <number>', 'number of zones example1.com, example3.com, … to serve')
        .argParser(wholeNumber('--zones'))
        .default(100)
        .conflicts('zonesFile'),
    )
    .option(
      '--zones-file <file>',
      'zones.ndjson as written by `dinodns-zones generate --format dinodns-json`',
    )
    .addOption(
      new Option(
        '--zones-spec <file>',
        'JSON that zones are generated from, such as {"from":1,"to":200}',
      ).conflicts(['zones', 'zonesFile']),
    )
    .addOption(
      new Option(
        '--zone <[origin=]file>',
        'zone file (RFC 1035); the origin defaults to the owner of its SOA record; repeat it for more',
      )
        .argParser(collect)
        .conflicts(['zones', 'zonesFile', 'zonesSpec']),
    )
    .addOption(
      new Option(
        '--zone-dir <directory>',
        'load every NAME.zone and db.NAME in this directory; repeat it for more',
      )
        .argParser(collect)
        .conflicts(['zones', 'zonesFile', 'zonesSpec']),
    )
    .addOption(
      new Option('--udp-backend <name>', 'native: many datagrams per system call; dgram: one at a time')
        .choices(UDP_BACKENDS)
        .default('auto'),
    )
    .addOption(
      new Option(
        '--balance <how>',
        'UDP balancing: a client port always to one worker (flow), or each datagram to any (random)',
      )
        .choices(BALANCES)
        .default(DEFAULT_BALANCE),
    )
    .option(
      '--gather <microseconds>',
      'under load, wait before each further read (default: 50 if more workers than CPUs get datagrams, else 0)',
      wholeNumber('--gather'),
    )
    .option(
      '--busy-poll <microseconds>',
      'look for queries for this long before waiting: low latency for a whole CPU (default: 0)',
      wholeNumber('--busy-poll'),
    )
    .option(
      '--metrics-port <number>',
      'HTTP port for /metrics, /health and /ready; 0 picks a free one (default: none)',
      wholeNumber('--metrics-port'),
    )
    .option('--metrics-address <ip>', 'address of that port', DEFAULT_METRICS_ADDRESS)
    .addOption(
      new Option('--log-level <level>', 'JSON lines on standard error')
        .choices(LOG_LEVELS)
        .default(DEFAULT_LOG_LEVEL),
    )
    .option('--tls-cert <file>', 'certificate and its chain (PEM), for --tls-port and --https-port')
    .option('--tls-key <file>', 'its private key (PEM)')
    .option(
      '--tls-port <number>',
      'port for DNS over TLS; 0 picks a free one (default: none)',
      wholeNumber('--tls-port'),
    )
    .option(
      '--https-port <number>',
      'port for DNS over HTTPS, path /dns-query; 0 picks a free one (default: none)',
      wholeNumber('--https-port'),
    )
    .option(
      '--tcp-idle <seconds>',
      `close connections without a query for this long (default: ${DEFAULT_IDLE_SECONDS})`,
      wholeNumber('--tcp-idle'),
    )
    .option(
      '--tcp-connections <number>',
      `maximum connections per process and transport, UDP excluded (default: ${DEFAULT_MAX_CONNECTIONS})`,
      wholeNumber('--tcp-connections'),
    )
    .option(
      '--tcp-connections-per-client <number>',
      `of these, maximum per client (default: ${DEFAULT_MAX_CONNECTIONS_PER_CLIENT})`,
      wholeNumber('--tcp-connections-per-client'),
    )
    .option(
      '--tcp-ipv6-prefix <bits>',
      `IPv6 addresses with the same prefix are one client (default: ${DEFAULT_CLIENT_IPV6_BITS})`,
      wholeNumber('--tcp-ipv6-prefix'),
    )
    .option(
      '--max-pending <number>',
      `maximum queries per process that handlers work on at once (default: ${DEFAULT_MAX_PENDING})`,
      wholeNumber('--max-pending'),
    )
    .addOption(
      new Option(
        '--cookie-secret-file <file>',
        'secrets of DNS cookies, shared by the servers of an address (default: a random one)',
      ).conflicts(['cookies']),
    )
    .option('--no-cookies', 'ignore DNS cookies')
    .option(
      '--rrl-rate <number>',
      'UDP responses per second to one client network, per worker (default: no limit)',
      wholeNumber('--rrl-rate'),
    )
    .option(
      '--rrl-slip <number>',
      'send every Nth response over the limit with TC=1; 0: none',
      wholeNumber('--rrl-slip'),
      DEFAULT_SLIP,
    )
    .option(
      '--rrl-ipv4-prefix <bits>',
      'prefix length of an IPv4 client network',
      wholeNumber('--rrl-ipv4-prefix'),
      DEFAULT_IPV4_BITS,
    )
    .option(
      '--rrl-ipv6-prefix <bits>',
      'prefix length of an IPv6 client network',
      wholeNumber('--rrl-ipv6-prefix'),
      DEFAULT_IPV6_BITS,
    )
    .option('--allow-transfer <network,…>', 'clients that may transfer zones over TCP (AXFR); default: none')
    .option('--rrl-exempt <network...>', 'networks that are not limited, such as 192.0.2.0/24')
    .addHelpText('after', EXIT_HELP)
    .exitOverride()
    .configureHelp({ minWidthToWrap: 30 })
    .configureOutput({ outputError: () => undefined });
}

/** The UDP backend of this machine, for `--version`. */
async function availableBackend(): Promise<string> {
  const socket = await openUdpSocket({ address: '127.0.0.1', onBatch: () => undefined });
  await socket.close();
  return socket.backend;
}

function toOptions(flags: Flags): ServerOptions {
  const { address, workers, standby, metricsPort, metricsAddress, rrlRate } = flags;
  const { gather, busyPoll, tcpIdle, tcpConnections, tcpConnectionsPerClient } = flags;
  return {
    profile: flags.profile,
    mode: flags.mode,
    port: flags.port,
    udpBackend: flags.udpBackend,
    balance: flags.balance,
    logLevel: flags.logLevel,
    ...(address === undefined ? {} : { address }),
    ...(workers === undefined ? {} : { workers }),
    ...(standby === undefined ? {} : { standby }),
    ...zonesOf(flags),
    ...(gather === undefined ? {} : { gatherMicroseconds: gather }),
    ...(busyPoll === undefined ? {} : { busyPollMicroseconds: busyPoll }),
    ...(metricsPort === undefined ? {} : { metrics: { port: metricsPort, address: metricsAddress } }),
    tcp: {
      ...(tcpIdle === undefined ? {} : { idleSeconds: tcpIdle }),
      ...(tcpConnections === undefined ? {} : { maxConnections: tcpConnections }),
      ...(tcpConnectionsPerClient === undefined ? {} : { maxConnectionsPerClient: tcpConnectionsPerClient }),
      ...(flags.tcpIpv6Prefix === undefined ? {} : { clientIpv6Bits: flags.tcpIpv6Prefix }),
    },
    ...(flags.maxPending === undefined ? {} : { maxPending: flags.maxPending }),
    ...cookiesOf(flags),
    ...tlsOf(flags),
    ...(flags.allowTransfer === undefined ? {} : { allowTransfer: flags.allowTransfer.split(',') }),
    ...(rrlRate === undefined ? {} : { rateLimit: rateLimitOf(flags, rrlRate) }),
  };
}

function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** `FILE` or `origin=FILE`. Write a path that contains `=` as `./FILE`: no zone name contains a slash. */
function zoneFileOf(text: string): ZoneFileOption {
  const [, origin, file] = /^([^=/]+)=(.+)$/.exec(text) ?? [];
  return origin === undefined || file === undefined ? { file: text } : { origin, file };
}

function zonesOf(flags: Flags): Pick<ServerOptions, 'zones' | 'zonesFile' | 'zoneFiles'> {
  const { zones, zonesFile, zonesSpec, zone, zoneDir } = flags;
  if (zone !== undefined || zoneDir !== undefined) {
    return { zoneFiles: { files: (zone ?? []).map(zoneFileOf), directories: zoneDir ?? [] } };
  }
  if (zonesSpec !== undefined) return { zones: () => readZonesSpec(zonesSpec) };
  return zonesFile === undefined ? { zones: generatedZones(zones) } : { zonesFile };
}

function cookiesOf({ cookies, cookieSecretFile }: Flags): Pick<ServerOptions, 'cookies'> {
  if (!cookies) return { cookies: false };
  return cookieSecretFile === undefined ? {} : { cookies: { secretFile: cookieSecretFile } };
}

/** All four flags belong together, except that one port is enough. */
function tlsOf({ tlsCert, tlsKey, tlsPort, httpsPort }: Flags): Pick<ServerOptions, 'tls'> {
  const given = [tlsCert, tlsKey, tlsPort, httpsPort].some((flag) => flag !== undefined);
  if (!given) return {};
  if (tlsCert === undefined || tlsKey === undefined) {
    const missing = tlsCert === undefined ? '--tls-cert' : '--tls-key';
    throw new ServerError(
      'E_USAGE',
      `DNS over TLS and HTTPS need a certificate and its key: ${missing} is missing.`,
      'Give both, as PEM files.',
    );
  }
  const ports = {
    ...(tlsPort === undefined ? {} : { port: tlsPort }),
    ...(httpsPort === undefined ? {} : { httpsPort }),
  };
  return { tls: { certificateFile: tlsCert, keyFile: tlsKey, ...ports } };
}

function rateLimitOf(
  { rrlSlip, rrlIpv4Prefix, rrlIpv6Prefix, rrlExempt }: Flags,
  rate: number,
): RateLimitOptions {
  return {
    rate,
    slip: rrlSlip,
    ipv4Prefix: rrlIpv4Prefix,
    ipv6Prefix: rrlIpv6Prefix,
    exempt: rrlExempt ?? [],
  };
}

/** Returns null if help or the version was requested and has been printed. Throws `E_USAGE`. */
export async function parseCommandLine(args: readonly string[]): Promise<ServerOptions | null> {
  const parser = command();
  // This opens a socket, so do it only on request.
  const asksVersion = args.includes('--version') || args.includes('-V');
  parser.version(asksVersion ? describeVersions(await availableBackend(), frameworkOf(args)) : '');
  try {
    parser.parse(args, { from: 'user' });
  } catch (error) {
    if (!isHelp(error)) throw usageError(error, '`dinodns-server --help` lists the flags.');
    return null;
  }
  return toOptions(parser.opts<Flags>());
}
