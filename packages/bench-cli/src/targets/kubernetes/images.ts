/** The images that a run uses. Pure. */
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { Images } from './cluster-run.ts';

export type LoaderKind = 'dnsperf' | 'builtin';

const LOADER_IMAGES: Readonly<Record<LoaderKind, string>> = { dnsperf: 'dnsperf', builtin: 'load' };

/** In a cluster nothing has to be installed: dnsperf, unless the other was asked for. */
export function loaderKindOf(wanted: 'auto' | LoaderKind): LoaderKind {
  return wanted === 'builtin' ? 'builtin' : 'dnsperf';
}

/** `docker.io/coredns/coredns` is the project's own; the others are built from k8s/images. */
export function imagesOf(settings: KubernetesSettings, corednsVersion: string, loader: LoaderKind): Images {
  return {
    coredns: settings.corednsImage ?? `coredns/coredns:${corednsVersion}`,
    dinodns: settings.dinodnsImage ?? `dinodns-bench/server:${BENCH_VERSION}`,
    loader: settings.loaderImage ?? `dinodns-bench/${LOADER_IMAGES[loader]}:${BENCH_VERSION}`,
  };
}
