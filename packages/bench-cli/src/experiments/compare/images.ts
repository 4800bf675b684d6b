/** `bench images`: the images that a run on a cluster uses, and where each comes from. */

import type { DecidedServers } from '../../engine/servers.ts';
import { printJson } from '../../output.ts';
import { dinodnsImage } from '../../servers/dinodns/index.ts';
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
  {
    configuration,
    servers: loaded,
    workloads,
  }: Pick<DecidedServers, 'configuration' | 'servers' | 'workloads'>,
  options: { readonly json: boolean },
): number {
  const { kubernetes } = configuration;
  const loader = loaderKindOf(configuration, workloads);
  const images = imagesOf(kubernetes, loader);
  const ofServers = loaded.flatMap((server) =>
    server.image === null ? [] : [[images.of(server), server.image.origin] as const],
  );
  // The answer check always runs in the DinoDNS image.
  const origins = new Map([...ofServers, [images.checker, dinodnsImage.origin] as const]);
  const servers = [...origins].map(([image, origin]) => ({
    image,
    purpose: image === images.checker ? 'server and answer check' : 'server',
    origin,
  }));
  const beside = loaded.some(({ companions }) => companions !== undefined)
    ? [{ image: images.companions, purpose: 'beside the server', origin: LOADER_ORIGINS.builtin }]
    : [];
  const all = [
    ...servers,
    ...beside.filter(({ image }) => image !== images.loader),
    { image: images.loader, purpose: 'loader', origin: LOADER_ORIGINS[loader] },
  ];
  const rows = all.map(({ image, purpose, origin }) => ({
    image,
    purpose,
    origin: origin.replace('IMAGE', image),
    pullPolicy: kubernetes.pullPolicy,
  }));
  if (options.json) {
    printJson(world, rows);
    return 0;
  }
  const columns = world.stdout.columns ?? 80;
  for (const { image, purpose, origin } of rows) {
    const text = wrapText(`${purpose}: ${origin}`, columns - 4);
    world.stdout.write(`${image}\n    ${text.join('\n    ')}\n`);
  }
  return 0;
}
