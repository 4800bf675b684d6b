/** Both images, pulled and asked for their versions on every node that runs DNS: before anything is changed. */
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { distinctBuilds, type PrintedVersion } from './builds.ts';
import { podsOf } from './in-place/await-rollout.ts';
import type { DnsWorkload } from './in-place/find-workload.ts';
import { checkImage } from './in-place/image-check.ts';
import type { Side, SwapBuild } from './record.ts';

export interface CheckedImages {
  /** As the programs print them. */
  readonly versions: Readonly<Record<Side, string>>;
  readonly builds: Readonly<Record<Side, SwapBuild[]>>;
  readonly byImageId: ReadonlyMap<string, string>;
  /** Pods of the DNS as it was found. */
  readonly pods: number;
}

export interface CheckRequest {
  readonly workload: DnsWorkload;
  readonly images: Readonly<Record<Side, string>>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** @throws BenchError `E_POD_IMAGE` for an image that cannot be pulled, is of another architecture, or does not start. */
export async function checkImages(
  run: ClusterRun,
  { workload, images, say, signal }: CheckRequest,
): Promise<CheckedImages> {
  const pods = await podsOf(run.client, workload, signal);
  const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
  say(`pulling ${images.B} on ${nodes.join(', ')}`);
  const [a, b] = await Promise.all([
    checkImage(run, images.A, nodes, signal),
    checkImage(run, images.B, nodes, signal),
  ]);
  const versionIn = (printed: ReadonlyMap<string, PrintedVersion>) =>
    [...new Set([...printed.values()].map(({ version }) => version))].join(' and ');
  return {
    versions: { A: versionIn(a.printed), B: versionIn(b.printed) },
    builds: { A: distinctBuilds(a.printed.values()), B: distinctBuilds(b.printed.values()) },
    byImageId: new Map([...a.printed, ...b.printed].map(([id, { version }]) => [id, version])),
    pods: pods.length,
  };
}
