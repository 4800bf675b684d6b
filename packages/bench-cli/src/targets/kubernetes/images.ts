/** The images that a run uses. Pure. */
import type { RunConfiguration } from '../../config/configuration.ts';
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { dinodnsImage } from '../../servers/dinodns/index.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { Images } from './cluster-run.ts';

export type LoaderKind = 'dnsperf' | 'builtin';

const LOADER_IMAGES: Readonly<Record<LoaderKind, string>> = { dnsperf: 'dnsperf', builtin: 'load' };

/**
 * In a cluster nothing has to be installed: dnsperf, unless the built-in loader was requested or the search for the
 * highest rate needs its open loop.
 */
export function loaderKindOf({
  loader,
  objective,
}: Pick<RunConfiguration, 'loader' | 'objective'>): LoaderKind {
  return loader === 'builtin' || objective === 'max-rate' ? 'builtin' : 'dnsperf';
}

/** Images come from the server kinds or from k8s/images. The answer check runs in DinoDNS's, which has Node.js. */
export function imagesOf(settings: KubernetesSettings, corednsVersion: string, loader: LoaderKind): Images {
  const request = { settings, corednsVersion };
  return {
    loader: settings.loaderImage ?? `dinodns-bench/${LOADER_IMAGES[loader]}:${BENCH_VERSION}`,
    checker: dinodnsImage.reference(request),
    of: (image) => image.reference(request),
  };
}
