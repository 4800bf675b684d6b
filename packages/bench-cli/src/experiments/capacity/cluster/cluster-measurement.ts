/** What the measurements on a cluster whose records are those of one machine have in common. */

import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import type { ServerRecord } from '../../../results/record-environment.ts';
import { corednsImageReference } from '../../../servers/coredns/image.ts';
import { describeCluster } from '../../../targets/kubernetes/cluster-facts.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import type { RecordedMachine } from '../new-record.ts';
import type { CapacityRun, MeasurementOptions } from '../open-run.ts';
import type { CapacityTarget } from '../target.ts';
import { clusterSettings } from './cluster-flags.ts';
import { imageRecord } from './images.ts';

export interface ClusterMeasurementOptions extends MeasurementOptions {
  /** All flags. */
  readonly flags: Readonly<Record<string, unknown>>;
}

const COREDNS = 'coredns-cluster';

/** The settings of the cluster, and the CoreDNS that the flags name: `coredns-cluster`, with the version where one is given. */
export function corednsChoice(
  world: World,
  { flags, common: { corednsVersion } }: ClusterMeasurementOptions,
) {
  const settings = clusterSettings(flags, world.env);
  const version = corednsVersion ?? null;
  const image = corednsImageReference({ settings, version, isNamed: version !== null });
  return {
    settings,
    image,
    program: imageRecord(version === null ? COREDNS : `${COREDNS}@${version}`, COREDNS, image),
  };
}

/** The cluster, and the machine that bench runs on. */
export async function clusterMachine(
  world: World,
  client: KubeClient,
  settings: KubernetesSettings,
  servers: readonly ServerRecord[],
  signal: AbortSignal,
): Promise<RecordedMachine> {
  const { cluster } = await describeCluster(client, settings, signal);
  return {
    environment: { ...(await describeEnvironment(world)), cluster },
    programs: { servers, provisioned: [] },
    session: { loader: { kind: 'in the pod', version: BENCH_VERSION } },
  };
}

/** @throws BenchError `E_USAGE` for a run of the other target */
export function demandTarget({ id, previous }: CapacityRun<unknown>, target: CapacityTarget): void {
  if (previous === undefined) return;
  const before: CapacityTarget = previous.environment.cluster === null ? 'local' : 'kubernetes';
  if (before === target) return;
  const where = before === 'local' ? 'on one machine' : 'on a cluster';
  throw new BenchError('E_USAGE', `run ${id} was measured ${where}`, {
    fix: `Resume it with --target ${before}.`,
  });
}

/** @throws BenchError `E_USAGE` if a run that is resumed has measured other images */
export function demandSameImages(
  { id, previous }: CapacityRun<unknown>,
  servers: readonly ServerRecord[],
): void {
  if (previous === undefined) return;
  const imagesOf = (programs: readonly ServerRecord[]) => programs.map(({ version }) => version).join(', ');
  const [before, now] = [imagesOf(previous.programs), imagesOf(servers)];
  if (before === now) return;
  throw new BenchError('E_USAGE', `run ${id} has measured ${before}, not ${now}`, {
    fix: 'Resume it with the same images and --coredns-version.',
  });
}
