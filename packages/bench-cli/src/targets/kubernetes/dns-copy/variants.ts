/** Copies of the cluster's DNS with another lameduck or number of pods, and that can be updated, watched and killed. Pure. */
import type { V1Deployment } from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { ConfigMapMount } from '../objects/pods.ts';
import { besideContainer } from './beside.ts';
import type { CopyObjects } from './objects.ts';
import type { CopyPlan } from './plan-copy.ts';

/** What Kubernetes gives a pod that says nothing. */
const GRACE_SECONDS = 30;

/** Beyond the lameduck, so that its end is not SIGKILL. */
const GRACE_BEYOND_SECONDS = 5;

const HEALTH = /^(\s*)health\b([^{\n]*?)\s*(\{)?\s*$/m;
const LAMEDUCK = /^\s*lameduck\s+(\d+(?:\.\d+)?)(ms|s|m)\s*\n/m;

/** Seconds that a CoreDNS with this Corefile goes on after SIGTERM. */
export function lameduckOf(corefile: string): number {
  const [, amount, unit = 's'] = LAMEDUCK.exec(corefile) ?? [];
  return amount === undefined ? 0 : Number(amount) * ({ ms: 0.001, s: 1, m: 60 }[unit] ?? 1);
}

/** The Corefile with another lameduck. @throws BenchError `E_CONFIG` without the plugin that has it */
export function withLameduck(corefile: string, seconds: number): string {
  const without = corefile.replace(LAMEDUCK, '');
  const [, indent = '', rest = '', brace] = HEALTH.exec(without) ?? [];
  if (!HEALTH.test(without))
    throw new BenchError(
      'E_CONFIG',
      '--factors: the Corefile has no `health` plugin, whose option lameduck is',
      {
        fix: 'Omit lameduck.',
      },
    );
  const line = `${indent}health${rest} {\n${indent}   lameduck ${seconds}s`;
  return without.replace(HEALTH, brace === undefined ? `${line}\n${indent}}` : line);
}

/** What is copied, with another lameduck or number of pods. */
export function copyAt(
  copy: CopyPlan,
  point: { readonly lameduck?: number; readonly replicas?: number },
): CopyPlan {
  const { lameduck, replicas = copy.replicas } = point;
  if (lameduck === undefined) return { ...copy, replicas };
  const corefile = withLameduck(copy.corefile, lameduck);
  const nameAt = (name: string) => `lameduck-${lameduck}-${name}`;
  const configMaps = [...copy.configMaps].map(([name, map]) => {
    const data = Object.entries(map.data ?? {}).map(([key, text]) => [
      key,
      text === copy.corefile ? corefile : text,
    ]);
    return [nameAt(name), { ...map, data: Object.fromEntries(data) }] as const;
  });
  return {
    ...copy,
    replicas,
    corefile,
    configMaps: new Map(configMaps),
    mounts: copy.mounts.map((mount) => ({ ...mount, configMap: nameAt(mount.configMap) })),
  };
}

/** The grace period of the pods of `breakable`: until their lameduck is over. */
export function graceSecondsOf({ spec, corefile }: Pick<CopyPlan, 'spec' | 'corefile'>): number {
  const { terminationGracePeriodSeconds: own = GRACE_SECONDS } = spec;
  return Math.max(own, Math.ceil(lameduckOf(corefile)) + GRACE_BEYOND_SECONDS);
}

/** The Deployment of a copy as rolling updates and kills need it. */
export function breakable(
  { deployment }: CopyObjects,
  copy: CopyPlan,
  beside: { readonly image: string; readonly mount: ConfigMapMount },
): V1Deployment {
  const { spec } = deployment;
  const pod = spec?.template.spec;
  const [server] = pod?.containers ?? [];
  if (spec === undefined || pod === undefined || server === undefined)
    throw new Error('a Deployment without a pod');
  const items = Object.entries(beside.mount.items).map(([key, path]) => ({ key, path }));
  const volume = { name: 'beside', configMap: { name: beside.mount.configMap, items } };
  return {
    ...deployment,
    spec: {
      ...spec,
      // The cluster's own; without one, that of Kubernetes.
      strategy: copy.strategy ?? { type: 'RollingUpdate' },
      template: {
        ...spec.template,
        spec: {
          ...pod,
          terminationGracePeriodSeconds: graceSecondsOf(copy),
          shareProcessNamespace: true,
          containers: [server, besideContainer(beside.image, server, volume.name)],
          volumes: [...(pod.volumes ?? []), volume],
        },
      },
    },
  };
}
