/** Images of CoreDNS on a cluster. Pure. */
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { parseServerName } from '../../../config/server-name.ts';
import { DEFAULTS } from '../../../config/settings.ts';
import { corednsImageReference } from '../../../servers/coredns/image.ts';

/** Of a version that was named; null for the default one. */
export function corednsImage(settings: KubernetesSettings, version: string | null): string {
  return corednsImageReference({ settings, version, isNamed: version !== null });
}

/** Of `coredns-cluster@1.11.3`, or of a server without a version. */
export function serverImage(settings: KubernetesSettings, server: string, corednsVersion: string): string {
  const named = corednsVersion === DEFAULTS.corednsVersion ? null : corednsVersion;
  return corednsImage(settings, parseServerName(server)?.version ?? named);
}
