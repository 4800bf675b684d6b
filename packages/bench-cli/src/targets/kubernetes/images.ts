/** The images that a run uses. Pure. */
import type { RunConfiguration } from '../../config/configuration.ts';
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { dinodnsImage } from '../../servers/dinodns/index.ts';
import { BENCH_VERSION } from '../../version.ts';
import { type BenchWorkload, needsBuiltin } from '../../workload/workload.ts';
import type { Images } from './cluster-run.ts';
import { noImage } from './objects/server.ts';

export type LoaderKind = 'dnsperf' | 'builtin';

const LOADER_IMAGES: Readonly<Record<LoaderKind, string>> = { dnsperf: 'dnsperf', builtin: 'load' };

/** Built from k8s/images. */
export function ownLoaderImage(kind: LoaderKind): string {
  return `dinodns-bench/${LOADER_IMAGES[kind]}:${BENCH_VERSION}`;
}

/**
 * In a cluster nothing has to be installed: dnsperf, unless the built-in loader was requested or is needed. See
 * `measure/session.ts` for why dnsperf is not the choice over HTTPS.
 */
export function loaderKindOf(
  { loader, objective, transports }: Pick<RunConfiguration, 'loader' | 'objective' | 'transports'>,
  workloads: readonly BenchWorkload[],
): LoaderKind {
  if (loader === 'auto' && transports.includes('https')) return 'builtin';
  return loader === 'builtin' || needsBuiltin(objective, workloads) ? 'builtin' : 'dnsperf';
}

/** The image that the answer check runs in: DinoDNS's, which has Node.js. */
export function checkerImage(settings: KubernetesSettings): string {
  return dinodnsImage.reference({ settings, version: null, isNamed: false });
}

/** Images come from the server kinds or from k8s/images. */
export function imagesOf(settings: KubernetesSettings, loader: LoaderKind): Images {
  const loaderImage = settings.loaderImage ?? ownLoaderImage(loader);
  return {
    loader: loaderImage,
    checker: checkerImage(settings),
    companions: loader === 'builtin' ? loaderImage : ownLoaderImage('builtin'),
    of: (server) => {
      const { image, version, isVersionNamed: isNamed } = server;
      if (image === null) throw noImage(server);
      return image.reference({ settings, version, isNamed });
    },
  };
}
