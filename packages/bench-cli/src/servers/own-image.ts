/** Images that a folder of k8s/images describes, by the kind of the server in them. */
import { BENCH_VERSION } from '../version.ts';
import type { ServerImage } from './server.ts';

/** The image of `--server-images`, else the one that `origin` builds. */
export function ownImage(kind: string, origin: string): ServerImage {
  const prefix = `${kind}=`;
  return {
    reference: ({ settings }) =>
      settings.serverImages?.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) ??
      `dinodns-bench/${kind}:${BENCH_VERSION}`,
    origin,
  };
}
