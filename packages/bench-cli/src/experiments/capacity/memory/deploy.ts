/** Starts CoreDNS beside an API server of a point's objects, measures it, and removes both. */
import type { ZoneSet } from '@dinodns-bench/zones';
import { BenchError } from '../../../errors.ts';
import type { Loader, LoadOutcome } from '../../../loaders/loader.ts';
import type { InstanceRecord } from '../../../results/record.ts';
import { API_SERVER, definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import type { Server } from '../../../servers/server.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import type { Deployment, Target } from '../../../targets/target.ts';
import { fileNameOf } from '../../../text.ts';
import type { World } from '../../../world.ts';
import { CONFIGURATIONS } from '../configurations.ts';
import { apiControl } from './api-control.ts';
import type { MemoryStart } from './memory-record.ts';
import type { PlannedStart } from './points.ts';
import { writeQueryFiles } from './queries.ts';
import { measureStart, type Pace, type Phase, type RunningPoint } from './start.ts';

/** What all starts of a run share. */
export interface MachineContext {
  readonly world: World;
  readonly target: Target;
  readonly loader: Loader;
  readonly zoneSet: ZoneSet;
  readonly rawDirectory: string;
  /** Of `--servers`, by their names. */
  readonly servers: ReadonlyMap<string, Server>;
  programOf(server: Server): readonly string[];
  readonly rate: number;
  readonly pace: Pace;
  /** How the loader sends: its sockets, threads and window. */
  readonly sending: { readonly clients: number; readonly threads: number; readonly outstanding: number };
  /** Runs one load at a time: two would share the CPUs, and neither would hold its rate. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Called with the files of a server when it is first deployed. */
  onFiles(server: string, files: Readonly<Record<string, string>>): void;
  readonly signal: AbortSignal;
}

const ADDRESS = '127.0.0.1';

/** Another process may take a port between the choice and the start. */
const PORT_ATTEMPTS = 3;

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 5;

interface Deployed {
  readonly deployment: Deployment;
  readonly running: RunningPoint;
}

function serverOf({ servers }: MachineContext, name: string): Server {
  const server = servers.get(name);
  if (server === undefined)
    throw new BenchError('E_INTERNAL', `no server ${name}`, { fix: 'Report this bug.' });
  return server;
}

async function deployOnce(
  context: MachineContext,
  { point }: PlannedStart,
  logDirectory: string,
): Promise<Deployed> {
  const { world, target, zoneSet, signal } = context;
  const [readyPort, metricsPort] = [await findFreePort(ADDRESS), await findFreePort(ADDRESS)];
  const base = serverOf(context, point.server);
  const { choice } = CONFIGURATIONS[point.configuration];
  const server = {
    ...base,
    ...definitionOf(choice, { spec: point.cluster, upstreamDelaySeconds: 0, readyPort, metricsPort }),
  };
  const startedAtSeconds = world.clock.monotonicSeconds();
  const deployment = await target.deploy({
    server,
    program: context.programOf(base),
    zoneSet,
    mode: 'multi',
    transport: 'udp',
    // No limit: what is measured is memory, and a limit would only make every stage longer.
    allowances: [world.machine.availableCpus],
    logDirectory,
    signal,
  });
  context.onFiles(point.server, deployment.files);
  const [instance] = deployment.instances;
  const apiPort = deployment.companionPorts?.[API_SERVER];
  if (instance === undefined || instance.pid === null || apiPort === undefined) {
    await deployment.remove();
    throw new BenchError('E_INTERNAL', `${point.key} has no process`, { fix: 'Report this bug.' });
  }
  const api = apiControl(apiPort, signal);
  const { died } = deployment;
  return { deployment, running: { pid: instance.pid, metricsPort, readyPort, api, startedAtSeconds, died } };
}

async function deploy(context: MachineContext, planned: PlannedStart, logs: string): Promise<Deployed> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deployOnce(context, planned, logs);
    } catch (error) {
      const taken = error instanceof BenchError && error.code === 'E_PORT_TAKEN';
      if (!taken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

/** Sends a file's queries to an instance for some seconds, at the rate of the run. */
function loadInto(context: MachineContext, { address, port }: InstanceRecord, directory: string) {
  let chunks = 0;
  return (queryFile: string, durationSeconds: number, stage: string): Promise<LoadOutcome> =>
    context.alone(() => {
      chunks += 1;
      return context.loader.load({
        endpoint: { address, port },
        transport: 'udp',
        queryFile,
        source: null,
        dnssecOk: false,
        durationSeconds,
        ratePerSecond: context.rate,
        openLoop: false,
        ...context.sending,
        timeoutSeconds: TIMEOUT_SECONDS,
        outputFile: `${directory}/${context.loader.kind}-${chunks}-${stage}.txt`,
        onStarted: () => undefined,
        onProgress: () => undefined,
        signal: context.signal,
      });
    });
}

/** Characters of what a program printed last, in a record. */
const MAX_EVIDENCE = 500;

/** What failed, for the record: the message with what the server printed last. */
function failureOf(error: unknown, phase: Phase) {
  if (!(error instanceof BenchError)) throw error;
  const evidence =
    error.evidence.length === 0 ? '' : ` (${error.evidence.join('; ').slice(0, MAX_EVIDENCE)})`;
  return {
    status: 'failed',
    failure: { code: error.code, message: error.message + evidence, phase },
  } as const;
}

/**
 * One start, from nothing to nothing. A server that fails gives a failed start; Ctrl-C and faults of bench itself
 * reject.
 */
export async function runStart(
  context: MachineContext,
  planned: PlannedStart,
  neighbours: number,
  onPhase: (phase: Phase) => void,
): Promise<MemoryStart> {
  const { world, signal } = context;
  const { point, start } = planned;
  const directory = `${context.rawDirectory}/${fileNameOf(point.key)}-start${start}`;
  const begin = world.clock.monotonicSeconds();
  const head = { point: point.key, start, startedAt: world.clock.now().toISOString(), neighbours };
  const durationSeconds = () => world.clock.monotonicSeconds() - begin;
  let phase: Phase = 'start';
  let deployed: Deployed | undefined;
  try {
    await world.fs.mkdir(directory, { recursive: true });
    const queries = await writeQueryFiles(world, directory, point.cluster);
    deployed = await deploy(context, planned, directory);
    const { deployment, running } = deployed;
    const [instance] = deployment.instances;
    if (instance === undefined) throw new Error('a deployment without an instance');
    const measured = await measureStart({
      world,
      point,
      running,
      queries,
      rate: context.rate,
      pace: context.pace,
      load: loadInto(context, instance, directory),
      onPhase: (next) => {
        phase = next;
        onPhase(next);
      },
      signal,
    });
    return { ...head, status: 'ok', ...measured, durationSeconds: durationSeconds() };
  } catch (error) {
    signal.throwIfAborted();
    return { ...head, ...failureOf(error, phase), durationSeconds: durationSeconds() };
  } finally {
    await deployed?.deployment.remove();
    await world.fs.rm(`${directory}/fill.txt`, { force: true });
  }
}
