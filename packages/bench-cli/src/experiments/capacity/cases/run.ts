/** `bench capacity throughput` and `bench capacity caching`: cases in rounds, each trial saved the moment it ends. */
import type { Interruption } from '../../../interruption.ts';
import { openTrials } from '../../../measure/open-trials.ts';
import type { TrialContext } from '../../../measure/trial-context.ts';
import type { Display } from '../../../progress/display.ts';
import { loadServers } from '../../../servers/load.ts';
import type { Server } from '../../../servers/server.ts';
import { counted, formatDuration } from '../../../text.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { demandTarget } from '../cluster/cluster-measurement.ts';
import {
  clusterServers,
  commonConfiguration,
  type OpenMachine,
  openMachine,
  READY_NAME,
} from '../machine.ts';
import { newCapacityRecord } from '../new-record.ts';
import {
  type CapacityRun,
  createRecorder,
  keepRun,
  type Measured,
  type MeasurementOptions,
  openRun,
} from '../open-run.ts';
import type { CapacityRecord } from '../record.ts';
import type { CasesResult, CaseTrial } from './cases-record.ts';
import type { CasesKind, MadeCases } from './kinds.ts';
import type { RunnableCase } from './planned.ts';
import { completeTrials, type PlannedRound, planRounds } from './rounds.ts';
import type { CommonSettings } from './settings.ts';
import { runCase } from './trial.ts';

/** The load generator is a Node.js program: server and generator are two processes on this machine. */
const LOADER = 'builtin';

/** What a run is made with, besides its settings. */
interface Means {
  readonly configuration: ReturnType<typeof commonConfiguration>;
  readonly servers: readonly Server[];
  readonly helpers: readonly Server[];
  readonly display: Display;
  readonly interruption: Interruption;
}

export async function casesCommand<Settings extends CommonSettings>(
  world: World,
  kind: CasesKind<Settings>,
  { given, common, resume, json, argv }: MeasurementOptions,
): Promise<number> {
  const run = await openRun(world, {
    what: kind.what,
    given,
    out: common.out,
    resume,
    decide: (values) => kind.decide(values),
  });
  demandTarget(run, 'local');
  const configuration = commonConfiguration(
    world,
    run.settings.servers,
    { ...common, loader: LOADER },
    { duration: run.settings.duration, warmup: 1 },
  );
  const servers = await clusterServers(world, configuration);
  const helpers = await loadServers(world, kind.helpers, configuration);
  const means = { configuration, servers, helpers };
  return keepRun(world, run, json, (attended, onSaved) =>
    measureAll(world, kind, run, { ...means, ...attended }, argv, onSaved),
  );
}

/** Trials of rounds that are complete; the others are measured again. */
function previousTrials({ previous }: CapacityRun<unknown>, cases: readonly RunnableCase[]): CaseTrial[] {
  const measured = previous?.measured;
  return measured?.what === 'throughput' || measured?.what === 'caching'
    ? completeTrials(cases, measured.trials)
    : [];
}

async function measureAll<Settings extends CommonSettings>(
  world: World,
  kind: CasesKind<Settings>,
  run: CapacityRun<Settings>,
  means: Means,
  argv: readonly string[],
  onSaved: () => void,
): Promise<Measured> {
  const { configuration, servers, helpers, display, interruption } = means;
  const all = [...servers, ...helpers];
  const machine = await openMachine(world, run.id, configuration, all, display, interruption, READY_NAME);
  try {
    const made = await kind.make(run.settings, servers, helpers, machine.programs.programOf);
    const trials = previousTrials(run, made.cases);
    const result = (): CasesResult => ({
      what: kind.what,
      cases: made.cases.map(({ facts }) => facts),
      trials: [...trials],
      upstreamDelaySeconds: run.settings.upstreamDelay / 1000,
    });
    const settings = { ...run.settings };
    const first =
      run.previous ?? newCapacityRecord(world, { id: run.id, argv, settings, machine, measured: result() });
    const { save } = createRecorder(world, run, first, result, onSaved);
    const context = await trialContext(world, run.directory, means, machine, made);
    const planned = planRounds(made.cases, run.settings.trials, trials);
    try {
      await measureRounds(world, display, context, planned, async (fresh) => {
        trials.push(...fresh);
        await save('running');
      });
    } catch (error) {
      if (trials.length > 0) await save('interrupted');
      throw error;
    }
    const record: CapacityRecord = await save('complete');
    return { record, failures: trials.filter(({ status }) => status === 'failed').length };
  } finally {
    await machine.session.close();
  }
}

async function trialContext(
  world: World,
  directory: string,
  { configuration, interruption }: Means,
  { session, programs }: OpenMachine,
  { cases, workloads }: MadeCases,
): Promise<TrialContext> {
  const programNamed = new Map(cases.map(({ server }) => [server.name, server]));
  return openTrials({
    world,
    configuration,
    zoneSet: zoneSetOf(configuration.zones, configuration.types),
    workloads,
    session,
    programs: { programOf: (server) => programs.programOf(programNamed.get(server.name) ?? server) },
    directory,
    signal: interruption.signal,
  });
}

async function measureRounds(
  world: World,
  display: Display,
  context: TrialContext,
  planned: readonly PlannedRound[],
  onTrials: (trials: readonly CaseTrial[]) => Promise<void>,
): Promise<void> {
  const begin = world.clock.monotonicSeconds();
  const seconds = () => world.clock.monotonicSeconds() - begin;
  for (const [index, { item, round, order }] of planned.entries()) {
    const done = index + 1;
    const head = `${done}/${planned.length}  ${item.facts.key}`;
    const trials = await runCase(context, item, round, order, {
      phase: (phase: string) => display.live(`  ${head}: ${phase}`),
      rate: (qps: number) => display.live(`  ${head}: ${Math.round(qps)} queries/s`),
    });
    await onTrials(trials);
    const left = (seconds() / done) * (planned.length - done);
    display.line(`${head}: ${trials.map(trialText).join('; ')}, about ${formatDuration(left)} left`);
  }
  display.line(`${counted(planned.length, 'case trial')} in ${formatDuration(seconds())}`);
}

/** What came of a trial, in a line of progress. */
export function trialText(trial: CaseTrial): string {
  if (trial.status === 'failed') return `failed: ${trial.failure.message}`;
  const latency = (trial.lookupLatencySeconds.mean * 1000).toFixed(2);
  return `${trial.load} ${Math.round(trial.lookupsPerSecond).toLocaleString('en')} lookups/s, ${latency} ms`;
}
