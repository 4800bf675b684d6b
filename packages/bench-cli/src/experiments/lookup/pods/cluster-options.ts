/** What `bench lookup --target kubernetes` measures, checked. */
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import type { PolicyMode } from '../policy/modes.ts';
import type { Client } from '../sampling/sampler.ts';
import type { PolicyKind } from './dns-policy.ts';

export interface ClusterOptions {
  readonly url: URL;
  /** Of each trial. */
  readonly trialSeconds: number;
  /** Samples start this far apart or more. */
  readonly paceSeconds: number;
  readonly clients: readonly Client[];
  readonly capture: boolean;
  /** Numbers of standing Services that are compared. */
  readonly services: readonly number[];
  /** Pods of `standing-deployment`. */
  readonly standingPods: number;
  readonly policies: { readonly active: number; readonly idle: number };
  readonly stress: boolean;
  /** A new pod for each sample. */
  readonly podPerSample: boolean;
  /** Connections to this address from within the cluster reach the web pods; null for none. */
  readonly webAddress: string | null;
  /** A policy by DNS name for the sampler pods; null for none. */
  readonly policy: PolicyKind | null;
  /** Of Calico: modes that are compared; empty for that of the cluster. */
  readonly modes: readonly PolicyMode[];
  /** Names that the policy allows. */
  readonly domains: number;
  /** CPU limit of calico-node; null leaves it, `0` removes it. */
  readonly nodeCpuLimit: string | null;
  /** With a shell, curl, tcpdump and Node.js. */
  readonly image: string;
  /** Of the Lease and the journal of changes. */
  readonly leaseNamespace: string;
  readonly leaseSeconds: number;
  readonly kubernetes: KubernetesSettings;
}
