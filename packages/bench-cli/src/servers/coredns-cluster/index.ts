/**
 * CoreDNS as clusters run it: the stock Corefile of Kubernetes. Its `kubernetes` plugin reads an API server of ours, and
 * it forwards other names to an upstream of ours with a programmed delay; both run beside it, outside its CPU limit.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CorefileOptions, renderCorefile } from '@dinodns-bench/cluster-objects';
import { coredns } from '../coredns/index.ts';
import type { Companion, InstanceRequest, Server, ServerDefinition, ServerKind, Variant } from '../server.ts';
import { CLUSTER, UPSTREAM_DELAY_SECONDS } from './cluster.ts';

/** The program of the package, from its sources in the workspace, from what was built from them elsewhere. */
function clusterProgram(): string {
  const entry = fileURLToPath(import.meta.resolve('@dinodns-bench/cluster-objects'));
  return entry.replace(/index\.(ts|js)$/, 'cli.$1');
}

/** Ends with bench, also if bench is killed. */
const ENDS_WITH_BENCH = '--with-parent';

function companions(address: string): readonly Companion[] {
  const script = clusterProgram();
  const listen = ['--address', address, ENDS_WITH_BENCH];
  const { namespaces, services, pods } = CLUSTER.spec;
  const size = ['--namespaces', namespaces, '--services', services, '--pods', pods].map(String);
  const delay = ['--delay', String(UPSTREAM_DELAY_SECONDS * 1000)];
  return [
    { name: 'api', script, arguments: ['api', ...size, ...listen] },
    { name: 'upstream', script, arguments: ['upstream', ...delay, ...listen] },
  ];
}

function companionAt({ companionPorts = {}, address }: InstanceRequest, name: string): string {
  const port = companionPorts[name];
  if (port === undefined) throw new Error(`coredns-cluster was planned without its companion "${name}"`);
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** A pod's search list, as in the published measurements (`autopath` in a file). */
const RESOLV_CONF =
  'search default.svc.cluster.local svc.cluster.local cluster.local mydomain.com\noptions ndots:5\n';

type Choice = Pick<CorefileOptions, 'pods' | 'cache'> & { readonly autopath?: true };

function definitionOf({ autopath, ...corefile }: Choice): ServerDefinition {
  const { transports: _transports, ...base } = coredns.definition;
  return {
    ...base,
    // Its names and the machinery around it exist on one machine.
    image: null,
    answersNamesOf: 'generated-cluster',
    companions,
    plan(request) {
      const { address, port, directory, program } = request;
      const free = `${address.includes(':') ? `[${address}]` : address}:0`;
      const resolvConf = join(directory, 'resolv.conf');
      const text = renderCorefile({
        ...corefile,
        ...(autopath === undefined ? {} : { autopath: resolvConf }),
        endpoint: `http://${companionAt(request, 'api')}`,
        upstream: companionAt(request, 'upstream'),
        address,
        port,
        // Bench waits for its end; and several can run on one machine.
        lameduckSeconds: 0,
        health: free,
        ready: free,
        metrics: free,
      });
      const files = [{ path: 'Corefile', chunks: [text] }];
      if (autopath !== undefined) files.push({ path: 'resolv.conf', chunks: [RESOLV_CONF] });
      return {
        files,
        command: [...program, '-conf', join(directory, 'Corefile')],
        env: {},
        readiness: { kind: 'answer' },
        workers: null,
      };
    },
  };
}

function variant(title: string, description: string, choice: Choice): Variant {
  return { title, description, definition: definitionOf(choice) };
}

export const corednsCluster: ServerKind = {
  name: 'coredns-cluster',
  title: 'CoreDNS in a cluster',
  description: 'CoreDNS with the stock Corefile of Kubernetes and a generated cluster of 15,820 objects',
  definition: definitionOf({}),
  variants: {
    nocache: variant('no cache', 'the same without `cache`', { cache: 'off' }),
    'no-denial': variant('no negative cache', 'the same without negative answers in its cache', {
      cache: 'no-denial',
    }),
    verified: variant('pods verified', 'the same, with all pods in memory', { pods: 'verified' }),
    autopath: variant(
      'autopath',
      'the same, with all pods in memory and `autopath`, which serves pods of the namespace `default` only',
      {
        pods: 'verified',
        autopath: true,
      },
    ),
  },
  ...(coredns.defaultVersion === undefined ? {} : { defaultVersion: coredns.defaultVersion }),
};

/**
 * `coredns` where only names of a cluster are asked for: as clusters run it, under its own name. So
 * `--servers coredns@1.11.3,coredns@1.13.1 --workload internal,external` compares the versions.
 */
export function withClusterNames(server: Server): Server {
  return server.kind === coredns.name && server.variant === null
    ? { ...server, ...corednsCluster.definition }
    : server;
}
