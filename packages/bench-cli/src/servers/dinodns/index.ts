/**
 * DinoDNS: the unmodified framework (`dinodns-stock`), and the same framework with this project's plugins
 * (`dinodns`). Both run in `dinodns-server`, which only sets them up.
 */

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
function zoneArguments({ directory, zoneFiles }: InstanceRequest): string[] {
  return zoneFiles === undefined ? ['--zones-spec', `${directory}/${ZONES_SPEC}`] : ['--zone-dir', zoneFiles];
}

function definition(profile: Profile): ServerDefinition {
  return {
    program: dinodnsProgram,
    image: dinodnsImage,
    answersUnknownZoneWith: profile.answersUnknownZoneWith,
    transports: profile.transports,
    unsupported: (_mode, _transport, ip) =>
      ip === 6 && profile.profile === 'stock' ? 'it listens on IPv4 only' : null,
    replacesWorkers: true,
    ...(profile.profile === 'dinodns'
      ? { readsZoneFiles: true as const }
      : {
          withoutClusterNames:
            'its DefaultStore answers NXDOMAIN where a name has other types only, and a quarter of the queries ask for AAAA of such names',
        }),
    plan(request: InstanceRequest) {
      const workers = request.mode === 'multi' ? profile.workers(request.workerCpus ?? request.cpus) : 1;
      return {
        // Not the zones themselves: the server generates a million of them faster than it reads them.
        files:
          request.zoneFiles === undefined
            ? [{ path: ZONES_SPEC, chunks: [`${JSON.stringify(request.zoneSet.spec)}\n`] }]
            : [],
        command: [
          ...request.program,
          ...['--profile', profile.profile, '--mode', request.mode, '--address', request.address],
          ...portArguments(request),
          ...zoneArguments(request),
          ...(profile.busyPollMicroseconds === undefined
            ? []
            : ['--busy-poll', String(profile.busyPollMicroseconds)]),
          ...(request.mode === 'multi' && workers !== null ? ['--workers', String(workers)] : []),
        ],
        readiness: { kind: 'stdout-json' },
        workers,
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
  },
};
