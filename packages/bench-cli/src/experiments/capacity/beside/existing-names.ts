/** Names of a generated cluster that exist, to be asked for. Pure. */
import { type Cluster, serviceName } from '@dinodns-bench/cluster-objects';

/** Enough to reach every part of a store; their text has to fit into a ConfigMap. */
const MAX_NAMES = 1000;

/** A headless Service has a name as soon as it has an endpoint. */
export function existingNames(cluster: Cluster): string[] {
  const names: string[] = [];
  for (let index = 0; index < cluster.spec.services && names.length < MAX_NAMES; index += 1) {
    const service = cluster.service(index);
    if (!service.headless || service.endpointCount > 0) names.push(serviceName(cluster, service));
  }
  return names;
}
