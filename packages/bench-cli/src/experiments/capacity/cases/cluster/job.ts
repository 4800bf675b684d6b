/** One trial of a caching tier on a cluster: its containers and the load generator in one pod. Pure. */
import type { CannonInput } from '@dinodns-bench/load';
import type { V1Container } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../../config/kubernetes-settings.ts';
import { GENERATOR_NODE_FLAGS } from '../../../../loaders/builtin/options.ts';
import { configMapOf, textFiles } from '../../../../targets/kubernetes/objects/config-map.ts';
import { runLabels } from '../../../../targets/kubernetes/objects/labels.ts';
import { CONTAINER, type ConfigMapMount, containerOf } from '../../../../targets/kubernetes/objects/pods.ts';
import type { OnceRequest } from '../../../../targets/kubernetes/run-job.ts';
import { programFiles, WATCH_FILES } from '../../beside/program.ts';
import { TOGETHER } from '../../cluster/dns-job.ts';
import { FILES_DIRECTORY, SERVER_PROCESSES, type Tier, UPSTREAM_PORT } from './tiers.ts';

/** In the image of k8s/images/load. */
const DRIVER = '/app/packages/load/src/driver.ts';
const UPSTREAM = '/app/packages/cluster-objects/src/cli.ts';

/** The program that watches the tier, beside the load generator. */
const WATCH_DIRECTORY = '/etc/bench-watch';

export function watchFiles(namespace: string, runId: string) {
  const metadata = { name: 'watch', namespace, labels: runLabels(runId) };
  return configMapOf(metadata, 'the program that watches', textFiles(programFiles(WATCH_FILES)));
}

export interface TierPodRequest {
  readonly settings: KubernetesSettings;
  readonly tier: Tier;
  readonly watch: ConfigMapMount;
  readonly load: CannonInput;
  /** Of the load generator and of the upstream. */
  readonly loaderImage: string;
  readonly upstreamDelaySeconds: number;
}

/** Files of the tier where a container looks for them, and not those of the program that watches. */
const mountsAt = (path: string, mounts: NonNullable<V1Container['volumeMounts']>) =>
  mounts
    .filter(({ mountPath }) => mountPath !== WATCH_DIRECTORY)
    .map((mount) => (mount.mountPath === FILES_DIRECTORY ? { ...mount, mountPath: path } : mount));

/** For `runOnce`. The servers run beside the load generator and end after it (Kubernetes 1.29). */
export function tierPod(request: TierPodRequest) {
  const { settings, tier, watch, load, loaderImage, upstreamDelaySeconds } = request;
  const common = { settings, needsBindService: true } as const;
  const delay = ['--delay', String(upstreamDelaySeconds * 1000)];
  const upstream = containerOf({
    ...{ ...common, image: loaderImage, command: ['node', UPSTREAM] },
    args: ['upstream', '--address', '127.0.0.1', '--port', String(UPSTREAM_PORT), ...delay],
  });
  return {
    ...{ ...common, label: 'server', image: loaderImage },
    command: ['node', `${WATCH_DIRECTORY}/watch.mjs`],
    args: ['node', ...GENERATOR_NODE_FLAGS, DRIVER, JSON.stringify(load)],
    env: { NAMES: SERVER_PROCESSES.join(',') },
    mounts: { [WATCH_DIRECTORY]: watch },
    files: { directory: FILES_DIRECTORY, list: textFiles(tier.files) },
    change(spec) {
      const mounts = spec.containers.find(({ name }) => name === CONTAINER)?.volumeMounts ?? [];
      const servers = tier.containers.map(
        ({ name, image, args, startupProbe, securityContext, mountPath }): V1Container => ({
          ...containerOf({ ...common, image, args }),
          ...{ name, restartPolicy: 'Always', volumeMounts: mountsAt(mountPath, mounts) },
          ...(startupProbe && { startupProbe }),
          ...(securityContext && { securityContext }),
        }),
      );
      const beside = [{ ...upstream, name: 'upstream', restartPolicy: 'Always' }, ...servers];
      return { ...spec, ...TOGETHER, initContainers: beside };
    },
  } as const satisfies Partial<OnceRequest>;
}
