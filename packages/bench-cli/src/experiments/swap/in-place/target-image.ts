/** What `--to` means. Pure. */
import { BenchError } from '../../../errors.ts';
import { imageParts } from '../../../servers/image-record.ts';

/**
 * `1.13.1` is that version of the image that runs (`registry.k8s.io/coredns/coredns:v1.11.3` → `…:v1.13.1`, with the `v` of
 * its tag); anything else is an image itself.
 */
export function targetImage(to: string, current: string): string {
  const version = /^v?(\d+\.\d+\.\d+\S*)$/.exec(to)?.[1];
  if (version === undefined) return to;
  const { repository, tag } = imageParts(current);
  return `${repository}:${tag.startsWith('v') ? 'v' : ''}${version}`;
}

/** @throws BenchError `E_CONFIG` if that image is in place already. */
export function demandAnotherImage(
  { title, image }: { readonly title: string; readonly image: string },
  imageB: string,
  to: string,
): void {
  if (imageB !== image) return;
  throw new BenchError('E_CONFIG', `--to ${to}: ${title} runs ${image} already`, {
    fix: 'Name another version or image.',
  });
}
