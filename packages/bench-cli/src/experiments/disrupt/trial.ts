/** One trial: a server of its own under a steady load, and one fault meanwhile, or none. */
import type { Upstream } from '@dinodns-bench/cluster-objects';
import type { PlannedTrial, TrialEvents } from '../../engine/experiment.ts';
import { type DecidedServers, expectedCodes, serverTrial } from '../../engine/servers.ts';
import { BenchError } from '../../errors.ts';
import { runLoaders } from '../../measure/load.ts';
import { checkDeployment } from '../../measure/measured.ts';
import { mergeLoads } from '../../measure/merge-loads.ts';
import { warmUp, withServer } from '../../measure/trial.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import type { PlannedTrial as ServerTrial } from '../../plan/plan.ts';
import type { Server } from '../../servers/server.ts';
import type { Deployment } from '../../targets/target.ts';
import type { DisruptEvidence } from './evidence.ts';
import { CONTROL, FAULT_SECONDS, FAULTS, type FaultName } from './faults.ts';
import { evidenceOf, INTERVAL_SECONDS } from './figures.ts';
import type { DisruptSettings } from './settings.ts';

/** What all trials share. */
export interface DisruptContext {
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
}

export async function disruptTrial(
  shared: DisruptContext,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<DisruptEvidence> {
  const { trials, decided, upstream } = shared;
  // The plan has no other subjects.
  const fault = planned.case.subject as Subject['fault'];
  const found = serverTrial(decided, planned, planned.case.point.server);
  const server = upstream === null ? found.server : forwarding(found.server, upstream);
  try {
    return await withServer(trials, found.planned, server, on, async (context, deployment) => {
      on.files(server.name, deployment.files);
      on.phase('checking answers');
      const disrupted = { context, planned: found.planned, server, deployment, fault, on };
      await checkDeployment(disrupted);
      await warmUp(context, found.planned, deployment, on);
      return measure(shared, disrupted);
    });
  } finally {
    upstream?.behave(NORMAL);
  }
}

/** The same program in front of the upstream. */
function forwarding(server: Server, upstream: Upstream): Server {
  return { ...server, plan: (request) => server.planForwarding?.(request, upstream) ?? server.plan(request) };
}

const NORMAL = { kind: 'answer', delaySeconds: 0 } as const;

async function measure(shared: DisruptContext, subject: Subject): Promise<DisruptEvidence> {
  const { context, server, deployment, on } = subject;
  const { upstream, settings } = shared;
  const planned: ServerTrial =
    upstream === null
      ? subject.planned
      : { ...subject.planned, case: { ...subject.planned.case, workload: LOAD_NAMES } };
  const { durationSeconds, timeoutSeconds } = context.configuration;
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const started = Promise.withResolvers<void>();
  const disrupting = started.promise.then(() => disrupt(shared, subject, signal));
  // It is awaited below; until then its rejection must not count as unhandled.
  disrupting.catch(() => undefined);
  on.phase('measuring');
  try {
    const outcomes = await runLoaders(context, planned, deployment, {
      stage: 'load',
      ratePerSecond: settings.rate,
      openLoop: true,
      durationSeconds,
      intervalSeconds: INTERVAL_SECONDS,
      progress: on,
      onStarted: () => started.resolve(),
    });
    return evidenceOf({
      load: mergeLoads(outcomes.map(({ result }) => result)),
      timeline: outcomes.flatMap(({ timeline }) => timeline ?? []),
      fault: await disrupting,
      expected: expectedCodes(context, planned, server),
      durationSeconds,
      timeoutSeconds,
    });
  } finally {
    over.abort();
    started.reject(new Error('the load is over'));
    await disrupting.catch(() => undefined);
  }
}

/** Makes the fault at its time; resolves with when it began and ended, since the first query. */
async function disrupt(
  shared: DisruptContext,
  { context, deployment, fault, on }: Subject,
  signal: AbortSignal,
): Promise<DisruptEvidence['fault']> {
  const { world } = context;
  const { upstream, settings } = shared;
  const start = world.clock.monotonicSeconds();
  const sinceStart = () => world.clock.monotonicSeconds() - start;
  await world.clock.sleep(FAULT_SECONDS, signal);
  const begin = sinceStart();
  on.phase(fault);
  const behaviour = fault === CONTROL ? undefined : FAULTS[fault].behaviour?.(settings.delay);
  const down = () => world.clock.sleep(settings.outage, signal);
  if (behaviour !== undefined) {
    upstream?.behave(behaviour);
    await down();
    upstream?.behave(NORMAL);
  } else if (fault === 'restart') await deployment.restart?.(down);
  else if (fault === 'worker-kill')
    await killWorker(context, deployment, () => sinceStart() < context.configuration.durationSeconds);
  else await down();
  return { begin, end: sinceStart() };
}

/** How often it is looked whether another worker is there. */
const LOOK_SECONDS = 0.05;

/** Resolves when another worker was started, or when the load is over. */
async function killWorker(
  { world, signal }: TrialContext,
  deployment: Deployment,
  mayWait: () => boolean,
): Promise<void> {
  const pidsNow = async () => (await deployment.usage?.())?.pids ?? [];
  const before = await pidsNow();
  const worker = before.find((pid) => pid !== deployment.instances[0]?.pid);
  if (worker === undefined)
    throw new BenchError('E_INTERNAL', 'there is no worker process', { fix: 'Report this bug.' });
  world.processes.signal(worker, 'SIGKILL');
  while (mayWait() && (await pidsNow()).every((pid) => before.includes(pid)))
    await world.clock.sleep(LOOK_SECONDS, signal);
}
