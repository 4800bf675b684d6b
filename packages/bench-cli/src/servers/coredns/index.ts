/**
 * CoreDNS in configurations of the same zones: the published one (`template` blocks), the same with a socket per vCPU
 * or with a cache, zone files, and a hosts file.
 *
 * GOMAXPROCS is left to CoreDNS, which reads the CPU quota at start (go.uber.org/automaxprocs), exactly as it
 * does in a pod: under a quota of one CPU it uses one. Old versions do not (1.11.3 has no automaxprocs): they start as
 * many threads as the machine has CPUs, and the quota throttles them.
 */
import { findFormat } from '@dinodns-bench/zones';
import type { Endpoint } from '../../dns/endpoint.ts';
import { readVersion } from '../../provision/tool-version.ts';
import { TRANSPORTS } from '../../results/record.ts';
import {
  encryptionOf,
  type ForwardOptions,
  type InstancePlan,
  type InstanceRequest,
  type ServerDefinition,
  type ServerImage,
  type ServerKind,
} from '../server.ts';
import { COREDNS_VERSION } from './cache.ts';
import { corednsImageReference } from './image.ts';
import { corednsProgram } from './program.ts';

/** The project's own. */
const corednsImage: ServerImage = {
  reference: corednsImageReference,
  origin: 'the official image; for a cluster without a registry see k8s/images/coredns',
  needsBindService: true,
};

interface Configuration {
  readonly format: 'corefile' | 'corefile-file' | 'corefile-auto' | 'corefile-hosts';
  /** Sockets for an instance with this many cores; undefined without the `multisocket` plugin. */
  readonly sockets?: (cpus: number) => number;
  /** With the `cache` plugin. */
  readonly cache?: true;
}

/** With `forward` and `cache` as in the Corefile of Kubernetes. */
function planForwarding(
  { address, port, directory, program }: InstanceRequest,
  upstream: Endpoint,
  { maxConcurrent = 1000, cacheSeconds = 30, serveStale = false }: ForwardOptions = {},
): InstancePlan {
  const forward = [
    `forward . ${upstream.address}:${upstream.port} {`,
    `    max_concurrent ${maxConcurrent}`,
    '}',
  ];
  const stale = serveStale ? [`cache ${cacheSeconds} {`, '    serve_stale', '}'] : [`cache ${cacheSeconds}`];
  const cache = cacheSeconds === 0 ? [] : stale;
  const lines = ['errors', `bind ${address}`, ...forward, ...cache];
  return {
    files: [
      { path: 'Corefile', chunks: [`.:${port} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`] },
    ],
    command: [...program, '-conf', `${directory}/Corefile`],
    readiness: { kind: 'answer' },
    workers: null,
  };
}

function definition({ format, sockets: socketsFor, cache }: Configuration): ServerDefinition {
  return {
    program: corednsProgram,
    image: corednsImage,
    answersUnknownZoneWith: 'REFUSED',
    transports: TRANSPORTS,
    ...(format === 'corefile-file' ? { readsZoneFiles: true as const } : {}),
    ...(format === 'corefile-hosts' ? { withoutClusterNames: 'a hosts file has no SRV records' } : {}),
    plan(request: InstanceRequest) {
      const sockets = socketsFor?.(request.cpus);
      const files = findFormat(format).render(request.zoneSet, {
        directory: request.directory,
        address: request.address,
        port: request.port,
        zoneFiles: request.zoneFiles,
        ...encryptionOf(request),
        coredns: { multisocket: sockets, cache },
      });
      return {
        files: [...files],
        command: [...request.program, '-conf', `${request.directory}/Corefile`],
        readiness: { kind: 'answer' },
        workers: sockets ?? null,
      };
    },
    // A variant is another configuration of the zones.
    ...(format === 'corefile' && socketsFor === undefined && cache === undefined ? { planForwarding } : {}),
    versionArguments: COREDNS_VERSION.arguments,
    parseVersion(output) {
      const version = readVersion(COREDNS_VERSION, output);
      const go = /\bgo(\d[\w.]*)/.exec(output)?.[1];
      return version === null ? null : { version, components: go === undefined ? {} : { go } };
    },
  };
}

export const coredns: ServerKind = {
  name: 'coredns',
  title: 'CoreDNS',
  description: 'CoreDNS with a `template` block for each zone, as published',
  definition: definition({ format: 'corefile' }),
  variants: {
    // CoreDNS at its best: with a single socket, its lock limits CoreDNS on several cores.
    multisocket: {
      title: 'multisocket',
      description: 'the same with the `multisocket` plugin, one socket per vCPU',
      definition: definition({ format: 'corefile', sockets: (cpus) => Math.max(1, Math.ceil(cpus)) }),
    },
    file: {
      title: 'file',
      description: 'CoreDNS with the `file` plugin and zone files',
      definition: definition({ format: 'corefile-file' }),
    },
    auto: {
      title: 'auto',
      description: 'CoreDNS with the `auto` plugin and a directory of zone files',
      definition: definition({ format: 'corefile-auto' }),
    },
    hosts: {
      title: 'hosts',
      description: 'CoreDNS with the `hosts` plugin and a hosts file; addresses only',
      definition: definition({ format: 'corefile-hosts' }),
    },
    cache: {
      title: 'cache',
      description: 'the `template` blocks behind the `cache` plugin with its defaults',
      definition: definition({ format: 'corefile', cache: true }),
    },
  },
  defaultVersion: ({ corednsVersion }) => corednsVersion,
};
