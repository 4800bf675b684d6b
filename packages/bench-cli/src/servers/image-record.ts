/** Programs on a cluster, which are known by their images. Pure. */
import type { ServerRecord } from '../results/record-environment.ts';

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
