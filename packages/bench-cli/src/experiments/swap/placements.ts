/** Measures the phases of a placement, in place or beside the cluster's DNS. */
import type { V1Pod } from '@kubernetes/client-node';
import type { PlannedTrial } from '../../engine/experiment.ts';
import { BenchError } from '../../errors.ts';
import type { Loader } from '../../loaders/loader.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import type { DnsWorkload } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import { restartsOf } from '../../targets/kubernetes/pod-state.ts';
import type { NameSet, Phase, PodVersion } from './evidence.ts';
import { measurePhase } from './measure-phase.ts';
import type { SwapSettings } from './settings.ts';

/** What all placements of a run share. */
export interface PhasesRequest {
  readonly run: ClusterRun;
  readonly loader: Loader;
  readonly settings: SwapSettings;
  /** Versions by image ID. */
  readonly knownVersions: ReadonlyMap<string, string>;
  readonly queryFiles: Readonly<Record<NameSet, string>>;
  readonly rawDirectory: string;
  readonly say: (text: string) => void;
}

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

export async function measureAll(
  request: PhasesRequest,
  planned: PlannedTrial,
  { workload, pods }: { readonly workload: DnsWorkload; readonly pods: readonly V1Pod[] },
  signal: AbortSignal,
): Promise<Phase[]> {
  const { run, loader, settings, queryFiles, rawDirectory, say } = request;
  const { settle, rate: ratePerSecond } = settings;
  const number = numberOf(planned);
  say(`placement ${number}: settling for ${settle} s`);
  await run.client.clock.sleep(settle, signal);
  const phases: Phase[] = [];
  for (const { kind, seconds } of phasesOf(settings, planned.round)) {
    say(`placement ${number}: measuring ${kind} for ${seconds} s`);
    const queryFile = kind === 'external' ? queryFiles.external : queryFiles.internal;
    const outputFile = `${rawDirectory}/placement-${number}-${kind}.txt`;
    phases.push(
      await measurePhase({
        ...{ run, loader, workload, pods, kind, seconds, ratePerSecond, queryFile, outputFile, signal },
        sending: settings,
      }),
    );
  }
  return phases;
}

/** What a placement that does not count failed with. */
export function failedPlacement(message: string, fix: string, evidence: readonly string[] = []): BenchError {
  return new BenchError('E_CLUSTER_CHANGED', message, { fix, evidence: [...evidence] });
}

/** @throws BenchError `E_CLUSTER_CHANGED` if pods ran different versions, or were restarted or replaced */
export function demandSamePods(
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
