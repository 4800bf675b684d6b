/** The namespace of a swap's run, or of a canary's. */
import type { RunConfiguration } from '../../config/configuration.ts';
import type { Interruption } from '../../interruption.ts';
import { imagesOf } from '../../targets/kubernetes/images.ts';
import { type OpenedCluster, openCluster } from '../../targets/kubernetes/open-cluster.ts';
import type { World } from '../../world.ts';

export interface RunRequest {
  readonly world: World;
  readonly runId: string;
  readonly configuration: RunConfiguration;
  readonly interruption: Interruption;
}

export interface RunNeeds {
  readonly loadSeconds: number;
  /** CPU that its own servers request. */
  readonly serverCores: number;
  /** Of the namespace. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export function openRun(
  { world, runId, configuration, interruption }: RunRequest,
  needs: RunNeeds,
): Promise<OpenedCluster> {
  const { kubernetes } = configuration;
  return openCluster({
    world,
    runId,
    settings: kubernetes,
    images: imagesOf(kubernetes, 'builtin'),
    loaders: 1,
    signal: interruption.signal,
    force: interruption.force,
    ...needs,
  });
}
