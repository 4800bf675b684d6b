/** One trial of a caching tier on a cluster: its containers and the load generator in one pod, as a Job. Pure. */
import type { CannonInput } from '@dinodns-bench/load';
import type { V1ConfigMap, V1Container, V1Job } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../../config/kubernetes-settings.ts';
import { GENERATOR_NODE_FLAGS } from '../../../../loaders/builtin/options.ts';
import { configMapOf } from '../../../../targets/kubernetes/objects/config-map.ts';
import { runLabels, unitLabels } from '../../../../targets/kubernetes/objects/labels.ts';
import { type ConfigMapMount, podTemplate } from '../../../../targets/kubernetes/objects/pods.ts';
import { programFiles, WATCH_FILES } from '../../beside/program.ts';
import { FILES_DIRECTORY, SERVER_PROCESSES, type Tier, type TierContainer, UPSTREAM_PORT } from './tiers.ts';

/** In the image of k8s/images/load. */
const DRIVER = '/app/packages/load/src/driver.ts';
const UPSTREAM = '/app/packages/cluster-objects/src/cli.ts';

/** The program that watches the tier, beside the load generator. */
const WATCH_DIRECTORY = '/etc/bench-watch';

export function watchFiles(namespace: string, runId: string): { object: V1ConfigMap; mount: ConfigMapMount } {
  const files = Object.entries(programFiles(WATCH_FILES)).map(([path, text]) => ({ path, chunks: [text] }));
  return configMapOf(
    { name: 'watch', namespace, labels: runLabels(runId) },
    'the program that watches',
    files,
  );
}

export interface TierFilesRequest {
  readonly namespace: string;
  readonly runId: string;
  readonly name: string;
  readonly tier: Tier;
}

export function tierFiles(request: TierFilesRequest): { object: V1ConfigMap; mount: ConfigMapMount } {
  const { namespace, runId, name, tier } = request;
  const files = Object.entries(tier.files).map(([path, text]) => ({ path, chunks: [text] }));
  return configMapOf({ name, namespace, labels: runLabels(runId) }, 'the files of a caching tier', files);
}

export interface TierJobRequest {
  readonly settings: KubernetesSettings;
  readonly namespace: string;
  readonly runId: string;
  readonly unit: string;
  readonly tier: Tier;
  readonly mount: ConfigMapMount;
  readonly watch: ConfigMapMount;
  readonly load: CannonInput;
  /** Of the load generator and of the upstream. */
  readonly loaderImage: string;
  readonly upstreamDelaySeconds: number;
  readonly pullSecrets: readonly string[];
  readonly deadlineSeconds: number;
}

interface ContainerOptions {
  /** Instead of the image's entry point. */
  readonly command?: readonly string[];
  readonly mountPath?: string;
  /** Further ones. */
  readonly mounts?: Readonly<Record<string, ConfigMapMount>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A container as all pods of bench have it. */
function containerOf(
  { settings, mount, pullSecrets }: TierJobRequest,
  image: string,
  args: readonly string[],
  { command, mountPath = FILES_DIRECTORY, mounts = {}, env = {} }: ContainerOptions = {},
) {
  const template = podTemplate({
    settings: { ...settings, serviceAccount: 'dns' },
    labels: {},
    component: 'server',
    image,
    args,
    ...(command === undefined ? {} : { command }),
    env,
    mounts: { [mountPath]: mount, ...mounts },
    pullSecrets,
    restartPolicy: 'Never',
    needsBindService: true,
  });
  const [container] = template.spec?.containers ?? [];
  if (container === undefined) throw new Error('a pod template without a container');
  return { template, container };
}

/** A container that runs beside the load generator and ends after it (Kubernetes 1.29). */
function besideOf(request: TierJobRequest, tier: TierContainer): V1Container {
  const { name, image, args, startupProbe, securityContext, mountPath } = tier;
  const { container } = containerOf(request, image, args, { mountPath });
  return {
    ...container,
    name,
    restartPolicy: 'Always',
    ...(startupProbe === undefined ? {} : { startupProbe }),
    ...(securityContext === undefined ? {} : { securityContext }),
  };
}

export function tierJob(request: TierJobRequest): V1Job {
  const { namespace, runId, unit, tier, loaderImage, upstreamDelaySeconds } = request;
  const labels = unitLabels(runId, 'server', unit);
  const { template, container: main } = containerOf(
    request,
    loaderImage,
    ['node', ...GENERATOR_NODE_FLAGS, DRIVER, JSON.stringify(request.load)],
    {
      command: ['node', `${WATCH_DIRECTORY}/watch.mjs`],
      mounts: { [WATCH_DIRECTORY]: request.watch },
      env: { NAMES: SERVER_PROCESSES.join(',') },
    },
  );
  const delay = ['--delay', String(upstreamDelaySeconds * 1000)];
  const { container: upstream } = containerOf(
    request,
    loaderImage,
    ['upstream', '--address', '127.0.0.1', '--port', String(UPSTREAM_PORT), ...delay],
    { command: ['node', UPSTREAM] },
  );
  return {
    metadata: { name: unit, namespace, labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: Math.ceil(request.deadlineSeconds),
      template: {
        metadata: { labels },
        spec: {
          ...template.spec,
          // The servers are watched from the load generator's container.
          shareProcessNamespace: true,
          // CoreDNS and kube-dns read the API server by themselves.
          automountServiceAccountToken: true,
          dnsPolicy: 'Default',
          initContainers: [
            { ...upstream, name: 'upstream', restartPolicy: 'Always' },
            ...tier.containers.map((container) => besideOf(request, container)),
          ],
          containers: [main],
        },
      },
    },
  };
}
