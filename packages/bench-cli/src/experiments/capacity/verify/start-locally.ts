/**
 * Starts a CoreDNS on this machine under a memory limit, with a generated cluster behind an API server, and says what was
 * measured in each phase, or how it ended.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Cluster,
  type CorefileOptions,
  defineExternal,
  renderCorefile,
  startApiServer,
  startUpstream,
} from '@dinodns-bench/cluster-objects';
import { close, endedAfter } from '../../../engine/close.ts';
import { BenchError } from '../../../errors.ts';
import { findExecutable } from '../../../machine/find-executable.ts';
import type { RunningProcess } from '../../../process.ts';
import { findFreePort, retryTaken, saysTaken } from '../../../targets/local/free-port.ts';
import { openMemoryGroup } from '../../../targets/local/memory-group.ts';
import { withParentDeathSignal } from '../../../targets/local/wrapping.ts';
import type { World } from '../../../world.ts';
import { existingNames } from '../beside/existing-names.ts';
import type { Phase } from '../beside/phases.ts';
import { PROGRAM_ENTRY } from '../beside/program.ts';
import { type PhaseReader, readPhases } from '../beside/read-phases.ts';
import type { Shown } from './verification.ts';

/** Where CoreDNS reads its objects. */
export interface ApiSource {
  readonly url: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
}

export interface LocalStartRequest {
  readonly world: World;
  /** The executable of CoreDNS. */
  readonly coredns: string;
  readonly cluster: Cluster;
  /** Default: an API server of ours with `cluster`. */
  readonly api?: ApiSource;
  /** Whether ours streams lists; default true. */
  readonly streamedLists?: boolean;
  /** Of CoreDNS, besides that of bench. */
  readonly corednsEnv?: Readonly<Record<string, string>>;
  readonly corefile: Pick<CorefileOptions, 'pods' | 'cache'> & { readonly autopath?: true };
  readonly phases: readonly Phase[];
  /** Of `steady` and `load`. */
  readonly seconds: number;
  readonly queriesPerSecond: number;
  /** Null for none. */
  readonly memoryLimitBytes: number | null;
  readonly signal: AbortSignal;
}

export type LocalStartResult = Shown & Pick<PhaseReader, 'streamed'>;

const ADDRESS = '127.0.0.1';
const LOG_LINES = 5;

interface Ports {
  readonly dns: number;
  readonly relay: number;
  readonly health: number;
  readonly ready: number;
  readonly metrics: number;
}

async function findPorts(): Promise<Ports> {
  const found = new Set<number>();
  while (found.size < 5) found.add(await findFreePort(ADDRESS));
  const [dns = 0, relay = 0, health = 0, ready = 0, metrics = 0] = found;
  return { dns, relay, health, ready, metrics };
}

/** A pod's search list, as in the published measurements. */
const RESOLV_CONF =
  'search default.svc.cluster.local svc.cluster.local cluster.local mydomain.com\noptions ndots:5\n';

async function writeFiles(
  request: LocalStartRequest,
  directory: string,
  ports: Ports,
  upstream: string,
): Promise<void> {
  const { world, corefile, cluster } = request;
  const { autopath, ...options } = corefile;
  const text = renderCorefile({
    ...options,
    ...(autopath === undefined ? {} : { autopath: join(directory, 'resolv.conf') }),
    endpoint: `http://${ADDRESS}:${ports.relay}`,
    upstream,
    address: ADDRESS,
    port: ports.dns,
    lameduckSeconds: 0,
    health: `${ADDRESS}:${ports.health}`,
    ready: `${ADDRESS}:${ports.ready}`,
    metrics: `${ADDRESS}:${ports.metrics}`,
  });
  await world.fs.writeFile(join(directory, 'Corefile'), text);
  await world.fs.writeFile(join(directory, 'resolv.conf'), RESOLV_CONF);
  await world.fs.writeFile(join(directory, 'names.txt'), existingNames(cluster).join('\n'));
}

async function openApi(request: LocalStartRequest, made: AsyncDisposableStack): Promise<ApiSource> {
  if (request.api !== undefined) return request.api;
  const { cluster, streamedLists = true } = request;
  const server = await startApiServer({ cluster, streamedLists });
  made.defer(() => server.close());
  return { url: server.url };
}

/** Kills it, where it still runs, and waits until it has ended. */
async function end(running: RunningProcess): Promise<void> {
  running.kill('SIGKILL');
  await running.exited;
}

function describeExit({ exit, lastLines }: RunningProcess, killed: boolean): string {
  if (killed) return 'it ran out of memory and was killed by the kernel';
  const how = exit?.signal ?? `exit status ${exit?.code}`;
  return `it ended (${how}): ${lastLines.slice(-LOG_LINES).join(' · ')}`;
}

function environmentOf(
  request: LocalStartRequest,
  ports: Ports,
  api: ApiSource,
  pid: number,
  directory: string,
): Record<string, string> {
  const { phases, seconds, queriesPerSecond, cluster } = request;
  return {
    PHASES: phases.join(','),
    SECONDS: String(seconds),
    QUERIES_PER_SECOND: String(queriesPerSecond),
    NAMESPACE: cluster.namespaceName(0),
    DOMAIN: cluster.spec.domain,
    API_SERVER: api.url,
    ...(api.tokenFile === undefined ? {} : { TOKEN_FILE: api.tokenFile }),
    ...(api.caFile === undefined ? {} : { CA_FILE: api.caFile }),
    PODS_VERIFIED: String(request.corefile.pods === 'verified'),
    PID: String(pid),
    NAMES_FILE: join(directory, 'names.txt'),
    RELAY_PORT: String(ports.relay),
    DNS_PORT: String(ports.dns),
    READY_URL: `http://${ADDRESS}:${ports.ready}/ready`,
    METRICS_URL: `http://${ADDRESS}:${ports.metrics}/metrics`,
  };
}

async function startCoredns(
  request: LocalStartRequest,
  directory: string,
  made: AsyncDisposableStack,
): Promise<{ running: RunningProcess; kills: () => Promise<number> }> {
  const { world, coredns, memoryLimitBytes, corednsEnv = {} } = request;
  const group =
    memoryLimitBytes === null ? null : await openMemoryGroup(world, 'capacity-verify', memoryLimitBytes);
  if (group !== null) made.defer(() => group.remove());
  const setpriv = await findExecutable(world, 'setpriv');
  const command = withParentDeathSignal(setpriv, [coredns, '-conf', join(directory, 'Corefile')]);
  const running = await world.processes.start(group === null ? command : group.wrap(command), {
    env: corednsEnv,
  });
  made.defer(() => end(running));
  return { running, kills: async () => (group === null ? 0 : group.kills()) };
}

async function perform(request: LocalStartRequest, made: AsyncDisposableStack): Promise<LocalStartResult> {
  const { world, signal } = request;
  const directory = await world.fs.mkdtemp(join(world.env.TMPDIR ?? '/tmp', 'dinodns-bench-capacity-'));
  made.defer(() => world.fs.rm(directory, { recursive: true, force: true }));
  const api = await openApi(request, made);
  const upstream = await startUpstream({ external: defineExternal() });
  made.defer(() => upstream.close());
  const ports = await findPorts();
  await writeFiles(request, directory, ports, `${ADDRESS}:${upstream.port}`);
  const { running, kills } = await startCoredns(request, directory, made);
  const reader = readPhases();
  const setpriv = await findExecutable(world, 'setpriv');
  const beside = await world.processes.start(
    withParentDeathSignal(setpriv, [world.processes.nodePath, fileURLToPath(PROGRAM_ENTRY)]),
    { env: environmentOf(request, ports, api, running.pid, directory), onStdoutLine: reader.onLine },
  );
  made.defer(() => end(beside));
  const stop = () => beside.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  made.defer(async () => signal.removeEventListener('abort', stop));
  await beside.exited;
  signal.throwIfAborted();
  const { figures: phases, total: queries, streamed } = reader;
  if (queries !== null) return { phases, queries, death: null, streamed };
  const killed = (await kills()) > 0;
  if (!killed && saysTaken([...running.lastLines, ...beside.lastLines])) {
    throw new BenchError('E_PORT_TAKEN', 'a port for CoreDNS was taken by another program meanwhile', {
      fix: '`ss -lntup` shows what is listening. Verify again.',
    });
  }
  if (!killed) reader.demandSound();
  if (running.exit === undefined && !killed) {
    throw new BenchError('E_LOADER_FAILED', 'the program that measures CoreDNS ended too early', {
      evidence: beside.lastLines.slice(-LOG_LINES),
      fix: 'This is a bug in bench: please report it with the lines above.',
    });
  }
  return { phases, queries, death: describeExit(running, killed), streamed };
}

/** Everything that it starts has ended when it resolves or rejects. */
export function startLocally(request: LocalStartRequest): Promise<LocalStartResult> {
  return retryTaken(() => {
    const made = new AsyncDisposableStack();
    return endedAfter(
      () => perform(request, made),
      () => close(made),
    );
  });
}
