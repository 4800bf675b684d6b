/** What all trials of a run share, and how they report their progress. */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { RunConfiguration } from '../config/configuration.ts';
import { internalError } from '../errors.ts';
import type { Loader } from '../loaders/loader.ts';
import type { PlannedTrial } from '../plan/plan.ts';
import type { Server } from '../servers/server.ts';
import type { Target } from '../targets/target.ts';
import { fileNameOf } from '../text.ts';
import type { BenchWorkload } from '../workload/workload.ts';
import type { World } from '../world.ts';
import type { ServerWorkload } from './learned-answers.ts';

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

/** A workload and the query file that loaders read. */
export interface PreparedWorkload {
  readonly workload: BenchWorkload;
  readonly queryFile: string;
}

/** What all trials of a run share. */
export interface TrialContext {
  readonly world: World;
  readonly configuration: RunConfiguration;
  readonly zoneSet: ZoneSet;
  /** By the names that cases have. */
  readonly workloads: ReadonlyMap<string, PreparedWorkload>;
  readonly target: Target;
  readonly loader: Loader;
  /** Folder for the raw output of every tool. */
  readonly rawDirectory: string;
  /** The program of a server kind. */
  readonly programOf: (server: Server) => readonly string[];
  /** A workload with the answers that one server must give. */
  readonly answersOf: ServerWorkload;
  /** The response codes of one pass over a workload of `answersOf`, once its answers are known. */
  readonly predictedCodes: (server: Server, workload: BenchWorkload) => ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
  /** Count instructions, cycles and cache misses of the servers: the machine can. Default false. */
  readonly countsEvents?: boolean;
}

/** Folder for the raw output of one trial, named by its place in the run and its case. */
export function rawFolderOf(context: Pick<TrialContext, 'rawDirectory'>, planned: PlannedTrial): string {
  const { server, tier, mode } = planned.case;
  const place = String(planned.order + 1).padStart(3, '0');
  return `${context.rawDirectory}/${place}-${fileNameOf(server)}-tier${tier}-${mode}-round${planned.round + 1}`;
}

/** A workload of the run. */
export function workloadNamed(
  { workloads }: Pick<TrialContext, 'workloads'>,
  name: string,
): PreparedWorkload {
  const found = workloads.get(name);
  if (found !== undefined) return found;
  throw internalError(`no workload ${name}`);
}

/** The workload of a trial. */
export function workloadOf(context: TrialContext, planned: PlannedTrial): PreparedWorkload {
  return workloadNamed(context, planned.case.workload);
}
