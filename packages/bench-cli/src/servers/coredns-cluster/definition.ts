/**
 * CoreDNS as clusters run it: the stock Corefile of Kubernetes. Its `kubernetes` plugin reads an API server of ours, and
 * it forwards other names to an upstream of ours with a programmed delay; both run beside it, outside its CPU limit, in a
 * cluster as containers of its pod.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ClusterSpec,
  type CorefileOptions,
  defineCluster,
  renderCorefile,
} from '@dinodns-bench/cluster-objects';
import { coredns } from '../coredns/index.ts';
import type { Companion, InstanceRequest, ServerDefinition } from '../server.ts';
import { CLUSTER, EXTERNAL, NODE_SEARCH, searchListOf, UPSTREAM_DELAY_SECONDS } from './cluster.ts';

/** The names of the programs beside it. */
export const API_SERVER = 'api';
export const UPSTREAM = 'upstream';

/** What its Corefile varies. */
export type Choice = Pick<CorefileOptions, 'pods' | 'cache'> & { readonly autopath?: true };

/** Where and beside what it runs; every part has a default. */
export interface Surroundings {
  /** The cluster that its API server serves; default: the one of the workloads. */
  readonly spec?: ClusterSpec;
  /** Default `UPSTREAM_DELAY_SECONDS`. */
  readonly upstreamDelaySeconds?: number;
  /** Ports of `/ready` and `/metrics`; default: any. */
  readonly readyPort?: number;
  readonly metricsPort?: number;
  /** It is ready when it has read everything; default: as soon as it answers names of the upstream. */
  readonly isReadyLate?: true;
  /** Whether the API server streams lists; default true. */
  readonly streamedLists?: boolean;
  /** Environment of CoreDNS. Default: nothing. */
  readonly env?: Readonly<Record<string, string>>;
  /** The node's own domains in the search list of `autopath`; default `NODE_SEARCH`. */
  readonly nodeSearch?: readonly string[];
}

/** The program of the package, from its sources in the workspace, from what was built from them elsewhere. */
function clusterProgram(): string {
  const entry = fileURLToPath(import.meta.resolve('@dinodns-bench/cluster-objects'));
  return entry.replace(/index\.(ts|js)$/, 'cli.$1');
}

/** The same in the image of the load generator. */
const IMAGE_SCRIPT = '/app/packages/cluster-objects/src/cli.ts';

function clusterFlags(spec: ClusterSpec): string[] {
  const { namespaces, services, pods, endpoints, headless, dualStack, seed, domain } = spec;
  const values = { namespaces, services, pods, endpoints, headless, seed, domain };
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return dualStack ? [...flags, '--dual-stack'] : flags;
}

export function companionsOf({
  spec = CLUSTER.spec,
  upstreamDelaySeconds = UPSTREAM_DELAY_SECONDS,
  streamedLists = true,
}: Surroundings) {
  return (address: string): readonly Companion[] => {
    const script = clusterProgram();
    const listen = ['--address', address];
    const companion = (name: string, ...given: string[]): Companion => ({
      name,
      script,
      // Ends with bench, also if bench is killed.
      arguments: [...given, ...listen, '--with-parent'],
      inPod: ['node', IMAGE_SCRIPT, ...given, ...listen],
    });
    return [
      companion(API_SERVER, 'api', ...clusterFlags(spec), ...(streamedLists ? [] : ['--no-streamed-lists'])),
      companion(UPSTREAM, 'upstream', '--delay', String(upstreamDelaySeconds * 1000)),
    ];
  };
}

function hostPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** In a pod it listens on any address, and what runs beside it on the loopback interface. */
const ANY_ADDRESS = '0.0.0.0';
const LOOPBACK = '127.0.0.1';
const POD_READY_PORT = 8181;

function companionAt({ companionPorts = {}, address }: InstanceRequest, name: string): string {
  const port = companionPorts[name];
  if (port === undefined) throw new Error(`coredns-cluster was planned without its companion "${name}"`);
  return hostPort(address === ANY_ADDRESS ? LOOPBACK : address, port);
}

/** No service has it, and CoreDNS says so only when it has read everything; until then it is SERVFAIL. */
export const MISSING_NAME = 'gone.team-000.svc.cluster.local';

/** Five seconds after its start it answers SERVFAIL for what it has not read; a busy machine takes longer for all pods. */
export const READ_SECONDS = 60;

/** With `autopath` in a file: the search list of the pods that the lookups of workloads are made by. */
export function resolvConf(search: readonly string[]): string {
  return `search ${search.join(' ')}\noptions ndots:5\n`;
}

/** How it is run with this configuration. */
export function definitionOf(
  { autopath, ...corefile }: Choice,
  surroundings: Surroundings = {},
): ServerDefinition {
  const { transports: _transports, ...base } = coredns.definition;
  const { spec, nodeSearch = NODE_SEARCH } = surroundings;
  const search = searchListOf(spec === undefined ? CLUSTER : defineCluster(spec), nodeSearch);
  return {
    ...base,
    ...(autopath === undefined ? {} : { completesSearch: search }),
    answersNamesOf: 'generated-cluster',
    companions: companionsOf(surroundings),
    plan(request) {
      const { address, port, directory, program } = request;
      const isPod = address === ANY_ADDRESS;
      const { readyPort = isPod ? POD_READY_PORT : 0, metricsPort = 0 } = surroundings;
      const searchFile = join(directory, 'resolv.conf');
      const text = renderCorefile({
        ...corefile,
        ...(autopath === undefined ? {} : { autopath: searchFile }),
        endpoint: `http://${companionAt(request, API_SERVER)}`,
        upstream: companionAt(request, UPSTREAM),
        address,
        port,
        // Bench waits for its end; and several can run on one machine.
        lameduckSeconds: 0,
        health: hostPort(address, 0),
        ready: hostPort(address, readyPort),
        metrics: hostPort(address, metricsPort),
      });
      const files = [{ path: 'Corefile', chunks: [text] }];
      if (autopath !== undefined) files.push({ path: 'resolv.conf', chunks: [resolvConf(search)] });
      return {
        files,
        command: [...program, '-conf', join(directory, 'Corefile')],
        env: surroundings.env ?? {},
        readiness: {
          kind: 'answer',
          loadSeconds: READ_SECONDS,
          name: surroundings.isReadyLate === undefined ? EXTERNAL.name(0) : MISSING_NAME,
          ...(isPod ? { http: { port: readyPort, path: '/ready' } } : {}),
        },
        workers: null,
      };
    },
  };
}
