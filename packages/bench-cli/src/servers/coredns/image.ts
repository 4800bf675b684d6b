/** The container image of a CoreDNS version. Pure. */
import { DEFAULTS } from '../../config/settings.ts';
import type { ImageSettings } from '../server.ts';

/** `registry:5000/coredns:1.13.1@sha256:…` → `registry:5000/coredns`. */
function repositoryOf(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
}

/**
 * The image of `--coredns-image`, by default the official one. The setting names the image of one version: for a server
 * that names its version (`coredns@1.13.1`), its tag is replaced.
 */
export function corednsImageReference({ settings, version, isNamed }: ImageSettings): string {
  const wanted = version ?? DEFAULTS.corednsVersion;
  if (settings.corednsImage === undefined) return `coredns/coredns:${wanted}`;
  return isNamed ? `${repositoryOf(settings.corednsImage)}:${wanted}` : settings.corednsImage;
}
