/** One trial: a server of its own under a steady load, and one fault meanwhile, or none. */
import type { Upstream } from '@dinodns-bench/cluster-objects';
import type { PlannedTrial, Point, TrialEvents } from '../../engine/experiment.ts';
import { type DecidedServers, expectedCodes, serverTrial } from '../../engine/servers.ts';
import { BenchError } from '../../errors.ts';
import { readMemory } from '../../machine/proc-files.ts';
import { lossDetail } from '../../measure/client-losses.ts';
import { runLoaders } from '../../measure/load.ts';
import type { Begun } from '../../measure/load-with-event.ts';
import { checkDeployment } from '../../measure/measured.ts';
import { warmUp, withServer } from '../../measure/trial.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import type { PlannedTrial as ServerTrial } from '../../plan/plan.ts';
import type { ForwardOptions, Server } from '../../servers/server.ts';
import type { Deployment } from '../../targets/target.ts';
import { freshSockets, measureFault } from './context.ts';
import type { DisruptEvidence } from './evidence.ts';
import { CONTROL, FAULTS, type FaultName } from './faults.ts';
import type { DisruptSettings } from './settings.ts';

/** What all trials on this machine share. */
export interface LocalPlace {
  readonly trials: TrialContext;
  readonly decided: DecidedServers;
  readonly settings: DisruptSettings;
  /** Null where servers answer by themselves. */
  readonly upstream: Upstream | null;
}

/** Name of the workload that is sent to servers with an upstream. */
export const LOAD_NAMES = 'new names';

interface Subject {
  readonly context: TrialContext;
  readonly planned: ServerTrial;
  readonly server: Server;
  readonly deployment: Deployment;
  readonly fault: FaultName | typeof CONTROL;
  readonly on: TrialEvents;
  /** Its client sockets. */
  readonly areReused: boolean;
}

export async function disruptTrial(
  shared: LocalPlace,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<DisruptEvidence> {
  const { trials, decided, upstream } = shared;
  // The plan has no other subjects.
  const fault = planned.case.subject as Subject['fault'];
  const found = serverTrial(decided, planned, planned.case.point.server);
  const server = upstream === null ? found.server : forwarding(found.server, upstream, planned.case.point);
  const sockets = freshSockets(shared.settings, planned.case.point);
  try {
    return await withServer(trials, found.planned, server, on, async (context, deployment) => {
      on.files(server.name, deployment.files);
      on.phase('checking answers');
      const disrupted = {
        ...{ planned: found.planned, server, deployment, fault, on, areReused: sockets === null },
        context: {
          ...context,
          configuration: { ...context.configuration, clients: sockets ?? context.configuration.clients },
        },
      };
      await checkDeployment(disrupted);
      await warmUp(context, found.planned, deployment, on);
      return measure(shared, disrupted);
    });
  } finally {
    upstream?.behave(NORMAL);
  }
}

/** The same program in front of the upstream, as the point has it. */
function forwarding(server: Server, upstream: Upstream, point: Point): Server {
  const { max_concurrent: maxConcurrent, cache: cacheSeconds, serve_stale: stale } = point;
  const options: ForwardOptions = {
    ...(maxConcurrent === undefined ? {} : { maxConcurrent: Number(maxConcurrent) }),
    ...(cacheSeconds === undefined ? {} : { cacheSeconds: Number(cacheSeconds) }),
    ...(stale === undefined ? {} : { serveStale: stale === 'on' }),
  };
  return {
    ...server,
    plan: (request) => server.planForwarding?.(request, upstream, options) ?? server.plan(request),
  };
}

const NORMAL = { kind: 'answer', delaySeconds: 0 } as const;

async function measure(shared: LocalPlace, subject: Subject): Promise<DisruptEvidence> {
  const { context, server, deployment, fault, on } = subject;
  const { upstream, settings } = shared;
  const planned: ServerTrial =
    upstream === null
      ? subject.planned
      : { ...subject.planned, case: { ...subject.planned.case, workload: LOAD_NAMES } };
  const { evidence } = await measureFault({
    ...{ clock: context.world.clock, on, signal: context.signal, settings, fault },
    expected: expectedCodes(context, planned, server),
    memoryNow: () => memoryOf(context, deployment),
    load: ({ onStarted, onRate }) =>
      runLoaders(context, planned, deployment, {
        stage: 'load',
        ratePerSecond: settings.rate,
        openLoop: true,
        durationSeconds: settings.duration,
        detail: lossDetail(subject.areReused),
        progress: { phase: on.phase, rate: onRate },
        onStarted,
      }),
    act: (begun) => disrupt(shared, subject, begun),
  });
  return evidence;
}

/** Resident memory of the processes of a server: of all now, and the peak of one since its start. */
async function memoryOf({ world }: TrialContext, deployment: Deployment) {
  const { pids = [] } = (await deployment.usage?.()) ?? {};
  const all = await Promise.all(pids.map((pid) => readMemory(world, pid)));
  const found = all.filter((memory) => memory !== null);
  if (found.length === 0) return null;
  return {
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    peakBytes: Math.max(...found.map(({ peakBytes }) => peakBytes)),
  };
}

/** Makes the fault, and resolves at its end. */
async function disrupt(
  { upstream, settings }: LocalPlace,
  { context, deployment, fault }: Subject,
  { signal, isOver }: Begun,
): Promise<void> {
  const behaviour = fault === CONTROL ? undefined : FAULTS[fault].behaviour?.(settings.delay);
  const down = () => context.world.clock.sleep(settings.outage, signal);
  if (behaviour !== undefined) {
    upstream?.behave(behaviour);
    await down();
    upstream?.behave(NORMAL);
  } else if (fault === 'restart') await deployment.restart?.(down);
  else if (fault === 'worker-kill') await killWorker(context, deployment, isOver);
  else await down();
}

/** How often it is looked whether another worker is there. */
const LOOK_SECONDS = 0.05;

/** Resolves when another worker was started, or when the load is over. */
async function killWorker(
  { world, signal }: TrialContext,
  deployment: Deployment,
  isOver: () => boolean,
): Promise<void> {
  const pidsNow = async () => (await deployment.usage?.())?.pids ?? [];
  const before = await pidsNow();
  const worker = before.find((pid) => pid !== deployment.instances[0]?.pid);
  if (worker === undefined)
    throw new BenchError('E_INTERNAL', 'there is no worker process', { fix: 'Report this bug.' });
  world.processes.signal(worker, 'SIGKILL');
  while (!isOver() && (await pidsNow()).every((pid) => before.includes(pid)))
    await world.clock.sleep(LOOK_SECONDS, signal);
}
