/** The container image of a CoreDNS version. Pure. */
import { DEFAULTS } from '../../config/settings.ts';
import { imageParts } from '../image-record.ts';
import type { ImageSettings } from '../server.ts';

/**
 * The image of `--coredns-image`, by default the official one. The setting names the image of one version: for a server
 * that names its version (`coredns@1.13.1`), its tag is replaced.
 */
export function corednsImageReference({ settings, version, isNamed }: ImageSettings): string {
  const wanted = version ?? DEFAULTS.corednsVersion;
  if (settings.corednsImage === undefined) return `coredns/coredns:${wanted}`;
  return isNamed ? `${imageParts(settings.corednsImage).repository}:${wanted}` : settings.corednsImage;
}
