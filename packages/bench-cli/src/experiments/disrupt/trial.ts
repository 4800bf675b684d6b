/** One trial: a server of its own under a steady load, and one fault meanwhile, or none. */
import type { Path, Upstream } from '@dinodns-bench/cluster-objects';
import type { PlannedTrial, Point, TrialEvents } from '../../engine/experiment.ts';
import { type DecidedServers, expectedCodes, serverTrial } from '../../engine/servers.ts';
import { internalError } from '../../errors.ts';
import { lossDetail } from '../../measure/client-losses.ts';
import { loadAndObserve } from '../../measure/load.ts';
import { type Begun, eventLosses } from '../../measure/load-with-event.ts';
import type { Loaded, Subject } from '../../measure/measured.ts';
import { killWorker, memoryOf } from '../../measure/server-processes.ts';
import { checkAndWarmUp, withServer } from '../../measure/trial.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import { watched } from '../../measure/watch-neighbours.ts';
import type { ForwardOptions, Server } from '../../servers/server.ts';
import { takenOver } from '../../stats/neighbours.ts';
import type { Deployment } from '../../targets/target.ts';
import type { DisruptEvidence } from './evidence.ts';
import { freshSockets } from './factors.ts';
import { CONTROL, FAULTS, type FaultName, faultsOf, timesOf } from './faults.ts';
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

interface Disrupted extends Subject {
  readonly fault: FaultName | typeof CONTROL;
  readonly point: Point;
  /** To the server, where it can be lost. */
  readonly path: Path | null;
}

/** This target has one instance, and no certificates. */
async function pathTo({ endpoints: [server] }: Deployment): Promise<Path | null> {
  const { openPath } = await import('@dinodns-bench/cluster-objects');
  return server === undefined ? null : openPath(server);
}

export async function disruptTrial(
  place: LocalPlace,
  trial: PlannedTrial,
  on: TrialEvents,
): Promise<DisruptEvidence> {
  const { trials, decided, upstream, settings } = place;
  const { subject, point } = trial.case;
  // The plan has no other subjects.
  const fault = subject as Disrupted['fault'];
  const { server: found, planned } = serverTrial(decided, trial, point.server);
  const server = upstream === null ? found : forwarding(found, upstream, point);
  try {
    return await withServer(trials, planned, server, on, async (context, deployed) => {
      on.files(server.name, deployed.files);
      await using path = faultsOf(settings).includes('path-lost') ? await pathTo(deployed) : null;
      const deployment = path === null ? deployed : { ...deployed, endpoints: [path] };
      const disrupted = { context, planned, server, deployment, fault, point, path };
      await checkAndWarmUp(disrupted, on);
      // The path must not be closed before.
      return await measure(place, disrupted, on);
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

/** Of the upstream's answers. */
const TTL_SECONDS = 30;

/** Caches count in whole seconds: an answer may be given for up to a second longer, and is not stale then. */
const maxAgeOf = ({ cache = TTL_SECONDS }: Point) => Math.min(TTL_SECONDS, Number(cache)) + 1;

const NORMAL = { kind: 'answer', delaySeconds: 0 } as const;
/** Each answer tells when it was made: the answer check is over, and would take it for a wrong one. */
const STAMPED = { ...NORMAL, isStamped: true } as const;

async function measure(
  place: LocalPlace,
  { context: found, planned: checked, ...disrupted }: Disrupted,
  on: TrialEvents,
): Promise<DisruptEvidence> {
  const { upstream, settings } = place;
  const { server, deployment, fault, point } = disrupted;
  const sockets = freshSockets(settings, point);
  const { configuration, world, signal } = found;
  const clients = sockets ?? configuration.clients;
  const context = { ...found, configuration: { ...configuration, clients } };
  const planned =
    upstream === null ? checked : { ...checked, case: { ...checked.case, workload: LOAD_NAMES } };
  const expected = expectedCodes(context, planned, server);
  upstream?.behave(STAMPED);
  const { losses } = await eventLosses({
    ...{ clock: world.clock, on, signal, event: fault, expected, ...timesOf(settings) },
    memoryNow: () => memoryOf(world, deployment),
    async load({ onStarted, onRate }) {
      const stage = {
        ...{ stage: 'load', ratePerSecond: settings.rate, openLoop: true },
        durationSeconds: settings.duration,
        detail: {
          ...lossDetail(sockets === null, expected),
          ...(upstream === null ? {} : { maxAgeSeconds: maxAgeOf(point) }),
        },
        progress: { phase: on.phase, rate: onRate },
      };
      const { outcomes, neighbours } = await watched<Loaded>(world, deployment, settings.duration, (watch) =>
        loadAndObserve(context, planned, deployment, stage, () => {
          watch();
          onStarted();
        }),
      );
      const taken = takenOver(neighbours ?? []);
      if (taken !== null) on.taken(taken);
      return [...outcomes];
    },
    act: (begun) => disrupt(place, { ...disrupted, context, planned }, begun),
  });
  return losses;
}

/** Makes the fault, and resolves at its end. */
async function disrupt(
  { upstream, settings }: LocalPlace,
  { context, deployment, fault, path }: Disrupted,
  { signal, isOver }: Begun,
): Promise<void> {
  const down = () => context.world.clock.sleep(settings.outage, signal);
  const during = async (fail: (isFailing: boolean) => void) => {
    fail(true);
    await down();
    fail(false);
  };
  if (fault === CONTROL) return await down();
  if (fault === 'worker-kill') return await killWorker(context, deployment, isOver);
  if (fault === 'restart' && deployment.restart !== undefined) return await deployment.restart(down);
  if (fault === 'path-lost' && path !== null) return await during(path.lose);
  const behaviour = FAULTS[fault].behaviour?.(settings.delay);
  if (behaviour === undefined || upstream === null) throw internalError(`${fault} cannot be made here`);
  await during((isFailing) => upstream.behave(isFailing ? behaviour : STAMPED));
}
