/**
 * DinoDNS: the unmodified framework (`dinodns-stock`), and the same framework with this project's plugins
 * (`dinodns`). Both run in `dinodns-server`, which only sets them up.
 */

import { installedProgram } from '../../provision/path-tools.ts';
import type { Program } from '../../provision/provision.ts';
import type { VersionQuestion } from '../../provision/tool-version.ts';
import { TRANSPORTS, type Transport } from '../../results/record.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { InstanceRequest, ServerDefinition, ServerImage, ServerKind } from '../server.ts';
import { dinodnsProgram } from './program.ts';

const ZONES_SPEC = 'zones-spec.json';

export const dinodnsImage: ServerImage = {
  reference: ({ settings }) => settings.dinodnsImage ?? `dinodns-bench/server:${BENCH_VERSION}`,
  origin: 'docker build -f k8s/images/server/Dockerfile -t IMAGE .',
};

interface Profile {
  readonly profile: 'dinodns' | 'stock';
  readonly answersUnknownZoneWith: ServerDefinition['answersUnknownZoneWith'];
  /** Worker processes in cluster mode; null where the framework decides by itself. */
  readonly workers: (cpus: number) => number | null;
  readonly transports: readonly Transport[];
  /** Time to look for queries before waiting for them. Default: 0. */
  readonly busyPollMicroseconds?: number;
  /** A database that keeps the records, by the directory of the instance. Default: memory. */
  readonly store?: (directory: string) => string;
  /** What runs beside the server. Default: nothing. */
  readonly beside?: { readonly program: Program; readonly command: readonly string[] };
}

/** The server always answers over UDP and TCP too; the port of an encrypted transport is one of its own. */
function portArguments({ transport, port, certificate }: InstanceRequest): string[] {
  if (certificate === undefined) return ['--port', String(port)];
  return [
    ...['--port', '0', `--${transport}-port`, String(port)],
    ...['--tls-cert', certificate.certificateFile, '--tls-key', certificate.keyFile],
  ];
}

/** The zones of the run: generated from their description, or signed ones in files. */
function zoneArguments({ directory, signedZones }: InstanceRequest): string[] {
  return signedZones === undefined
    ? ['--zones-spec', `${directory}/${ZONES_SPEC}`]
    : ['--zone-dir', signedZones];
}

function definition(profile: Profile): ServerDefinition {
  return {
    program: dinodnsProgram,
    ...(profile.beside === undefined ? {} : { beside: profile.beside.program }),
    // The image has no database.
    image: profile.store === undefined ? dinodnsImage : null,
    answersUnknownZoneWith: profile.answersUnknownZoneWith,
    transports: profile.transports,
    unsupported: (_mode, _transport, ip) =>
      ip === 6 && profile.profile === 'stock' ? 'it listens on IPv4 only' : null,
    ...(profile.profile === 'dinodns' && profile.store === undefined ? { servesSigned: true as const } : {}),
    plan(request: InstanceRequest) {
      const workers = request.mode === 'multi' ? profile.workers(request.workerCpus ?? request.cpus) : 1;
      return {
        // Not the zones themselves: the server generates a million of them faster than it reads them.
        files: [{ path: ZONES_SPEC, chunks: [`${JSON.stringify(request.zoneSet.spec)}\n`] }],
        command: [
          ...request.program,
          '--profile',
          profile.profile,
          '--mode',
          request.mode,
          '--address',
          request.address,
          ...portArguments(request),
          ...zoneArguments(request),
          ...(profile.store === undefined ? [] : ['--store', profile.store(request.directory)]),
          ...(profile.busyPollMicroseconds === undefined
            ? []
            : ['--busy-poll', String(profile.busyPollMicroseconds)]),
          ...(request.mode === 'multi' && workers !== null ? ['--workers', String(workers)] : []),
        ],
        env: {},
        readiness: { kind: 'stdout-json' },
        workers,
        ...(profile.beside === undefined ? {} : { beside: [profile.beside.command] }),
      };
    },
    versionArguments: ['--version'],
    parseVersion(output) {
      const version = /^(\d+\.\d+\.\d+\S*)/m.exec(output)?.[1];
      const framework = /\bdinodns (\d+\.\d+\.\d+\S*?)[,)\s]/.exec(`${output} `)?.[1];
      const udp = /\bUDP (\w+)/.exec(output)?.[1];
      const node = /\b[Nn]ode(?:\.js)? v?(\d+\.\d+\.\d+)/.exec(output)?.[1];
      if (version === undefined) return null;
      return {
        version: framework ?? version,
        components: {
          'server-cluster': version,
          ...(framework === undefined ? {} : { dinodns: framework }),
          ...(node === undefined ? {} : { node }),
          // `native`, or `dgram` where the fast sockets cannot be had: another program, as far as figures go.
          ...(udp === undefined || profile.profile === 'stock' ? {} : { udp }),
        },
      };
    },
  };
}

/** `Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0` */
const REDIS_VERSION: VersionQuestion = { arguments: ['--version'], pattern: /\bv=(\S+)/ };
const REDIS_SOCKET = 'redis.sock';

/** Redis as a cache of nothing: no port, no files, only a socket in the working directory. */
const REDIS = {
  program: installedProgram(
    { name: 'redis-server', question: REDIS_VERSION },
    { 'apt-get': 'redis-server', dnf: 'redis', apk: 'redis' },
  ),
  command: [
    'redis-server',
    ...['--port', '0', '--unixsocket', REDIS_SOCKET],
    ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
  ],
} as const;

const OURS = {
  profile: 'dinodns',
  answersUnknownZoneWith: 'REFUSED',
  workers: (cpus) => Math.max(1, Math.ceil(cpus)),
  transports: TRANSPORTS,
} as const satisfies Profile;

export const dinodnsStock: ServerKind = {
  name: 'dinodns-stock',
  title: 'DinoDNS (stock)',
  description: 'the unmodified npm package with its DefaultStore, as documented',
  defaultVersion: () => null,
  definition: definition({
    profile: 'stock',
    answersUnknownZoneWith: 'NXDOMAIN',
    // In cluster mode the framework forks os.cpus().length workers, whatever the quota.
    workers: () => null,
    // Its HTTP network can encrypt, its TCP network cannot.
    transports: ['udp', 'tcp', 'https'],
  }),
};

export const dinodns: ServerKind = {
  name: 'dinodns',
  title: 'DinoDNS',
  description: 'the same framework with the network and store of this project',
  defaultVersion: () => null,
  definition: definition(OURS),
  variants: {
    'busy-poll': {
      title: 'busy polling',
      description:
        'the same, looking for queries for a millisecond before it waits: low latency for a whole CPU',
      definition: definition({ ...OURS, busyPollMicroseconds: 1000 }),
    },
    sqlite: {
      title: 'SQLite',
      description: 'the same with its records in SQLite, which is asked for each query',
      definition: definition({ ...OURS, store: (directory) => `sqlite:${directory}/records.db` }),
    },
    redis: {
      title: 'Redis',
      description: 'the same with its records in a Redis beside it, under the same CPU limit (if installed)',
      definition: definition({
        ...OURS,
        // The path of a socket has at most 107 octets (unix(7)): it goes through the working directory.
        store: () => `redis:/proc/self/cwd/${REDIS_SOCKET}`,
        beside: REDIS,
      }),
    },
  },
};
