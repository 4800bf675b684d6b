/** The flags of `dinodns-server`. Nothing else reads the command line. */
import { openUdpSocket } from '@dinodns-bench/batched-udp';
import { exitStatusHelp, isHelp, usageError } from '@dinodns-bench/program';
import { Command, Option } from 'commander';
import { ServerError } from './errors.ts';
import { frameworkOf } from './framework/choose.ts';
import { DEFAULT_MAX_PENDING } from './limits/pending-limit.ts';
import {
  DEFAULT_CLIENT_IPV6_BITS,
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
} from './network/tcp-limits.ts';
import { checkOptions, choicesAndDefault, DEFAULT_ADDRESS, type ServerOptions } from './options.ts';
import { generatedZones, readZonesSpec } from './store/zones-file.ts';
import { describeVersions } from './version.ts';
import type { ZoneFileOption } from './zone-files/read-zone.ts';

/** The flags of which one says where the zones are. */
interface ZoneFlags {
  readonly zones: number;
  readonly zonesFile?: string;
  readonly zonesSpec?: string;
  readonly zone?: string[];
  readonly zoneDir?: string[];
}

interface More {
  /** Of a flag that sets no option of the server. */
  readonly default?: number;
  /** Flags that may not be given as well, as commander names them. */
  readonly excludes?: string[];
}

/** Those that stand for a number in `--flag <…>`. */
const NUMBERS = /<(?:number|seconds|microseconds|bits)>$/;
/** Those that stand for several values, separated by commas. */
const LISTS = /,…>$/;

function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ServerError('E_USAGE', `${flag} "${text}" is not a whole number.`, `Give ${flag} digits only.`);
}

/** `sets` is the path of the option that the flag sets, such as `tcp.idleSeconds`. */
function flag(flags: string, help: string, sets?: string, more: More = {}) {
  const option = new Option(flags, help);
  const { choices, value = more.default } = sets === undefined ? {} : choicesAndDefault(sets);
  if (NUMBERS.test(flags)) option.argParser((text) => wholeNumber(option.long ?? flags, text));
  if (LISTS.test(flags)) option.argParser((text) => text.split(','));
  if (choices !== undefined) option.choices(choices);
  // The help of a list says what it is without the flag.
  if (!option.variadic && !LISTS.test(flags)) option.default(value);
  option.conflicts(more.excludes ?? []);
  return { option, sets };
}

/** Repeated, each with one value: `--zone a --zone b`. */
function repeated(flags: string, help: string) {
  const option = new Option(flags, `${help}; repeat it for more`);
  option.argParser((value, previous: string[] | undefined) => [...(previous ?? []), value]);
  option.conflicts(['zones', 'zonesFile', 'zonesSpec']);
  return { option, sets: undefined };
}

const FLAGS = [
  flag(
    '--profile <name>',
    'dinodns: robust networks and store; stock: the framework as published',
    'profile',
  ),
  flag(
    '--framework <directory>',
    'an installed npm package dinodns to use (default: the one beside this program)',
  ),
  flag('--mode <mode>', 'single: one process; multi: a worker for each usable CPU', 'mode'),
  flag('--address <ip...>', `addresses to listen on (default: ${DEFAULT_ADDRESS})`, 'address'),
  flag('--port <number>', 'port for UDP and TCP; 0 picks a free one', 'port'),
  flag('--workers <number>', 'processes in mode multi (default: usable CPUs)', 'workers'),
  flag('--standby <number>', 'spare processes that replace a worker that ends', 'standby'),
  flag('--zones <number>', 'number of zones example1.com, example3.com, … to serve', undefined, {
    default: 100,
    excludes: ['zonesFile'],
  }),
  flag('--zones-file <file>', 'zones.ndjson as written by `dinodns-zones generate --format dinodns-json`'),
  flag('--zones-spec <file>', 'JSON that zones are generated from, such as {"from":1,"to":200}', undefined, {
    excludes: ['zones', 'zonesFile'],
  }),
  repeated(
    '--zone <[origin=]file>',
    'zone file (RFC 1035); the origin defaults to the owner of its SOA record',
  ),
  repeated('--zone-dir <directory>', 'load every NAME.zone and db.NAME in this directory'),
  flag('--udp-backend <name>', 'native: many datagrams per system call; dgram: one at a time', 'udpBackend'),
  flag(
    '--balance <how>',
    'UDP balancing: a client port always to one worker (flow), or each datagram to any (random)',
    'balance',
  ),
  flag(
    '--gather <microseconds>',
    'under load, wait before each further read (default: 50 if more workers than CPUs get datagrams, otherwise 0)',
    'gatherMicroseconds',
  ),
  flag(
    '--busy-poll <microseconds>',
    'look for queries for this long before waiting: low latency for a whole CPU',
    'busyPollMicroseconds',
  ),
  flag(
    '--metrics-port <number>',
    'HTTP port for /metrics, /health and /ready; 0 picks a free one (default: none)',
    'metrics.port',
  ),
  flag('--metrics-address <ip>', 'address of that port', 'metrics.address'),
  flag('--log-level <level>', 'JSON lines on standard error', 'logLevel'),
  flag(
    '--tls-cert <file>',
    'certificate and its chain (PEM), for --tls-port and --https-port',
    'tls.certificateFile',
  ),
  flag('--tls-key <file>', 'its private key (PEM)', 'tls.keyFile'),
  flag('--tls-port <number>', 'port for DNS over TLS; 0 picks a free one (default: none)', 'tls.port'),
  flag(
    '--https-port <number>',
    'port for DNS over HTTPS, path /dns-query; 0 picks a free one (default: none)',
    'tls.httpsPort',
  ),
  flag(
    '--tcp-idle <seconds>',
    `close connections without a query for this long (default: ${DEFAULT_IDLE_SECONDS})`,
    'tcp.idleSeconds',
  ),
  flag(
    '--tcp-connections <number>',
    `maximum connections per process and transport, UDP excluded (default: ${DEFAULT_MAX_CONNECTIONS})`,
    'tcp.maxConnections',
  ),
  flag(
    '--tcp-connections-per-client <number>',
    `of these, maximum per client (default: ${DEFAULT_MAX_CONNECTIONS_PER_CLIENT})`,
    'tcp.maxConnectionsPerClient',
  ),
  flag(
    '--tcp-ipv6-prefix <bits>',
    `IPv6 addresses with the same prefix are one client (default: ${DEFAULT_CLIENT_IPV6_BITS})`,
    'tcp.clientIpv6Bits',
  ),
  flag(
    '--max-pending <number>',
    `maximum queries per process that handlers work on at once (default: ${DEFAULT_MAX_PENDING})`,
    'maxPending',
  ),
  flag(
    '--cookie-secret-file <file>',
    'secrets of DNS cookies, shared by the servers of an address (default: a random one)',
    'cookies.secretFile',
    { excludes: ['cookies'] },
  ),
  flag('--no-cookies', 'ignore DNS cookies'),
  flag(
    '--rrl-rate <number>',
    'UDP responses per second to one client network, per worker (default: no limit)',
    'rateLimit.rate',
  ),
  flag('--rrl-slip <number>', 'send every Nth response over the limit with TC=1; 0: none', 'rateLimit.slip'),
  flag('--rrl-ipv4-prefix <bits>', 'prefix length of an IPv4 client network', 'rateLimit.ipv4Prefix'),
  flag('--rrl-ipv6-prefix <bits>', 'prefix length of an IPv6 client network', 'rateLimit.ipv6Prefix'),
  flag(
    '--allow-transfer <network,…>',
    'clients that may transfer zones over TCP (AXFR); default: none',
    'allowTransfer',
  ),
  flag(
    '--rrl-exempt <network...>',
    'networks that are not limited, such as 192.0.2.0/24',
    'rateLimit.exempt',
  ),
];

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
function newCommand(): Command {
  const command = new Command('dinodns-server')
    .description('Serves zone files and generated zones with DinoDNS, over UDP and TCP.')
    .addHelpText('after', EXIT_HELP)
    .exitOverride()
    .configureHelp({ minWidthToWrap: 30 })
    .configureOutput({ outputError: () => undefined });
  for (const { option } of FLAGS) command.addOption(option);
  return command;
}

/** The UDP backend of this machine, for `--version`. */
async function availableBackend(): Promise<string> {
  const socket = await openUdpSocket({ address: '127.0.0.1', onBatch: () => undefined });
  await socket.close();
  return socket.backend;
}

/** `FILE` or `origin=FILE`. Write a path that contains `=` as `./FILE`: no zone name contains a slash. */
function zoneFileOf(text: string): ZoneFileOption {
  const [, origin, file] = /^([^=/]+)=(.+)$/.exec(text) ?? [];
  return origin === undefined || file === undefined ? { file: text } : { origin, file };
}

function zonesOf(flags: ZoneFlags): Pick<ServerOptions, 'zones' | 'zonesFile' | 'zoneFiles'> {
  const { zones, zonesFile, zonesSpec, zone, zoneDir } = flags;
  if (zone !== undefined || zoneDir !== undefined) {
    return { zoneFiles: { files: (zone ?? []).map(zoneFileOf), directories: zoneDir ?? [] } };
  }
  if (zonesSpec !== undefined) return { zones: () => readZonesSpec(zonesSpec) };
  return zonesFile === undefined ? { zones: generatedZones(zones) } : { zonesFile };
}

/** The groups of options that are without effect without one of theirs. */
const NEEDED = [
  ['metrics', 'port'],
  ['rateLimit', 'rate'],
] as const;

/** The options that the flags set. They are not checked yet. */
function toOptions(given: ZoneFlags & Readonly<Record<string, unknown>>): ServerOptions {
  const options: Record<string, unknown> = zonesOf(given);
  if (given.cookies === false) options.cookies = false;
  for (const { option, sets } of FLAGS) {
    const value = given[option.attributeName()];
    if (sets === undefined || value === undefined) continue;
    const [name = '', member] = sets.split('.');
    options[name] = member === undefined ? value : { ...Object(options[name]), [member]: value };
  }
  for (const [group, key] of NEEDED) if (!Object.hasOwn(Object(options[group]), key)) delete options[group];
  return options;
}

/** Returns null if help or the version was requested and has been printed. Throws `E_USAGE`. */
export async function parseCommandLine(args: readonly string[]): Promise<ServerOptions | null> {
  const parser = newCommand();
  // This opens a socket, so do it only on request.
  const asksVersion = args.includes('--version') || args.includes('-V');
  parser.version(asksVersion ? describeVersions(await availableBackend(), frameworkOf(args)) : '');
  try {
    parser.parse(args, { from: 'user' });
  } catch (error) {
    if (!isHelp(error)) throw usageError(error, '`dinodns-server --help` lists the flags.');
    return null;
  }
  const options = toOptions(parser.opts<ZoneFlags & Record<string, unknown>>());
  checkOptions(options, (path) => FLAGS.find(({ sets }) => sets === path)?.option.long ?? path);
  return options;
}
