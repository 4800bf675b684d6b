/** The namespace of a run, or of a canary's. */

import { kubernetesOf } from '../../config/kubernetes-settings.ts';
import type { OpenRequest } from '../../engine/experiment.ts';
import { imagesOf } from '../../targets/kubernetes/images.ts';
import { type OpenedCluster, openCluster } from '../../targets/kubernetes/open-cluster.ts';

export interface RunNeeds {
  readonly loadSeconds: number;
  /** CPU that its own servers request. */
  readonly serverCores: number;
  /** Of the namespace. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export function openRun(
  {
    world,
    runId,
    settings,
    signal,
    force,
  }: Pick<
    OpenRequest<Readonly<Record<string, unknown>>, unknown>,
    'world' | 'runId' | 'settings' | 'signal' | 'force'
  >,
  needs: RunNeeds,
): Promise<OpenedCluster> {
  const kubernetes = kubernetesOf(settings);
  const images = imagesOf(kubernetes, 'builtin');
  return openCluster({
    ...{ world, runId, settings: kubernetes, loaders: 1, signal, force, ...needs },
    // A swap needs one image; what needs Node.js runs in that, too.
    images: { ...images, checker: images.loader },
  });
}
