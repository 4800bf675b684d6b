/** What is planned of a swap, and what both methods give to the engine. */
import type { V1Pod } from '@kubernetes/client-node';
import type { PlannedEdit } from '../../cluster-changes/change.ts';
import type { OpenRequest, PlannedTrial } from '../../engine/experiment.ts';
import type { Loader } from '../../loaders/loader.ts';
import type { ServerRecord } from '../../results/record.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import type { DnsWorkload } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import type { CopyPlan } from '../../targets/kubernetes/dns-copy/plan-copy.ts';
import type { OpenedCluster } from '../../targets/kubernetes/open-cluster.ts';
import type { NameSet, Side, SwapEvidence } from './evidence.ts';
import type { OwnQueries } from './query-files.ts';
import type { SwapSettings } from './settings.ts';

export interface Edits {
  /** Reconcilers to pause, in this order. */
  readonly pauses: readonly PlannedEdit[];
  readonly image: PlannedEdit;
  /** In the order in which they are made. */
  readonly all: readonly PlannedEdit[];
}

export interface SwapPlan {
  readonly workload: DnsWorkload;
  readonly images: Readonly<Record<Side, string>>;
  /** Of the subjects. */
  readonly names: Readonly<Record<Side, string>>;
  readonly ownQueries: OwnQueries;
  /** Placements that a run can have at most. */
  readonly placements: number;
  /** What is copied beside the DNS, or changed in it. */
  readonly method: { readonly copy: CopyPlan } | { readonly edits: Edits };
}

export interface SwapRequest extends OpenRequest<SwapSettings, SwapPlan> {
  /** What is done just now, for people. */
  readonly say: (text: string) => void;
}

/** A cluster in which placements can be measured. */
export interface OpenedSwap {
  /** A and B, as the programs say themselves. */
  readonly programs: readonly ServerRecord[];
  readonly loader: Pick<Loader, 'kind' | 'version'>;
  readonly opened: Pick<OpenedCluster, 'cluster' | 'warnings'>;
  place(planned: PlannedTrial, side: Side): Promise<SwapEvidence>;
  /** Of this method alone. */
  readonly conditions?: Readonly<Record<string, string>>;
  /** See `Opened`. */
  readonly lost?: AbortSignal;
  closing?(): readonly string[];
  close(): Promise<void>;
}

/** What all placements of a run share. */
export interface PhasesRequest {
  readonly run: ClusterRun;
  readonly loader: Loader;
  readonly settings: SwapSettings;
  /** Versions by image ID. */
  readonly knownVersions: ReadonlyMap<string, string>;
  readonly queryFiles: Readonly<Record<NameSet, string>>;
  readonly rawDirectory: string;
  readonly say: (text: string) => void;
}

/** Pods of the DNS, or of a copy of it. */
export interface Measured {
  readonly workload: DnsWorkload;
  readonly pods: readonly V1Pod[];
}
