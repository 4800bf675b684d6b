/** Measures the phases of a placement, in place or beside the cluster's DNS. */
import type { V1Pod } from '@kubernetes/client-node';
import type { PlannedTrial } from '../../engine/experiment.ts';
import { BenchError } from '../../errors.ts';
import { podsOf } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import { restartsOf } from '../../targets/kubernetes/pod-state.ts';
import type { Phase, PodVersion } from './evidence.ts';
import { measurePhase } from './measure-phase.ts';
import type { Measured, PhasesRequest } from './placed.ts';
import { podVersions } from './pod-versions.ts';
import type { SwapSettings } from './settings.ts';

/** As people count. */
export const numberOf = ({ order }: PlannedTrial) => order + 1;

/** Both placements of a pair have the same order, so that it does not count in their difference. */
function phasesOf({ idle, duration }: SwapSettings, round: number) {
  const loads: Phase['kind'][] = round % 2 === 0 ? ['internal', 'external'] : ['external', 'internal'];
  const kinds: Phase['kind'][] = ['idle', ...loads, 'idle'];
  return kinds
    .map((kind) => ({ kind, seconds: kind === 'idle' ? idle : duration }))
    .filter(({ seconds }) => seconds > 0);
}

async function measureAll(
  request: PhasesRequest & Measured,
  planned: PlannedTrial,
  signal: AbortSignal,
): Promise<Phase[]> {
  const { run, settings, say } = request;
  const { settle } = settings;
  const name = `placement ${numberOf(planned)}`;
  say(`${name}: settling for ${settle} s`);
  await run.client.clock.sleep(settle, signal);
  const phases: Phase[] = [];
  for (const { kind, seconds } of phasesOf(settings, planned.round)) {
    say(`${name}: measuring ${kind} for ${seconds} s`);
    phases.push(await measurePhase({ ...request, kind, seconds, signal, name: name.replace(' ', '-') }));
  }
  return phases;
}

/** What a placement that does not count failed with. */
function failedPlacement(message: string, fix: string): BenchError {
  return new BenchError('E_CLUSTER_CHANGED', message, { fix });
}

/** @throws BenchError `E_CLUSTER_CHANGED` if pods ran different versions, or were restarted or replaced */
function demandSamePods(
  versions: readonly PodVersion[],
  before: readonly V1Pod[],
  after: readonly V1Pod[],
): void {
  const distinct = new Set(versions.map(({ version, imageId }) => version ?? imageId));
  if (distinct.size > 1)
    throw failedPlacement(
      `its pods ran different versions: ${[...distinct].join(' and ')}`,
      'Give an image that is the same on every node.',
    );
  const restarts = new Map(before.map((pod) => [pod.metadata?.uid, restartsOf(pod)]));
  const isSame =
    before.length === after.length &&
    after.every((pod) => restarts.get(pod.metadata?.uid) === restartsOf(pod));
  if (isSame) return;
  throw failedPlacement(
    'pods were restarted or replaced while it was measured',
    'Find out why: `kubectl get events`.',
  );
}

/** Measures pods from their versions to those that are there afterwards. @throws as `measurePhase` */
export async function measurePods(
  request: PhasesRequest,
  planned: PlannedTrial,
  { workload, pods: before }: Measured,
  signal: AbortSignal,
) {
  const { client } = request.run;
  const pods = await podVersions(client, workload, before, request.knownVersions, signal);
  const phases = await measureAll({ ...request, workload, pods: before }, planned, signal);
  const after = await podsOf(client, workload, signal);
  return {
    ...{ pods, phases },
    /** Whether it counts. @throws BenchError `E_CLUSTER_CHANGED` */
    demandSamePods: () => demandSamePods(pods, before, after),
  };
}
