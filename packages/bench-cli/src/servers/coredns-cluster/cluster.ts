/** The generated cluster that `coredns-cluster` reads, and the upstream that it forwards to. */
import { defineCluster, defineExternal } from '@dinodns-bench/cluster-objects';

/** The smallest published size: 15,000 pods and 820 services. */
export const CLUSTER = defineCluster();

export const EXTERNAL = defineExternal();

/** Between a resolver in the same data centre, which takes less than a millisecond, and one far away. */
export const UPSTREAM_DELAY_SECONDS = 0.002;
