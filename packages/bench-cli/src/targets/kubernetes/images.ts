/** The images that a run uses. Pure. */
import type { RunConfiguration } from '../../config/configuration.ts';
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { Images } from './cluster-run.ts';

export type LoaderKind = 'dnsperf' | 'builtin';

const LOADER_IMAGES: Readonly<Record<LoaderKind, string>> = { dnsperf: 'dnsperf', builtin: 'load' };

/**
 * In a cluster nothing has to be installed: dnsperf, unless the other was asked for, or the search for the highest
 * rate needs its open loops.
 */
export function loaderKindOf({
  loader,
  objective,
}: Pick<RunConfiguration, 'loader' | 'objective'>): LoaderKind {
  return loader === 'builtin' || objective === 'max-rate' ? 'builtin' : 'dnsperf';
}

/** `docker.io/coredns/coredns` is the project's own; the others are built from k8s/images. */
export function imagesOf(settings: KubernetesSettings, corednsVersion: string, loader: LoaderKind): Images {
  return {
    coredns: settings.corednsImage ?? `coredns/coredns:${corednsVersion}`,
    dinodns: settings.dinodnsImage ?? `dinodns-bench/server:${BENCH_VERSION}`,
    loader: settings.loaderImage ?? `dinodns-bench/${LOADER_IMAGES[loader]}:${BENCH_VERSION}`,
  };
}
