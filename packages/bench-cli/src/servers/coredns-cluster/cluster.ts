/** The generated cluster that `coredns-cluster` reads, and the upstream that it forwards to. */
import { type Cluster, defineCluster, defineExternal } from '@dinodns-bench/cluster-objects';

/** The search list of a pod of the cluster's first namespace; `own` are the node's domains. */
export function searchListOf(cluster: Cluster, own: readonly string[]): readonly string[] {
  const { domain } = cluster.spec;
  return [`${cluster.namespaceName(0)}.svc.${domain}`, `svc.${domain}`, domain, ...own];
}

/** The smallest published size: 15,000 pods and 820 services. */
export const CLUSTER = defineCluster();

export const EXTERNAL = defineExternal();

/** Between a resolver in the same data centre, which takes less than a millisecond, and one far away. */
export const UPSTREAM_DELAY_SECONDS = 0.002;

/** Domains of the node itself that `autopath` goes through: the default of `--search`. */
export const NODE_SEARCH: readonly string[] = ['internal'];
