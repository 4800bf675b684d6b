/** What the trials of a run share, once its programs, its target and its load generator are there. */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { RunConfiguration } from '../config/configuration.ts';
import { fileNameOf } from '../text.ts';
import { writeQueryFile } from '../workload/load-workload.ts';
import { type BenchWorkload, predictedCodes } from '../workload/workload.ts';
import type { World } from '../world.ts';
import { onceForEach, serverWorkloads } from './learned-answers.ts';
import type { Programs, Session } from './session.ts';
import type { PreparedWorkload, TrialContext } from './trial-context.ts';

export interface TrialsRequest {
  readonly world: World;
  readonly configuration: RunConfiguration;
  readonly zoneSet: ZoneSet;
  readonly workloads: readonly BenchWorkload[];
  readonly session: Pick<Session, 'target' | 'loader'>;
  readonly programs: Pick<Programs, 'programOf'>;
  /** The run's folder, for query files and raw output. */
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** Writes a query file for each workload. */
export async function openTrials({
  world,
  configuration,
  zoneSet,
  workloads,
  session,
  programs,
  directory,
  signal,
}: TrialsRequest): Promise<TrialContext> {
  return {
    world,
    configuration,
    zoneSet,
    workloads: await writeQueryFiles(world, directory, workloads),
    target: session.target,
    loader: session.loader,
    rawDirectory: `${directory}/raw`,
    programOf: programs.programOf,
    answersOf: serverWorkloads(zoneSet, configuration),
    // One pass over a large workload takes seconds.
    predictedCodes: onceForEach((server, workload) => predictedCodes(zoneSet, server, workload)),
    signal,
  };
}

/** A query file for each workload, under the name of the workload. */
async function writeQueryFiles(
  world: World,
  directory: string,
  workloads: readonly BenchWorkload[],
): Promise<TrialContext['workloads']> {
  const prepared = new Map<string, PreparedWorkload>();
  for (const [index, workload] of workloads.entries()) {
    const number = workloads.length === 1 ? '' : `-${index + 1}-${fileNameOf(workload.name)}`;
    const queryFile = `${directory}/queries${number}.txt`;
    await writeQueryFile(world, queryFile, workload);
    prepared.set(workload.name, { workload, queryFile });
  }
  return prepared;
}
