/** Programs on a cluster, which are known by their images. Pure. */
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { parseServerName } from '../../../config/server-name.ts';
import { DEFAULTS } from '../../../config/settings.ts';
import type { ServerRecord } from '../../../results/record-environment.ts';
import { corednsImageReference } from '../../../servers/coredns/image.ts';

/** A program that is known by its image. */
export function imageRecord(name: string, kind: string, image: string): ServerRecord {
  return {
    name,
    kind,
    variant: null,
    title: `${name} (${image})`,
    version: image,
    executable: image,
    components: {},
    files: {},
  };
}

/** Of a version that was named; null for the default one. */
export function corednsImage(settings: KubernetesSettings, version: string | null): string {
  return corednsImageReference({ settings, version, isNamed: version !== null });
}

/** Of `coredns-cluster@1.11.3`, or of a server without a version. */
export function serverImage(settings: KubernetesSettings, server: string, corednsVersion: string): string {
  const named = corednsVersion === DEFAULTS.corednsVersion ? null : corednsVersion;
  return corednsImage(settings, parseServerName(server)?.version ?? named);
}
