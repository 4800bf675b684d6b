/** A reading of a pod's CPU and memory, from any source in the cluster. */

export interface CpuReading {
  /** When the counter was read, by the node's clock; only for telling one reading from another. */
  readonly stamp: string;
  /** CPU time since the container was started. */
  readonly cpuSeconds: number;
}

export interface PodReading {
  readonly cpu: CpuReading;
  /** The working set: memory that the kernel cannot reclaim without writing it out. */
  readonly memoryBytes: number | null;
  /** Null where the kubelet does not say. */
  readonly processes: number | null;
}

/** CFS throttling since the start, and the node's clock in milliseconds when it was read. */
export interface ThrottlingReading {
  readonly stamp: string;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledSeconds: number;
}
