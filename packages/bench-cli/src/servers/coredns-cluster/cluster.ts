/** The generated cluster that `coredns-cluster` reads, and the upstream that it forwards to. */
import {
  type Cluster,
  defineCluster,
  defineExternal,
  internalQuestions,
} from '@dinodns-bench/cluster-objects';

/** The search list of a pod of the cluster's first namespace; `own` are the node's domains. */
export function searchListOf(cluster: Cluster, own: readonly string[]): readonly string[] {
  const { domain } = cluster.spec;
  return [`${cluster.namespaceName(0)}.svc.${domain}`, `svc.${domain}`, domain, ...own];
}

export const QUESTIONS = 2000;

/** The smallest published size: 15,000 pods and 820 services. */
export const CLUSTER = defineCluster();

/** What is asked for its own names: they fit into CoreDNS's cache (9,984 entries), and each is checked before every trial. */
export const ownQuestions = () => internalQuestions(CLUSTER, QUESTIONS);

export const EXTERNAL = defineExternal();

/** Between a resolver in the same data centre, which takes less than a millisecond, and one far away. */
export const UPSTREAM_DELAY_SECONDS = 0.002;

/** Domains of the node itself that `autopath` goes through: the default of `--search`. */
export const NODE_SEARCH: readonly string[] = ['internal'];
