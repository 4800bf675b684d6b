/** What ran and where: the machine, the cluster, the programs. */
import { z } from 'zod';
import { bytes } from './record-units.ts';

export const serverRecordSchema = z.object({
  /** As in the cases: `coredns@1.13.1+file`. */
  name: z.string(),
  /** Its kind: `coredns`. */
  kind: z.string(),
  /** Its variant: `file`; null for the plain kind. */
  variant: z.string().nullable(),
  /** In tables: "CoreDNS 1.13.1 (file)". */
  title: z.string(),
  /** The version that the program itself reports. */
  version: z.string(),
  executable: z.string(),
  /** Further versions that matter: Go, Node.js, the framework. */
  components: z.record(z.string(), z.string()),
  /** Configuration files by name, as they were used in the first trial (shortened over 64 KiB). */
  files: z.record(z.string(), z.string()),
});
export type ServerRecord = z.output<typeof serverRecordSchema>;

export const provisionedToolSchema = z.object({
  tool: z.string(),
  version: z.string(),
  executable: z.string(),
  /** `path`: was on PATH; `cache`: provisioned by an earlier run; `image`: of a container, on the cluster. */
  source: z.enum([
    'path',
    'cache',
    'release-archive',
    'go-install',
    'package-manager',
    'npm',
    'workspace',
    'image',
  ]),
  /** Where from, in words or as an address; the checksum if there was one. */
  origin: z.string(),
  sizeBytes: bytes.nullable(),
  /** Arguments of every call of it; absent without any. */
  arguments: z.array(z.string()).optional(),
});
export type ProvisionedTool = z.output<typeof provisionedToolSchema>;

export const clusterNodeSchema = z.object({
  name: z.string(),
  /** What the run used it for: `server`, `loader`, both or neither. */
  roles: z.array(z.string()),
  os: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  /** Cores and memory that pods may use. */
  allocatableCpus: z.number().nonnegative(),
  allocatableMemoryBytes: bytes,
  kubeletVersion: z.string(),
  containerRuntime: z.string(),
  /** The cloud's name for the machine type (`e2-standard-4`); absent or null where the node does not say. */
  instanceType: z.string().nullable().optional(),
});
export type ClusterNode = z.output<typeof clusterNodeSchema>;

/** The Kubernetes cluster of a run. */
export const clusterSchema = z.object({
  /** Version of the API server. */
  version: z.string(),
  /** Who runs it, where the nodes say: `gke`, `eks`, `kind`, … */
  provider: z.string().nullable(),
  /** Of the kubeconfig; absent in older records. */
  context: z.string().optional(),
  /** Address of the API server; absent in older records. */
  server: z.string().optional(),
  /** Null where the cluster is none of OpenShift, or does not tell; absent in older records. */
  openshiftVersion: z.string().nullable().optional(),
  /** Name of the network plugin, if known. */
  cni: z.string().nullable(),
  /** kube-proxy's mode, if known. */
  proxyMode: z.string().nullable(),
  nodes: z.array(clusterNodeSchema),
});
export type Cluster = z.output<typeof clusterSchema>;

export const environmentSchema = z.object({
  hostname: z.string(),
  os: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  cpuModel: z.string(),
  cpuCores: z.number().int().positive(),
  /** CPUs this process may use: affinity and quota considered. */
  availableCpus: z.number().positive(),
  cpuGovernor: z.string().nullable(),
  memoryBytes: bytes,
  /** Name of the virtualization, `none` on bare metal, null if unknown. */
  virtualization: z.string().nullable(),
  /** 1-minute load average when the run began: of the minute before, not of the run. */
  loadAverage: z.number().nonnegative(),
  socketReceiveBufferBytes: z.object({ default: bytes, max: bytes }).nullable(),
  nodeVersion: z.string(),
  /** Whether the counters of the CPUs were used, and if not, why; absent where nobody tried. */
  hardwareCounters: z.object({ used: z.boolean(), reason: z.string().nullable() }).optional(),
  /** The checkout that bench runs from; `branch` is null for a detached head that nothing names. */
  git: z.object({ commit: z.string(), branch: z.string().nullable(), dirty: z.boolean() }).nullable(),
  /** Where the servers ran; null for the local target. */
  cluster: clusterSchema.nullable(),
});
export type Environment = z.output<typeof environmentSchema>;

export const cpuLimitMethodSchema = z.enum([
  'cgroup-v2-quota',
  'cgroup-v1-quota',
  'systemd-scope',
  'affinity',
  'pod-limit',
  'none',
]);
export type CpuLimitMethod = z.output<typeof cpuLimitMethodSchema>;
