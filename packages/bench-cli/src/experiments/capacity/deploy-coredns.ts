/** Starts CoreDNS in a configuration beside an API server of a cluster's objects. */
import type { ClusterSpec } from '@dinodns-bench/cluster-objects';
import { endedAfter } from '../../engine/close.ts';
import { errorsOf, internalError } from '../../errors.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import type { InstanceRecord } from '../../results/record.ts';
import { API_SERVER, definitionOf, type Surroundings } from '../../servers/coredns-cluster/definition.ts';
import type { Server } from '../../servers/server.ts';
import { findFreePort, retryTaken } from '../../targets/local/free-port.ts';
import type { Deployment, DeployRequest } from '../../targets/target.ts';
import { type ApiControl, apiControl } from './api-control.ts';
import { CONFIGURATIONS, type ConfigurationName } from './configurations.ts';

/** What starts CoreDNS. */
export interface CorednsContext
  extends Pick<TrialContext, 'world' | 'target' | 'zoneSet' | 'programOf' | 'signal'> {
  /** Of `--servers`, by their names. */
  readonly servers: ReadonlyMap<string, Server>;
  /** Called with the files of a server when it is deployed. */
  onFiles(server: string, files: Readonly<Record<string, string>>): void;
}

export interface CorednsRequest
  extends Pick<Surroundings, 'env' | 'streamedLists'>,
    Pick<DeployRequest, 'within'> {
  /** Names it in errors. */
  readonly key: string;
  /** One of the context's. */
  readonly server: string;
  readonly configuration: ConfigurationName;
  readonly cluster: ClusterSpec;
  /** Receives the logs. */
  readonly directory: string;
  /** What is started in place of the executable of the server. Default: itself. */
  readonly executable?: string;
}

/** A CoreDNS that was started beside its API server, and what a measurement needs of both. */
export interface RunningCoredns {
  readonly pid: number;
  readonly metricsPort: number;
  readonly readyPort: number;
  readonly api: ApiControl;
  readonly startedAtSeconds: number;
  /** Rejects when CoreDNS ends. */
  readonly died: Promise<never>;
}

export interface DeployedCoredns {
  readonly deployment: Deployment;
  readonly instance: InstanceRecord;
  readonly running: RunningCoredns;
}

const ADDRESS = '127.0.0.1';

/** The executable of one of the context's servers. */
export function executableOf(context: Omit<CorednsContext, 'onFiles'>, name: string): string {
  const [path = ''] = context.programOf(serverOf(context, name));
  return path;
}

function serverOf({ servers }: Pick<CorednsContext, 'servers'>, name: string): Server {
  const server = servers.get(name);
  if (server === undefined) throw internalError(`no server ${name}`);
  return server;
}

async function deployOnce(context: CorednsContext, request: CorednsRequest): Promise<DeployedCoredns> {
  const { world, target, zoneSet, signal } = context;
  const { cluster, configuration, directory, key, env = {}, streamedLists = true, within } = request;
  const [readyPort, metricsPort] = [await findFreePort(ADDRESS), await findFreePort(ADDRESS)];
  const base = serverOf(context, request.server);
  const [own = '', ...words] = context.programOf(base);
  const program = [request.executable ?? own, ...words];
  const surroundings = { spec: cluster, upstreamDelaySeconds: 0, readyPort, metricsPort, env, streamedLists };
  const startedAtSeconds = world.clock.monotonicSeconds();
  const deployment = await target.deploy({
    server: { ...base, ...definitionOf(CONFIGURATIONS[configuration], surroundings) },
    program,
    zoneSet,
    mode: 'multi',
    transport: 'udp',
    // No limit: what is measured is not CPU, and a limit would only make everything longer.
    allowances: [world.machine.availableCpus],
    logDirectory: directory,
    signal,
    ...(within && { within }),
  });
  context.onFiles(request.server, deployment.files);
  const [instance] = deployment.instances;
  const apiPort = deployment.companionPorts?.[API_SERVER];
  if (instance === undefined || instance.pid === null || apiPort === undefined) {
    await deployment.remove();
    throw internalError(`${key} has no process`);
  }
  const api = apiControl(apiPort, signal);
  const { died } = deployment;
  const running = { pid: instance.pid, metricsPort, readyPort, api, startedAtSeconds, died };
  return { deployment, instance, running };
}

/** The caller removes the deployment. @throws BenchError, or the reason of the signal */
export async function deployCoredns(
  context: CorednsContext,
  request: CorednsRequest,
): Promise<DeployedCoredns> {
  return retryTaken(() => deployOnce(context, request));
}

/**
 * Removes it when `use` is over or CoreDNS has ended; the signal of `use` ends then as well.
 * @throws BenchError first why that ended, or the reason of the signal
 */
export async function withCoredns<T>(
  context: CorednsContext,
  request: CorednsRequest,
  use: (deployed: DeployedCoredns, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deployed = await deployCoredns(context, request);
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  return endedAfter(
    () => Promise.race([use(deployed, signal), deployed.running.died]),
    () => {
      ended.abort();
      return deployed.deployment.remove().then(() => [], errorsOf);
    },
  );
}
