/** What is compared on a cluster: every number of Services with every mode and every client. Pure. */
import { counted } from '../../../text.ts';
import type { Subject } from '../record.ts';
import type { ClusterOptions } from './cluster-options.ts';

type Axes = Pick<
  ClusterOptions,
  'services' | 'modes' | 'clients' | 'policy' | 'stress' | 'nodeCpuLimit' | 'podPerSample'
>;

function conditionsOf(
  { policy, stress, podPerSample, nodeCpuLimit }: Axes,
  services: number,
): Record<string, string> {
  return {
    services: String(services),
    ...(policy === null ? {} : { policy }),
    ...(stress ? { stress: 'yes' } : {}),
    ...(podPerSample ? { 'a pod for each sample': 'yes' } : {}),
    ...(nodeCpuLimit === null ? {} : { 'CPU limit of calico-node': nodeCpuLimit }),
  };
}

/** A part that all have in common is not in the name, but for the number of Services where nothing else is. */
export function clusterSubjects(axes: Axes): Subject[] {
  const { services, modes, clients } = axes;
  return services.flatMap((count) =>
    (modes.length === 0 ? [null] : modes).flatMap((policy) =>
      clients.map((client): Subject => {
        const parts = [...(modes.length > 1 ? [policy] : []), ...(clients.length > 1 ? [client] : [])];
        const hasCount = services.length > 1 || parts.length === 0;
        return {
          key: [...(hasCount ? [counted(count, 'Service')] : []), ...parts].join('/'),
          resolver: 'cluster DNS',
          client,
          policy,
          conditions: conditionsOf(axes, count),
          prediction: null,
        };
      }),
    ),
  );
}
