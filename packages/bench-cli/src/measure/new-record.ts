/** The record of a run at its start: everything needed to repeat it, and no trials yet. Pure. */
import { commandFor, type RunConfiguration, settingsOf } from '../config/configuration.ts';
import { type Environment, type RunRecord, SCHEMA_VERSION } from '../results/record.ts';
import { INTERVAL_METHOD } from '../stats/intervals.ts';
import { shellCommand } from '../text.ts';
import { BENCH_VERSION } from '../version.ts';
import type { BenchWorkload } from '../workload/workload.ts';
import type { Programs, Session } from './session.ts';

export interface RecordParts {
  readonly id: string;
  readonly startedAt: Date;
  readonly argv: readonly string[];
  readonly configuration: RunConfiguration;
  readonly environment: Environment;
  readonly programs: Pick<Programs, 'provisioned' | 'servers'>;
  readonly session: Pick<Session, 'target' | 'loader'>;
  readonly workloads: readonly BenchWorkload[];
  /** Share of queries whose answer holds records. */
  readonly existingRatio: (workload: BenchWorkload) => number;
  /** What was measured before the trials. Default: nothing. */
  readonly calibration?: RunRecord['calibration'];
  readonly warnings: (cpuLimits: RunRecord['cpuLimits']) => readonly string[];
}

export function newRecord(parts: RecordParts): RunRecord {
  const { configuration, programs, session, workloads } = parts;
  const cpuLimits = { requested: configuration.cpu, ...session.target.cpuLimits };
  return {
    schemaVersion: SCHEMA_VERSION,
    id: parts.id,
    generator: { name: 'dinodns-bench', version: BENCH_VERSION },
    status: 'running',
    startedAt: parts.startedAt.toISOString(),
    endedAt: null,
    command: shellCommand(commandFor(configuration)),
    argv: [...parts.argv],
    configuration: settingsOf(configuration),
    target: session.target.kind,
    loader: { kind: session.loader.kind, version: session.loader.version },
    cpuLimits,
    baseline: configuration.baseline,
    deltaDefinition: configuration.delta,
    intervalMethod: INTERVAL_METHOD,
    environment: parts.environment,
    provisioned: [...programs.provisioned],
    servers: [...programs.servers],
    zones: configuration.zones,
    workloads: workloads.map((workload) => ({
      name: workload.name,
      description: workload.description,
      distinctQueries: workload.size,
      existingRatio: parts.existingRatio(workload),
    })),
    warnings: [...parts.warnings(cpuLimits)],
    trials: [],
    cases: [],
    noiseFloors: null,
    drift: null,
    until: null,
    calibration: parts.calibration ?? null,
  };
}
