/** The server's options as one validated record: their defaults, and what is valid. */
import { isIP } from 'node:net';
import type { Problem } from '@dinodns-bench/program';
import { z } from 'zod';
import { ServerError } from './errors.ts';
import { parseNetwork } from './limits/networks.ts';
import { DEFAULT_IPV4_BITS, DEFAULT_IPV6_BITS, DEFAULT_SLIP } from './limits/rate-limiter.ts';
import { createLog, DEFAULT_LOG_LEVEL, LOG_LEVELS, type Log } from './log/log.ts';
import type { ZoneInput } from './store/zone-input.ts';
import type { ZoneFilesOptions } from './zone-files/zone-files.ts';

/** Spreads the load evenly even with few clients, at no measurable cost (README, "Workers"). */
export const DEFAULT_BALANCE = 'random';
export const DEFAULT_ADDRESS = '127.0.0.1';
/** More processes than any machine has CPUs. A larger number is a mistake and makes the machine swap. */
export const MAX_WORKERS = 1024;
/** A longer wait would delay everything else the process does. */
const MAX_GATHER_MICROSECONDS = 1000;
/** The maximum of batched-udp. */
const MAX_BUSY_POLL_MICROSECONDS = 1_000_000;
const MILLION = 1_000_000;

/**
 * Zones to serve: a `ZoneSet` of `@dinodns-bench/zones`, or anything else that yields the zones afresh on each
 * call.
 */
export interface ZoneSource {
  zones(): Iterable<ZoneInput> | AsyncIterable<ZoneInput>;
}

/** Called at the start and at each reload. */
export type ZoneLoader = () => ZoneSource | Promise<ZoneSource>;

// The message of each schema is the fix: the option and its value come before it.
function whole(min: number, max: number) {
  const fix = `Give a whole number from ${min} to ${max}.`;
  return z.int(fix).min(min, fix).max(max, fix);
}

function choice<const T extends readonly string[]>(choices: T) {
  return z.enum(choices, `Choose one of: ${choices.join(', ')}.`);
}

const port = whole(0, 65_535);
const address = z
  .string()
  .refine(
    (text) => isIP(text) !== 0,
    'Give an IPv4 or IPv6 address, like 127.0.0.1 or ::1; a server does not look up names.',
  );
const networks = z.array(z.string().transform(parseNetwork)).readonly().default([]);

const optionsSchema = z.strictObject({
  /** `dinodns`: this package's networks and store; `stock`: the published framework. Default: `dinodns`. */
  profile: choice(['dinodns', 'stock']).default('dinodns'),
  /** One process, or one per usable CPU. Default: `single`. */
  mode: choice(['single', 'multi']).default('single'),
  /** IPv4 or IPv6 addresses; `::` also accepts IPv4. Default: `127.0.0.1`. */
  address: z
    .union([address, z.array(address).min(1, 'Give an IPv4 or IPv6 address.').readonly()])
    .default(DEFAULT_ADDRESS),
  /** Port for UDP and TCP; 0 picks one that is free for both. Default: 5300. */
  port: port.default(5300),
  /** Processes in mode `multi`. Default: `usableCpus().cpus`. */
  workers: whole(1, MAX_WORKERS).optional(),
  /**
   * Mode `multi`: spare processes that have loaded the zones but have no sockets. One of them replaces a failed
   * worker within milliseconds. Default: 0.
   */
  standby: whole(0, MAX_WORKERS).default(0),
  /**
   * The zones, or a function that loads them and is called again on each reload. Default: the 100 zones of the
   * published benchmark, `defineZoneSet()`.
   */
  zones: z.custom<ZoneSource | ZoneLoader>().optional(),
  /** A `zones.ndjson` file instead of `zones`. It is read again on each reload. */
  zonesFile: z.string().optional(),
  /**
   * Zone files (RFC 1035) instead of `zones`. They are read again on each reload. A rejected zone is logged, and
   * its previous version stays in service. Other zones are unaffected.
   */
  zoneFiles: z.custom<ZoneFilesOptions>().optional(),
  /**
   * UDP backend. `auto` uses system calls that handle many datagrams at once where the machine has them. Default:
   * `auto`.
   */
  udpBackend: choice(['auto', 'native', 'dgram']).default('auto'),
  /**
   * How the kernel spreads datagrams over the workers in mode `multi`. `random`: each to any worker, so that few
   * clients keep all workers busy (native backend only; `dgram` balances by flow). `flow`: all datagrams of a
   * client port to the same worker. Default: `random`.
   */
  balance: choice(['flow', 'random']).default(DEFAULT_BALANCE),
  /**
   * Under load, the time to wait before each further read so that one read returns many queries, in microseconds.
   * This takes less CPU time per query and adds up to about 0.1 ms of latency. 0 to 1000; 0: never; native backend
   * only. Default: 50 if more workers get datagrams than there are usable CPUs, because CPU time is then scarce; else 0.
   */
  gatherMicroseconds: whole(0, MAX_GATHER_MICROSECONDS).optional(),
  /**
   * Look for queries for this long before waiting for them, in microseconds: lower latency, for a whole CPU in each
   * worker. 0 to 1,000,000; native backend only. Default: 0.
   */
  busyPollMicroseconds: whole(0, MAX_BUSY_POLL_MICROSECONDS).default(0),
  /** An HTTP endpoint with `/metrics`, `/health` and `/ready`. Default: none. */
  metrics: z
    .strictObject({
      /** 0 picks a free one. */
      port,
      /**
       * Default: `127.0.0.1`. The endpoint is read-only: anyone who can reach it can read the metrics and nothing
       * else.
       */
      address: address.default('127.0.0.1'),
    })
    .optional(),
  /** Response rate limiting. Default: none. */
  rateLimit: z
    .strictObject({
      /** UDP responses per second to one client network; 1 to 1,000,000. */
      rate: whole(1, MILLION),
      /** One in this many responses over the limit is sent empty with TC set; 0: none; 1: all. Default: 2. */
      slip: whole(0, 10).default(DEFAULT_SLIP),
      /** Prefix length of a client network, 1 to 32. Default: 24. */
      ipv4Prefix: whole(1, 32).default(DEFAULT_IPV4_BITS),
      /** 1 to 128. Default: 56. */
      ipv6Prefix: whole(1, 128).default(DEFAULT_IPV6_BITS),
      /** Exempt networks, such as `192.0.2.0/24`. Default: none. */
      exempt: networks,
    })
    .optional(),
  /**
   * Queries that middleware and handlers may work on at once, per process and over all transports; more are dropped. 1 to
   * 1,000,000. Default: 8192.
   */
  maxPending: whole(1, MILLION).optional(),
  /**
   * DNS cookies (RFC 7873, 9018): a client that sends one back is not limited by `rateLimit`. Servers that share an address share
   * `secretFile`: the first of its lines makes cookies, all are accepted; 32 hexadecimal digits each. It is read again when zones are
   * reloaded. Default: a random secret for each start; `false`: none.
   */
  cookies: z.union([z.literal(false), z.strictObject({ secretFile: z.string().optional() })]).optional(),
  /** Limits of connections, those of TLS and HTTPS included. */
  tcp: z
    .strictObject({
      /** Default: 10. */
      idleSeconds: z
        .number()
        .positive('Give more than 0 seconds.')
        .max(3600, 'Give at most 3600 seconds.')
        .optional(),
      /** Default: 1024. */
      maxConnections: whole(1, MILLION).optional(),
      /** Default: 256. */
      maxConnectionsPerClient: whole(1, MILLION).optional(),
      /** Leading bits of an IPv6 address that are one client, 1 to 128. Default: 64. */
      clientIpv6Bits: whole(1, 128).optional(),
      /** Beyond this, the connection that buffers most is closed. Default: 64 MiB. */
      maxBufferedBytes: whole(65_536, 2 ** 40).optional(),
    })
    .prefault({}),
  /** DNS over TLS (RFC 7858), over HTTPS (RFC 8484), or both. The files are read again on each reload. Default: none. */
  tls: z
    .strictObject({
      /** The certificate, followed by those that lead to its authority (PEM). */
      certificateFile: z.string('Give a certificate and its key, as PEM files.'),
      keyFile: z.string('Give a certificate and its key, as PEM files.'),
      /** For DNS over TLS; 0 picks a free one. Default: none. */
      port: port.optional(),
      /** For DNS over HTTPS with the path `/dns-query`; 0 picks a free one. Default: none. */
      httpsPort: port.optional(),
    })
    .optional(),
  /** Networks whose clients may transfer zones (AXFR over TCP), such as `192.0.2.0/24`. Default: none. */
  allowTransfer: networks,
  /** Default: `warn`. */
  logLevel: choice(LOG_LEVELS).default(DEFAULT_LOG_LEVEL),
  /** A pino-style logger, instead of JSON lines on standard error. */
  log: z.custom<Log>().optional(),
});

export type ServerOptions = z.input<typeof optionsSchema>;
type Checked = z.output<typeof optionsSchema>;

/** The choices and the default of the option at a path such as `rateLimit.slip`, as far as it has some. */
export function choicesAndDefault(path: string) {
  const [name = '', member = ''] = path.split('.');
  const option = (optionsSchema.shape as Readonly<Record<string, z.ZodType>>)[name];
  const group = option instanceof z.ZodOptional ? option.unwrap() : option;
  const schema = group instanceof z.ZodObject ? group.shape[member] : option;
  if (!(schema instanceof z.ZodDefault)) return {};
  const inner = schema.unwrap();
  return {
    choices: inner instanceof z.ZodEnum ? inner.options.map(String) : undefined,
    value: schema.def.defaultValue,
  };
}

function problemOf(issue: z.core.$ZodIssue, nameOf: (path: string) => string): Problem {
  if (issue.code === 'unrecognized_keys') {
    return { problem: `There is no option ${issue.keys.join(', ')}.`, fix: 'Correct the spelling.' };
  }
  // One value or several: the branch that expects such a value says what is wrong.
  const branches = issue.code === 'invalid_union' ? issue.errors : [];
  const [inner] = branches.find(([first]) => first?.code !== 'invalid_type') ?? [];
  const name = nameOf(issue.path.filter((part) => typeof part === 'string').join('.'));
  const { input, message } = { ...issue, ...inner };
  if (input === undefined) return { problem: `${name} is missing.`, fix: message };
  const value = typeof input === 'number' ? String(input) : JSON.stringify(input);
  return { problem: `${name} cannot be ${value}.`, fix: message };
}

/** What is wrong between options that are valid on their own. */
function crossProblems(options: Checked): Problem[] {
  const { mode, workers, standby, port, tls, zones, zonesFile, zoneFiles } = options;
  const ports = [port, tls?.port, tls?.httpsPort].filter((given) => given !== undefined && given !== 0);
  const twice = ports.find((given, index) => ports.indexOf(given) !== index);
  const isSingle = mode === 'single';
  const checks: readonly [boolean, string, string][] = [
    [
      isSingle && workers !== undefined && workers !== 1,
      `Mode single has one process, not ${workers}.`,
      'Choose --mode multi for more.',
    ],
    [isSingle && standby > 0, 'Mode single has no standby processes.', 'Choose --mode multi.'],
    [
      tls !== undefined && tls.port === undefined && tls.httpsPort === undefined,
      'A certificate is given, but no port that uses it.',
      'Give a port for TLS, for HTTPS, or both.',
    ],
    [
      twice !== undefined,
      `Port ${twice} is given for two transports.`,
      'Give each a port of its own; 0 picks a free one.',
    ],
    [
      [zones, zonesFile, zoneFiles].filter((given) => given !== undefined).length > 1,
      'Zones, a zones file and zone files exclude each other.',
      'Give one of them.',
    ],
  ];
  return checks.filter(([isWrong]) => isWrong).map(([, problem, fix]) => ({ problem, fix }));
}

/** Fills in defaults. Throws `E_USAGE` with all that is wrong; `nameOf` gives the user's word for the option at a path. */
export function checkOptions(
  options: ServerOptions,
  nameOf: (path: string) => string = (path) => path,
): Checked {
  const parsed = optionsSchema.safeParse(options, { reportInput: true });
  const problems = parsed.success
    ? crossProblems(parsed.data)
    : parsed.error.issues.map((issue) => problemOf(issue, nameOf));
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new ServerError('E_USAGE', 'The options are not valid', problems);
}

function resolveAddresses(given: Checked['address']): readonly [string, ...string[]] {
  const [first = DEFAULT_ADDRESS, ...rest] = new Set([given].flat());
  return [first, ...rest];
}

/** The options as the server uses them. Throws `E_USAGE` for invalid ones. */
export function resolveOptions(options: ServerOptions, defaultZones: () => ZoneSource) {
  const { address: given, zones = defaultZones(), log, logLevel, ...rest } = checkOptions(options);
  const load: ZoneLoader = typeof zones === 'function' ? zones : () => zones;
  return { ...rest, addresses: resolveAddresses(given), zones: load, log: log ?? createLog(logLevel) };
}

export type ResolvedOptions = ReturnType<typeof resolveOptions>;
