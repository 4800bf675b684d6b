/** `bench images`: the images that a run on a cluster uses, and where each comes from. */
import type { RunConfiguration } from '../../config/configuration.ts';
import { dinodnsImage } from '../../servers/dinodns/index.ts';
import { serverKinds } from '../../servers/registry.ts';
import { imagesOf, loaderKindOf } from '../../targets/kubernetes/images.ts';
import { wrapText } from '../../text.ts';
import type { World } from '../../world.ts';

const LOADER_ORIGINS = {
  dnsperf: 'docker build -t IMAGE k8s/images/dnsperf',
  builtin: 'docker build -f k8s/images/load/Dockerfile -t IMAGE .',
} as const;

/** Prints one line for each image, or JSON. */
export function imagesCommand(
  world: World,
  configuration: RunConfiguration,
  options: { readonly json: boolean },
): number {
  const { kubernetes, corednsVersion } = configuration;
  const loader = loaderKindOf(configuration);
  const images = imagesOf(kubernetes, corednsVersion, loader);
  // The answer check always runs in the DinoDNS image.
  const ofServers = serverKinds(configuration.servers).flatMap(({ image }) => image ?? []);
  const servers = [...new Set([...ofServers, dinodnsImage])].map((image) => ({
    image: images.of(image),
    purpose: image === dinodnsImage ? 'server and answer check' : 'server',
    origin: image.origin,
  }));
  const all = [...servers, { image: images.loader, purpose: 'loader', origin: LOADER_ORIGINS[loader] }];
  const rows = all.map(({ image, purpose, origin }) => ({
    image,
    purpose,
    origin: origin.replace('IMAGE', image),
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
