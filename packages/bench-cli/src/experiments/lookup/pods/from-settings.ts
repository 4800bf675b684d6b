/** What a run on a cluster is asked for, from its settings: checked together, before anything starts. */
import { configure } from '../../../config/configuration.ts';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { BenchError } from '../../../errors.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import { lookupOptions } from '../options.ts';
import type { LookupSettings } from '../settings.ts';
import type { ClusterOptions } from './cluster-options.ts';

/** With the settings of other commands that the environment gives. */
function kubernetesSettings(
  world: Pick<World, 'env'>,
  { nodes, context, pullPolicy, keep, image }: LookupSettings,
): KubernetesSettings {
  const flags = {
    ...(nodes === undefined ? {} : { loaderNode: nodes }),
    ...(context === undefined ? {} : { context }),
    ...(image === undefined ? {} : { loaderImage: image }),
    pullPolicy,
    keep,
  };
  return configure({ flags, env: world.env }).kubernetes;
}

/** The built-in loader's, in which everything is that a sampler pod needs. */
function imageOf({ loaderImage }: KubernetesSettings): string {
  return loaderImage ?? `dinodns-bench/load:${BENCH_VERSION}`;
}

/** What only makes sense elsewhere. */
function demandCluster({ local, policy, policyModes }: LookupSettings): void {
  const usage = (message: string, fix: string) => new BenchError('E_USAGE', message, { fix });
  if (local) throw usage('--local and --target kubernetes exclude each other', 'Omit one.');
  if (policyModes !== undefined && policy === 'cilium') {
    throw usage(
      '--policy-modes are those of Calico Enterprise; Cilium has none',
      'Omit --policy-modes, or --policy cilium.',
    );
  }
}

export interface ClusterRunOptions extends ClusterOptions {
  readonly durationSeconds: number;
  readonly rounds: number;
}

/** @throws BenchError `E_USAGE`, one for the first problem */
export function clusterOptions(world: Pick<World, 'env'>, settings: LookupSettings): ClusterRunOptions {
  demandCluster(settings);
  const { url, durationSeconds, rounds, paceSeconds, clients, capture } = lookupOptions(settings, 'nothing');
  const kubernetes = kubernetesSettings(world, settings);
  const modes = [...new Set(settings.policyModes)];
  return {
    url,
    durationSeconds,
    rounds,
    trialSeconds: durationSeconds / rounds,
    paceSeconds: paceSeconds ?? 0,
    clients,
    capture,
    services: [...new Set(settings.services)],
    standingPods: settings.standingPods,
    policies: { active: 0, idle: 0 },
    stress: settings.stress,
    podPerSample: settings.podPerSample,
    webAddress: settings.webAddress ?? null,
    policy: settings.policy ?? (modes.length > 0 ? 'calico' : null),
    modes,
    domains: settings.domains,
    nodeCpuLimit: settings.calicoNodeCpu ?? null,
    image: imageOf(kubernetes),
    leaseNamespace: settings.leaseNamespace,
    leaseSeconds: settings.lease,
    kubernetes,
  };
}
