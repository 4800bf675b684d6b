/** The record of a comparison, which is older than the engine's: its form is documented, and others rely on it. Pure. */
import { commandFor, settingsOf } from '../../config/configuration.ts';
import type { Settings } from '../../config/settings.ts';
import { caseKeyOf, loadConditions, type RecordForm } from '../../engine/form.ts';
import type { DecidedServers } from '../../engine/servers.ts';
import { entryOf } from '../../history/entry.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import { calibrationNotes } from '../../report/calibration.ts';
import { runStatus } from '../../report/index.ts';
import { formatFixed, formatQps } from '../../report/numbers.ts';
import { okTrials } from '../../report/ok-trials.ts';
import {
  type Calibration,
  type OkTrial,
  type RunRecord,
  SCHEMA_VERSION,
  type Trial,
} from '../../results/record.ts';
import { runHead } from '../../results/run-head.ts';
import { summarizeRun } from '../../stats/cases.ts';
import { examineDrift } from '../../stats/drift.ts';
import { INTERVAL_METHOD } from '../../stats/intervals.ts';
import { comparisonView } from '../../stats/until.ts';
import { shellCommand } from '../../text.ts';
import { existingRatio } from '../../workload/workload.ts';
import { compareDefinition } from './records.ts';

/** What the trials of a comparison share. */
export interface CompareContext {
  readonly trials: TrialContext;
  readonly decided: DecidedServers;
  /** What was measured before the trials; null where nothing was. */
  readonly calibration: Calibration | null;
}

/** `52,113 queries/s, 1.912 ms, limit: server`, with losses if there are any. */
function lineOf({ metrics, load, limitedBy }: OkTrial): string {
  const { latencySeconds, qps } = metrics;
  const latency = latencySeconds === null ? '–' : `${formatFixed(latencySeconds * 1000, 3)} ms`;
  const lost = load.queriesLost === 0 ? '' : `, ${load.queriesLost.toLocaleString('en')} lost`;
  return `${formatQps(qps)} queries/s, ${latency}${lost}, limit: ${limitedBy}`;
}

export const compareForm: RecordForm<RunRecord, Settings, DecidedServers, CompareContext, Trial> = {
  ...compareDefinition,
  // On a resumed run the load generator is the one that was chosen.
  settingsOf: ({ configuration, loader }) => ({ ...configuration, loader: loader.kind }),
  programsOf: ({ servers }) => servers,
  withPrograms: (record, servers) => ({ ...record, servers: [...servers] }),
  conditionsOf: ({ loader, cpuLimits }) => loadConditions(loader, cpuLimits),
  start({ id, argv, startedAt, plan: { decided }, opened }) {
    const { trials, calibration } = opened.context;
    const { configuration, plan, zoneSet, workloads } = decided;
    const { target, loader } = trials;
    return {
      schemaVersion: SCHEMA_VERSION,
      id,
      ...runHead(argv, startedAt),
      command: shellCommand(commandFor(configuration)),
      configuration: settingsOf(configuration),
      target: target.kind,
      loader: { kind: loader.kind, version: loader.version },
      cpuLimits: { requested: configuration.cpu, ...target.cpuLimits },
      baseline: configuration.baseline,
      deltaDefinition: configuration.delta,
      intervalMethod: INTERVAL_METHOD,
      environment: opened.environment,
      provisioned: [...opened.provisioned],
      servers: [...opened.programs],
      zones: configuration.zones,
      workloads: workloads.map((workload) => ({
        name: workload.name,
        description: workload.description,
        distinctQueries: workload.size,
        existingRatio: existingRatio(zoneSet, workload),
      })),
      warnings: [...opened.warnings],
      trials: [],
      ...summarizeRun(plan.cases, [], configuration.baseline),
      drift: null,
      until: null,
      calibration,
    };
  },
  trialOf: (_record, _head, trial) => trial,
  failedTrial: (head, failure) => ({
    ...head,
    caseKey: caseKeyOf(head),
    instances: [],
    loaderCommands: [],
    status: 'failed',
    failure,
  }),
  // The cases say what they are of.
  summarized: (record, _cases, rounds, options) => ({
    ...record,
    ...summarizeRun(
      record.cases.map((item) => ({ ...item, plannedTrials: rounds })),
      record.trials,
      record.baseline,
      { ...options, seed: record.id },
    ),
  }),
  untilView: ({ cases }) => comparisonView(cases),
  entryOf,
  ended: (record) => ({
    ...record,
    drift: examineDrift(okTrials(record)),
  }),
  notesOf: calibrationNotes,
  lineOf: (_record, trial) => (trial.status === 'ok' ? lineOf(trial) : ''),
  exitStatusOf: (record) => runStatus(record).exitStatus,
};
