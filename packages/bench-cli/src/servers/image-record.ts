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

/** The repository and tag of an image without its digest; a port is no tag. */
const IMAGE = /^(?<repository>.*?)(?::(?<tag>[\w][\w.-]*))?(?:@.*)?$/;

/** `registry:5000/coredns:v1.13.1@sha256:…` → `registry:5000/coredns` and `v1.13.1`, which is empty without a tag. */
export function imageParts(image: string): { readonly repository: string; readonly tag: string } {
  const { repository = '', tag = '' } = IMAGE.exec(image)?.groups ?? {};
  return { repository, tag };
}
