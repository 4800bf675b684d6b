/** Starts CoreDNS beside an API server of a point's objects, measures it, and removes both. */
import type { Loader, LoadOutcome } from '../../../loaders/loader.ts';
import type { InstanceRecord } from '../../../results/record.ts';
import { fileNameOf } from '../../../text.ts';
import { type CorednsContext, type DeployedCoredns, deployCoredns, failureOf } from '../deploy-coredns.ts';
import type { MemoryStart } from './memory-record.ts';
import type { PlannedStart } from './points.ts';
import { writeQueryFiles } from './queries.ts';
import { measureStart, type Pace, type Phase } from './start.ts';

/** What all starts of a run share. */
export interface MachineContext extends CorednsContext {
  readonly loader: Loader;
  readonly rawDirectory: string;
  readonly rate: number;
  readonly pace: Pace;
  /** How the loader sends: its sockets, threads and window. */
  readonly sending: { readonly clients: number; readonly threads: number; readonly outstanding: number };
  /** Runs one load at a time: two would share the CPUs, and neither would hold its rate. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 5;

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
  let deployed: DeployedCoredns | undefined;
  try {
    await world.fs.mkdir(directory, { recursive: true });
    const queries = await writeQueryFiles(world, directory, point.cluster);
    const { key, server, configuration, cluster } = point;
    deployed = await deployCoredns(context, { key, server, configuration, cluster, directory });
    const { instance, running } = deployed;
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
    const failure = { ...failureOf(error), phase };
    return { ...head, status: 'failed', failure, durationSeconds: durationSeconds() };
  } finally {
    await deployed?.deployment.remove();
    await world.fs.rm(`${directory}/fill.txt`, { force: true });
  }
}
