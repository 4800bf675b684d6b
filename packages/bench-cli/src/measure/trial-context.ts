/** What all trials of a run share, and how they report their progress. */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { RunConfiguration } from '../config/configuration.ts';
import type { Loader } from '../loaders/loader.ts';
import type { PlannedTrial } from '../plan/plan.ts';
import type { ServerKind } from '../servers/server.ts';
import type { Target } from '../targets/target.ts';
import type { BenchWorkload } from '../workload/workload.ts';
import type { World } from '../world.ts';

export type TrialPhase =
  | 'starting'
  | 'checking answers'
  | 'warming up'
  | 'searching for the highest rate'
  | 'measuring'
  | 'stopping';

export interface TrialProgress {
  phase(phase: TrialPhase): void;
  /** Completed queries per second over all loaders in the last second. */
  rate(qps: number): void;
}

/** What all trials of a run share. */
export interface TrialContext {
  readonly world: World;
  readonly configuration: RunConfiguration;
  readonly zoneSet: ZoneSet;
  readonly workload: BenchWorkload;
  readonly queryFile: string;
  readonly target: Target;
  readonly loader: Loader;
  /** Folder for the raw output of every tool. */
  readonly rawDirectory: string;
  /** The program of a server kind. */
  readonly programOf: (server: ServerKind) => readonly string[];
  /** The response codes of one pass over the workload. */
  readonly predictedCodes: (server: ServerKind) => ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
}

/** Folder for the raw output of one trial, named by its place in the run and its case. */
export function rawFolderOf(context: Pick<TrialContext, 'rawDirectory'>, planned: PlannedTrial): string {
  const { server, tier, mode } = planned.case;
  const place = String(planned.order + 1).padStart(3, '0');
  return `${context.rawDirectory}/${place}-${server}-tier${tier}-${mode}-round${planned.round + 1}`;
}
