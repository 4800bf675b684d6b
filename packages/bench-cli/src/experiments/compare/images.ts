/** `bench images`: the images that a run on a cluster uses, and where each comes from. */
import type { RunConfiguration } from '../../config/configuration.ts';
import { serverKinds } from '../../servers/registry.ts';
import type { ImageName } from '../../servers/server.ts';
import { imagesOf, loaderKindOf } from '../../targets/kubernetes/images.ts';
import { wrapText } from '../../text.ts';
import type { World } from '../../world.ts';

const ORIGINS: Readonly<Record<ImageName, string>> = {
  coredns: "the project's own; for a cluster without a registry see k8s/images/coredns",
  dinodns: 'docker build -f k8s/images/server/Dockerfile -t IMAGE .',
  loader: 'docker build -t IMAGE k8s/images/dnsperf',
};

const BUILTIN_ORIGIN = 'docker build -f k8s/images/load/Dockerfile -t IMAGE .';

const PURPOSES: Readonly<Record<ImageName, string>> = {
  coredns: 'server',
  dinodns: 'server, and the answer check',
  loader: 'loader',
};

/** Prints one line for each image, or JSON. */
export function imagesCommand(
  world: World,
  configuration: RunConfiguration,
  options: { readonly json: boolean },
): number {
  const { kubernetes, corednsVersion } = configuration;
  const loader = loaderKindOf(configuration);
  const images = imagesOf(kubernetes, corednsVersion, loader);
  // The answer check runs in the DinoDNS image, whatever is measured.
  const kinds = serverKinds(configuration.servers).flatMap(({ image }) => (image === null ? [] : [image]));
  const names = [...new Set<ImageName>([...kinds, 'dinodns', 'loader'])];
  const rows = names.map((name) => ({
    image: images[name],
    purpose: PURPOSES[name],
    origin: (name === 'loader' && loader === 'builtin' ? BUILTIN_ORIGIN : ORIGINS[name]).replace(
      'IMAGE',
      images[name],
    ),
    pullPolicy: kubernetes.pullPolicy,
  }));
  if (options.json) {
    world.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  const columns = world.stdout.columns ?? 80;
  for (const { image, purpose, origin } of rows) {
    const text = wrapText(`${purpose}: ${origin}`, columns - 4);
    world.stdout.write(`${image}\n    ${text.join('\n    ')}\n`);
  }
  return 0;
}
