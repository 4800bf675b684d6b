/** The images that a run uses. Pure. */
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { Images } from './cluster-run.ts';

/** `docker.io/coredns/coredns` is the project's own; the others are built from k8s/images. */
export function imagesOf(settings: KubernetesSettings, corednsVersion: string): Images {
  return {
    coredns: settings.corednsImage ?? `coredns/coredns:${corednsVersion}`,
    dinodns: settings.dinodnsImage ?? `dinodns-bench/server:${BENCH_VERSION}`,
    loader: settings.loaderImage ?? `dinodns-bench/dnsperf:${BENCH_VERSION}`,
  };
}
