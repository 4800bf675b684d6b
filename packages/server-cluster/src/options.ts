/** The server's options: fills in defaults and rejects invalid values up front. */
import { isIP } from 'node:net';
import { ServerError } from './errors.ts';
import { type ClientNetwork, parseNetwork } from './limits/networks.ts';
import { DEFAULT_IPV4_BITS, DEFAULT_IPV6_BITS, DEFAULT_SLIP, type RateLimit } from './limits/rate-limiter.ts';
import { createLog, DEFAULT_LOG_LEVEL, LOG_LEVELS, type Log, type LogLevel } from './log/log.ts';
import type { UdpBackend } from './network/batched-udp.ts';
import type { TcpLimits } from './network/stream-listener.ts';
import type { CertificateFiles } from './network/tls-credentials.ts';
import type { ZoneInput } from './store/zone-store.ts';
import type { ZoneFilesOptions } from './zone-files/zone-files.ts';

export const PROFILES = ['dinodns', 'stock'] as const;
export type ProfileName = (typeof PROFILES)[number];

export const MODES = ['single', 'multi'] as const;
export type Mode = (typeof MODES)[number];

export const UDP_BACKENDS = ['auto', 'native', 'dgram'] as const satisfies UdpBackend[];

export const BALANCES = ['flow', 'random'] as const;
export type Balance = (typeof BALANCES)[number];

/** Spreads the load evenly even with few clients, at no measurable cost (README, "Workers"). */
export const DEFAULT_BALANCE: Balance = 'random';
export const DEFAULT_ADDRESS = '127.0.0.1';
export const DEFAULT_PORT = 5300;
export const DEFAULT_METRICS_ADDRESS = '127.0.0.1';
/** More processes than any machine has CPUs. A larger number is a mistake and makes the machine swap. */
export const MAX_WORKERS = 1024;
/** A longer wait would delay everything else the process does. */
const MAX_GATHER_MICROSECONDS = 1000;
/** The maximum of batched-udp. */
const MAX_BUSY_POLL_MICROSECONDS = 1_000_000;
const MAX_RATE = 1_000_000;

/**
 * Zones to serve: a `ZoneSet` of `@dinodns-bench/zones`, or anything else that yields the zones afresh on each
 * call.
 */
export interface ZoneSource {
  zones(): Iterable<ZoneInput> | AsyncIterable<ZoneInput>;
}

/** Called at the start and at each reload. */
export type ZoneLoader = () => ZoneSource | Promise<ZoneSource>;

export interface MetricsOptions {
  /** 0 picks a free one. */
  readonly port: number;
  /**
   * Default: `127.0.0.1`. The endpoint is read-only: anyone who can reach it can read the metrics and nothing
   * else.
   */
  readonly address?: string;
}

/** DNS over TLS (RFC 7858), over HTTPS (RFC 8484), or both. The files are read again on each reload. */
export interface TlsOptions extends CertificateFiles {
  /** For DNS over TLS; 0 picks a free one. Default: none. */
  readonly port?: number;
  /** For DNS over HTTPS with the path `/dns-query`; 0 picks a free one. Default: none. */
  readonly httpsPort?: number;
}

export interface RateLimitOptions {
  /** UDP responses per second to one client network; 1 to 1,000,000. */
  readonly rate: number;
  /** One in this many responses over the limit is sent empty with TC set; 0: none; 1: all. Default: 2. */
  readonly slip?: number;
  /** Prefix length of a client network, 1 to 32. Default: 24. */
  readonly ipv4Prefix?: number;
  /** 1 to 128. Default: 56. */
  readonly ipv6Prefix?: number;
  /** Exempt networks, such as `192.0.2.0/24`. Default: none. */
  readonly exempt?: readonly string[];
}

export interface ServerOptions {
  /** `dinodns`: this package's networks and store; `stock`: the published framework. Default: `dinodns`. */
  readonly profile?: ProfileName;
  /** One process, or one per usable CPU. Default: `single`. */
  readonly mode?: Mode;
  /** IPv4 or IPv6 addresses; `::` also accepts IPv4. Default: `127.0.0.1`. */
  readonly address?: string | readonly string[];
  /** Port for UDP and TCP; 0 picks one that is free for both. Default: 5300. */
  readonly port?: number;
  /** Processes in mode `multi`. Default: `usableCpus().cpus`. */
  readonly workers?: number;
  /**
   * Mode `multi`: spare processes that have loaded the zones but have no sockets. One of them replaces a failed
   * worker within milliseconds. Default: 0.
   */
  readonly standby?: number;
  /**
   * The zones, or a function that loads them and is called again on each reload. Default: the 100 zones of the
   * published benchmark, `defineZoneSet()`.
   */
  readonly zones?: ZoneSource | ZoneLoader;
  /** A `zones.ndjson` file instead of `zones`. It is read again on each reload. */
  readonly zonesFile?: string;
  /**
   * Zone files (RFC 1035) instead of `zones`. They are read again on each reload. A rejected zone is logged, and
   * its previous version stays in service. Other zones are unaffected.
   */
  readonly zoneFiles?: ZoneFilesOptions;
  /**
   * UDP backend. `auto` uses system calls that handle many datagrams at once where the machine has them. Default:
   * `auto`.
   */
  readonly udpBackend?: UdpBackend;
  /**
   * How the kernel spreads datagrams over the workers in mode `multi`. `random`: each to any worker, so that few
   * clients keep all workers busy (native backend only; `dgram` balances by flow). `flow`: all datagrams of a
   * client port to the same worker. Default: `random`.
   */
  readonly balance?: Balance;
  /**
   * Under load, the time to wait before each further read so that one read returns many queries, in microseconds.
   * This takes less CPU time per query and adds up to about 0.1 ms of latency. 0 to 1000; 0: never; native backend
   * only. Default: 50 if more workers get datagrams than there are usable CPUs, because CPU time is then scarce; else 0.
   */
  readonly gatherMicroseconds?: number;
  /**
   * Look for queries for this long before waiting for them, in microseconds: lower latency, for a whole CPU in each
   * worker. 0 to 1,000,000; native backend only. Default: 0.
   */
  readonly busyPollMicroseconds?: number;
  /** An HTTP endpoint with `/metrics`, `/health` and `/ready`. Default: none. */
  readonly metrics?: MetricsOptions;
  /** Response rate limiting. Default: none. */
  readonly rateLimit?: RateLimitOptions;
  /**
   * Queries that middleware and handlers may work on at once, per process and over all transports; more are dropped. 1 to
   * 1,000,000. Default: 8192.
   */
  readonly maxPending?: number;
  /**
   * DNS cookies (RFC 7873, 9018): a client that sends one back is not limited by `rateLimit`. Servers that share an address share
   * `secretFile`: the first of its lines makes cookies, all are accepted; 32 hexadecimal digits each. It is read again when zones are
   * reloaded. Default: a random secret for each start; `false`: none.
   */
  readonly cookies?: CookieOptions | false;
  /** Limits of connections, those of TLS and HTTPS included. */
  readonly tcp?: TcpLimits;
  /** Default: none. */
  readonly tls?: TlsOptions;
  /** Networks whose clients may transfer zones (AXFR over TCP), such as `192.0.2.0/24`. Default: none. */
  readonly allowTransfer?: readonly string[];
  /** Default: `warn`. */
  readonly logLevel?: LogLevel;
  /** A pino-style logger, instead of JSON lines on standard error. */
  readonly log?: Log;
}

export interface CookieOptions {
  readonly secretFile?: string;
}

export interface ResolvedOptions {
  readonly profile: ProfileName;
  readonly mode: Mode;
  readonly addresses: readonly [string, ...string[]];
  readonly port: number;
  /** Undefined: one per usable CPU. */
  readonly workers: number | undefined;
  readonly standby: number;
  readonly zones: ZoneLoader;
  readonly zonesFile: string | undefined;
  readonly zoneFiles: ZoneFilesOptions | undefined;
  readonly udpBackend: UdpBackend;
  readonly balance: Balance;
  /** Undefined: depends on the number of workers. */
  readonly gatherMicroseconds: number | undefined;
  readonly busyPollMicroseconds: number;
  readonly metrics: Required<MetricsOptions> | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** Undefined for the default. */
  readonly maxPending: number | undefined;
  /** Undefined for the default. */
  readonly cookies: CookieOptions | false | undefined;
  readonly tcp: TcpLimits;
  readonly tls: TlsOptions | undefined;
  readonly allowTransfer: readonly ClientNetwork[];
  readonly log: Log;
}

function usage(message: string, fix: string): ServerError {
  return new ServerError('E_USAGE', message, fix);
}

function checkWhole(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw usage(`${name} ${value} is not valid.`, `Give a whole number from ${min} to ${max}.`);
}

function checkAddress(address: string): void {
  if (isIP(address) !== 0) return;
  throw usage(
    `"${address}" is not an IP address.`,
    'Give an IPv4 or IPv6 address, like 127.0.0.1 or ::1; a server does not look up names.',
  );
}

function resolveAddresses(address: string | readonly string[]): readonly [string, ...string[]] {
  const [first, ...rest] = new Set(typeof address === 'string' ? [address] : address);
  if (first === undefined) throw usage('No address is given.', 'Give an IPv4 or IPv6 address.');
  for (const candidate of [first, ...rest]) checkAddress(candidate);
  return [first, ...rest];
}

function oneOf<T extends string>(name: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw usage(`The ${name} "${value}" is unknown.`, `Choose one of: ${choices.join(', ')}.`);
}

function resolveMetrics(metrics: MetricsOptions | undefined): Required<MetricsOptions> | undefined {
  if (metrics === undefined) return undefined;
  const { port, address = DEFAULT_METRICS_ADDRESS } = metrics;
  checkWhole('The metrics port', port, 0, 65_535);
  checkAddress(address);
  return { port, address };
}

function resolveRateLimit(limit: RateLimitOptions | undefined): RateLimit | undefined {
  if (limit === undefined) return undefined;
  const { rate, slip = DEFAULT_SLIP, ipv4Prefix = DEFAULT_IPV4_BITS, ipv6Prefix = DEFAULT_IPV6_BITS } = limit;
  checkWhole('The response rate', rate, 1, MAX_RATE);
  checkWhole('The slip', slip, 0, 10);
  checkWhole('The IPv4 prefix length', ipv4Prefix, 1, 32);
  checkWhole('The IPv6 prefix length', ipv6Prefix, 1, 128);
  const exempt = (limit.exempt ?? []).map(parseNetwork);
  return { rate, slip, ipv4Bits: ipv4Prefix, ipv6Bits: ipv6Prefix, exempt };
}

function resolveTcp(limits: TcpLimits = {}): TcpLimits {
  const { idleSeconds, maxConnections, maxConnectionsPerClient, maxBufferedBytes, clientIpv6Bits } = limits;
  if (clientIpv6Bits !== undefined) checkWhole('The prefix length of a client', clientIpv6Bits, 1, 128);
  if (idleSeconds !== undefined && !(idleSeconds > 0 && idleSeconds <= 3600)) {
    throw usage(
      `An idle time of ${idleSeconds} s is not valid.`,
      'Give more than 0 and at most 3600 seconds.',
    );
  }
  if (maxConnections !== undefined) checkWhole('The number of connections', maxConnections, 1, 1_000_000);
  if (maxConnectionsPerClient !== undefined) {
    checkWhole('The number of connections of a client', maxConnectionsPerClient, 1, 1_000_000);
  }
  if (maxBufferedBytes !== undefined) checkWhole('The memory for TCP', maxBufferedBytes, 65_536, 2 ** 40);
  return limits;
}

function resolveTls(tls: TlsOptions | undefined): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  const { port, httpsPort } = tls;
  if (port === undefined && httpsPort === undefined) {
    throw usage(
      'A certificate is given, but no port that uses it.',
      'Give a port for TLS, for HTTPS, or both.',
    );
  }
  if (port !== undefined) checkWhole('The port for TLS', port, 0, 65_535);
  if (httpsPort !== undefined) checkWhole('The port for HTTPS', httpsPort, 0, 65_535);
  return tls;
}

/** Every transport has a port of its own. */
function checkPorts(port: number, tls: TlsOptions | undefined): void {
  const ports = [port, tls?.port, tls?.httpsPort].filter(
    (candidate) => candidate !== undefined && candidate !== 0,
  );
  const twice = ports.find((candidate, index) => ports.indexOf(candidate) !== index);
  if (twice !== undefined) {
    throw usage(
      `Port ${twice} is given for two transports.`,
      'Give each a port of its own; 0 picks a free one.',
    );
  }
}

function resolveZones(
  { zones, zonesFile, zoneFiles }: ServerOptions,
  defaultZones: () => ZoneSource,
): ZoneLoader {
  if (zones !== undefined && zonesFile !== undefined) {
    throw usage('Both zones and a zones file are given.', 'Give one of the two.');
  }
  if (zoneFiles !== undefined && (zones ?? zonesFile) !== undefined) {
    throw usage('Both zone files and other zones are given.', 'Give one of the two.');
  }
  if (typeof zones === 'function') return zones;
  const source = zones ?? defaultZones();
  return () => source;
}

/** Fills in defaults. Throws `E_USAGE` for invalid options. */
export function resolveOptions(options: ServerOptions, defaultZones: () => ZoneSource): ResolvedOptions {
  const mode = oneOf('mode', options.mode ?? 'single', MODES);
  const port = options.port ?? DEFAULT_PORT;
  checkWhole('The port', port, 0, 65_535);
  checkPorts(port, options.tls);
  if (options.workers !== undefined) {
    checkWhole('The number of workers', options.workers, 1, MAX_WORKERS);
    if (mode === 'single' && options.workers !== 1) {
      throw usage(`Mode single has one process, not ${options.workers}.`, 'Choose --mode multi for more.');
    }
  }
  if (options.standby !== undefined) {
    checkWhole('The number of standby processes', options.standby, 0, MAX_WORKERS);
    if (mode === 'single' && options.standby > 0) {
      throw usage('Mode single has no standby processes.', 'Choose --mode multi.');
    }
  }
  const { gatherMicroseconds, busyPollMicroseconds = 0, maxPending } = options;
  if (maxPending !== undefined) checkWhole('The number of pending queries', maxPending, 1, 1_000_000);
  if (gatherMicroseconds !== undefined) {
    checkWhole('The time to gather queries', gatherMicroseconds, 0, MAX_GATHER_MICROSECONDS);
  }
  checkWhole('The time to look for queries', busyPollMicroseconds, 0, MAX_BUSY_POLL_MICROSECONDS);
  const logLevel = oneOf('log level', options.logLevel ?? DEFAULT_LOG_LEVEL, LOG_LEVELS);
  return {
    profile: oneOf('profile', options.profile ?? 'dinodns', PROFILES),
    mode,
    addresses: resolveAddresses(options.address ?? DEFAULT_ADDRESS),
    port,
    workers: options.workers,
    standby: options.standby ?? 0,
    zones: resolveZones(options, defaultZones),
    zonesFile: options.zonesFile,
    zoneFiles: options.zoneFiles,
    udpBackend: oneOf('UDP backend', options.udpBackend ?? 'auto', UDP_BACKENDS),
    balance: oneOf('balance', options.balance ?? DEFAULT_BALANCE, BALANCES),
    gatherMicroseconds,
    busyPollMicroseconds,
    metrics: resolveMetrics(options.metrics),
    rateLimit: resolveRateLimit(options.rateLimit),
    maxPending,
    cookies: options.cookies,
    tcp: resolveTcp(options.tcp),
    tls: resolveTls(options.tls),
    allowTransfer: (options.allowTransfer ?? []).map(parseNetwork),
    log: options.log ?? createLog(logLevel),
  };
}
