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
import { runToEnd } from '../../../process.ts';
import { makeStaging } from '../../../provision/cache.ts';
import { resolvConf } from '../../../servers/coredns-cluster/definition.ts';
import { findFreePort, retryTaken, saysTaken } from '../../../targets/local/free-port.ts';
import { describeExit, logTail } from '../../../targets/local/instance.ts';
import { type MemoryGroup, openMemoryGroup } from '../../../targets/local/memory-group.ts';
import { withParentDeathSignal } from '../../../targets/local/wrapping.ts';
import type { World } from '../../../world.ts';
import { existingNames } from '../beside/existing-names.ts';
import { type Measuring, measuringEnvironment, PROGRAM_ENTRY } from '../beside/program.ts';
import { type PhaseReader, readPhases } from '../beside/read-phases.ts';
import { PUBLISHED_SEARCH } from '../published.ts';
import { readPatience, type Shown } from './verification.ts';

export interface LocalStartRequest extends Measuring {
  readonly world: World;
  /** The executable of CoreDNS. */
  readonly coredns: string;
  readonly cluster: Cluster;
  /** Which API server the program reads, in its own settings. Default: one of ours with `cluster`. */
  readonly api?: Readonly<Record<'API_SERVER' | 'TOKEN_FILE' | 'CA_FILE', string>>;
  /** Whether ours streams lists; default true. */
  readonly streamedLists?: boolean;
  /** Of CoreDNS, besides that of bench. */
  readonly corednsEnv?: Readonly<Record<string, string>>;
  readonly corefile: Pick<CorefileOptions, 'pods'> & { readonly autopath?: true };
  /** Null for none. */
  readonly memoryLimitBytes: number | null;
  readonly signal: AbortSignal;
}

export type LocalStartResult = Shown & Pick<PhaseReader, 'streamed'>;

/** Of a pod in a namespace that has none of the names that are asked for. */
const SEARCH = ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', ...PUBLISHED_SEARCH];

const ADDRESS = '127.0.0.1';
const LOG_LINES = 5;
/** Each of its phases ends by itself, sooner. */
const PROGRAM_SECONDS = 3600;

async function openApi(
  { api, cluster, streamedLists = true }: LocalStartRequest,
  made: AsyncDisposableStack,
): Promise<Readonly<Record<string, string>>> {
  if (api !== undefined) return api;
  const server = await startApiServer({ cluster, streamedLists });
  made.defer(() => server.close());
  return { API_SERVER: server.url };
}

/** A copy of CoreDNS whose pages count against the limit of the group. */
async function copiedInto(
  group: MemoryGroup,
  { world, coredns }: LocalStartRequest,
  made: AsyncDisposableStack,
): Promise<string> {
  const staging = await makeStaging(world);
  made.defer(() => world.fs.rm(staging, { recursive: true, force: true }));
  return group.copyProgram(coredns, staging);
}

async function perform(request: LocalStartRequest, made: AsyncDisposableStack): Promise<LocalStartResult> {
  const { world, cluster, corefile, memoryLimitBytes, signal } = request;
  const directory = await world.fs.mkdtemp(join(world.env.TMPDIR ?? '/tmp', 'dinodns-bench-capacity-'));
  made.defer(() => world.fs.rm(directory, { recursive: true, force: true }));
  const api = await openApi(request, made);
  const upstream = await startUpstream({ external: defineExternal() });
  made.defer(() => upstream.close());
  const [dnsPort, relayPort] = [await findFreePort(ADDRESS), await findFreePort(ADDRESS)];
  const ready = `${ADDRESS}:${await findFreePort(ADDRESS)}`;
  const metrics = `${ADDRESS}:${await findFreePort(ADDRESS)}`;
  const fileAt = (name: string) => join(directory, name);
  const { autopath, ...options } = corefile;
  const text = renderCorefile({
    ...options,
    ...(autopath === undefined ? {} : { autopath: fileAt('resolv.conf') }),
    ...{ address: ADDRESS, port: dnsPort, lameduckSeconds: 0 },
    endpoint: `http://${ADDRESS}:${relayPort}`,
    upstream: `${ADDRESS}:${upstream.port}`,
    health: `${ADDRESS}:0`,
    ...{ ready, metrics },
  });
  await world.fs.writeFile(fileAt('Corefile'), text);
  await world.fs.writeFile(fileAt('resolv.conf'), resolvConf(SEARCH));
  await world.fs.writeFile(fileAt('names.txt'), existingNames(cluster).join('\n'));
  const group =
    memoryLimitBytes === null ? null : await openMemoryGroup(world, 'capacity-verify', memoryLimitBytes);
  if (group !== null) made.defer(() => group.remove());
  const coredns = group === null ? request.coredns : await copiedInto(group, request, made);
  const patience = readPatience(cluster.spec);
  const setpriv = await findExecutable(world, 'setpriv');
  const command = withParentDeathSignal(setpriv, [coredns, '-conf', fileAt('Corefile')]);
  const running = await world.processes.start(group === null ? command : group.wrap(command), {
    env: request.corednsEnv ?? {},
  });
  made.defer(async () => {
    running.kill('SIGKILL');
    await running.exited;
  });
  const reader = readPhases();
  const beside = await runToEnd(
    world,
    withParentDeathSignal(setpriv, [world.processes.nodePath, fileURLToPath(PROGRAM_ENTRY)]),
    {
      env: {
        ...measuringEnvironment(request),
        ...patience.env,
        NAMESPACE: cluster.namespaceName(0),
        DOMAIN: cluster.spec.domain,
        ...api,
        PID: String(running.pid),
        NAMES_FILE: fileAt('names.txt'),
        RELAY_PORT: String(relayPort),
        DNS_PORT: String(dnsPort),
        READY_URL: `http://${ready}/ready`,
        METRICS_URL: `http://${metrics}/metrics`,
      },
      onStdoutLine: reader.onLine,
      timeoutSeconds: PROGRAM_SECONDS,
      signal,
    },
  );
  signal.throwIfAborted();
  const shown = (death: string | null): LocalStartResult => {
    const { figures: phases, total: queries, streamed } = reader;
    return { phases, queries, death, streamed };
  };
  if (reader.total !== null) return shown(null);
  if (group !== null && (await group.kills()) > 0)
    return shown('it ran out of memory and was killed by the kernel');
  if (reader.late !== null)
    return shown(`it lived, but the phase ${reader.late} took more than ${patience.seconds} s`);
  if (saysTaken([...running.lastLines, beside.stdout, beside.stderr])) {
    throw new BenchError('E_PORT_TAKEN', 'a port for CoreDNS was taken by another program meanwhile', {
      fix: '`ss -lntup` shows what is listening. Verify again.',
    });
  }
  reader.demandSound();
  if (running.exit !== undefined)
    return shown(
      `it ended (${describeExit(running.exit)}): ${logTail(running).slice(-LOG_LINES).join(' · ')}`,
    );
  throw new BenchError('E_LOADER_FAILED', 'the program that measures CoreDNS ended too early', {
    evidence: `${beside.stdout}\n${beside.stderr}`.split('\n').filter(Boolean).slice(-LOG_LINES),
    fix: 'This is a bug in bench: please report it with the lines above.',
  });
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
