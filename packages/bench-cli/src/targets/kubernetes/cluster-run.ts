/** What all parts of one run on a cluster share. */
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import type { Server } from '../../servers/server.ts';
import type { World } from '../../world.ts';

/** References of the images of a run. */
export interface Images {
  readonly loader: string;
  /** Any image with Node.js. */
  readonly checker: string;
  /** Of what a server needs beside it. */
  readonly companions: string;
  /** @throws BenchError `E_CONFIG` for a server without an image. */
  of(server: Server): string;
}

export interface ClusterRun {
  readonly world: World;
  readonly client: KubeClient;
  readonly runId: string;
  readonly namespace: string;
  readonly settings: KubernetesSettings;
  readonly images: Images;
  /** Names of the Secrets in the run's namespace. */
  readonly pullSecrets: readonly string[];
  /** Nodes that pods of this run were seen on. */
  readonly placement: { readonly servers: Set<string>; readonly loaders: Set<string> };
  /** The cluster's clock minus ours, in seconds; whole seconds at best. */
  readonly clockOffsetSeconds: number;
  /** Cores of the nodes that take servers, by name. */
  readonly nodeCpus: ReadonlyMap<string, number>;
  /** Names of the nodes that take loaders. */
  readonly loaderNodes: readonly string[];
  /** `amd64`, `arm64`, …: of each node, by its name. */
  readonly architectures: ReadonlyMap<string, string>;
  /** How pods may be observed here, decided once for the run. */
  readonly observation: 'summary' | 'metrics' | 'none';
  /** CPU request of a loader for which none is given; see `loaderRequest`. */
  readonly loaderRequestCores: number;
  /** Planned seconds of measured load. */
  readonly loadSeconds: number;
  /** Under `--keep`: removes the servers of the trials before, when the next one is deployed. */
  readonly kept: (() => Promise<void>)[];
  /** Jobs so far; each gets a number, so that names are unique. */
  jobs: number;
}
