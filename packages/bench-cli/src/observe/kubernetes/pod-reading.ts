/** A reading of a pod's CPU and memory, from any source in the cluster. */
import type { Throttling } from '../group.ts';

export interface CpuReading {
  /** When the counter was read, by the node's clock; only for telling one reading from another. */
  readonly stamp: string;
  /** CPU time since the container was started. */
  readonly cpuSeconds: number;
}

/**
 * By the names of the pods to read, the container whose figures count; null for a pod of one container, which has the
 * pod's figures.
 */
export type ObservedContainers = ReadonlyMap<string, string | null>;

/** A container beside the one that counts. */
export interface SidecarReading {
  readonly cpuSeconds: number;
  readonly memoryBytes: number | null;
}

/** Of the container that counts. */
export interface PodReading {
  readonly cpu: CpuReading;
  /** The working set: memory that the kernel cannot reclaim without writing it out. */
  readonly memoryBytes: number | null;
  /** Null where the kubelet does not say: it counts those of pods, not of containers. */
  readonly processes: number | null;
  /** By name; empty for a pod of one container. */
  readonly sidecars: ReadonlyMap<string, SidecarReading>;
}

/** CFS throttling since the start, and the node's clock in milliseconds when it was read. */
export interface ThrottlingReading extends Throttling {
  readonly stamp: string;
}
