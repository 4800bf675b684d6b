/** The namespace of a run, or of a canary's. */
import { kubernetesOf } from '../../config/kubernetes-settings.ts';
import type { OpenRequest } from '../../engine/experiment.ts';
import { imagesOf, ownLoaderImage } from '../../targets/kubernetes/images.ts';
import {
  type OpenRequest as ClusterRequest,
  type OpenedCluster,
  openCluster,
} from '../../targets/kubernetes/open-cluster.ts';
import type { SwapSettings } from './settings.ts';

export interface RunNeeds {
  readonly loadSeconds: number;
  /** CPU that its own servers request. */
  readonly serverCores: number;
  /** What sends the load. Default: one built-in loader. */
  readonly sending?: Pick<SwapSettings, 'loader' | 'dnsperfImage' | 'loaders'>;
}

type RunRequest = Pick<
  OpenRequest<Readonly<Record<string, unknown>>, unknown>,
  'world' | 'runId' | 'settings' | 'signal' | 'force'
>;

export function clusterRequest(
  { world, runId, settings, signal, force }: RunRequest,
  { sending, ...needs }: RunNeeds,
): ClusterRequest {
  const kubernetes = kubernetesOf(settings);
  const images = imagesOf(kubernetes, 'builtin');
  const { dnsperfImage = ownLoaderImage('dnsperf') } = sending ?? {};
  const loader = sending?.loader === 'dnsperf' ? dnsperfImage : images.loader;
  return {
    ...{ world, runId, settings: kubernetes, loaders: sending?.loaders ?? 1, signal, force, ...needs },
    // What needs Node.js runs in the image of the built-in loader, so that a swap needs no further one.
    images: { ...images, loader, checker: images.companions },
  };
}

export const openRun = (request: RunRequest, needs: RunNeeds): Promise<OpenedCluster> =>
  openCluster(clusterRequest(request, needs));
