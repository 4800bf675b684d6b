/** `bench capacity propagation`: how long a new Service takes to resolve, in rounds, each trial saved the moment it ends. */
import type { Interruption } from '../../../interruption.ts';
import type { Display } from '../../../progress/display.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { demandTarget } from '../cluster/cluster-measurement.ts';
import { clusterServers, commonConfiguration, openMachine, READY_NAME } from '../machine.ts';
import { newCapacityRecord } from '../new-record.ts';
import {
  type CapacityRun,
  createRecorder,
  keepRun,
  type Measured,
  type MeasurementOptions,
  openRun,
} from '../open-run.ts';
import { measureStart } from './measure.ts';
import { previousTrials, propagationCases, propagationStarts } from './plan.ts';
import { progressLines } from './progress.ts';
import type { PropagationResult, PropagationTrial } from './propagation-record.ts';
import { type PropagationSettings, propagationSettings } from './settings.ts';

/** No queries but its own are sent: the loader is only what the target wants to be opened with. */
const LOADER = 'builtin';

interface Means {
  readonly configuration: ReturnType<typeof commonConfiguration>;
  readonly servers: Awaited<ReturnType<typeof clusterServers>>;
  readonly display: Display;
  readonly interruption: Interruption;
}

export async function propagationCommand(
  world: World,
  { given, common, resume, json, argv }: MeasurementOptions,
): Promise<number> {
  const run = await openRun(world, {
    what: 'propagation',
    given,
    out: common.out,
    resume,
    decide: propagationSettings,
  });
  demandTarget(run, 'local');
  const configuration = commonConfiguration(world, run.settings.servers, { ...common, loader: LOADER });
  const servers = await clusterServers(world, configuration);
  const means = { configuration, servers };
  return keepRun(world, run, json, (attended, onSaved) =>
    measureAll(world, run, { ...means, ...attended }, argv, onSaved),
  );
}

async function measureAll(
  world: World,
  run: CapacityRun<PropagationSettings>,
  { configuration, servers, display, interruption }: Means,
  argv: readonly string[],
  onSaved: () => void,
): Promise<Measured> {
  const { settings } = run;
  const machine = await openMachine(world, run.id, configuration, servers, display, interruption, READY_NAME);
  const { session, programs } = machine;
  const trials = previousTrials(run);
  const [pollSeconds, timeoutSeconds] = [settings.poll / 1000, settings.timeout];
  const result = (): PropagationResult => ({
    what: 'propagation',
    cases: propagationCases(settings),
    trials: [...trials],
    pollSeconds,
    timeoutSeconds,
  });
  const first =
    run.previous ??
    newCapacityRecord(world, { id: run.id, argv, settings: { ...settings }, machine, measured: result() });
  const recorder = createRecorder(world, run, first, result, onSaved);
  const starts = propagationStarts(settings, trials);
  const report = progressLines(world, display, starts.flatMap(({ cases }) => cases).length);
  const context = {
    world,
    target: session.target,
    zoneSet: zoneSetOf(configuration.zones, configuration.types),
    servers: new Map(servers.map((server) => [server.name, server])),
    programOf: programs.programOf,
    onFiles: recorder.onFiles,
    rawDirectory: `${run.directory}/raw`,
    services: settings.services,
    pollSeconds,
    timeoutSeconds,
    onPhase: report.phase,
    async onTrial(trial: PropagationTrial) {
      trials.push(trial);
      await recorder.save('running');
      report.done(trial);
    },
    signal: interruption.signal,
  };
  try {
    for (const start of starts) await measureStart(context, start);
    const record = await recorder.save('complete');
    return { record, failures: trials.filter(({ status }) => status === 'failed').length };
  } catch (error) {
    if (trials.length > 0) await recorder.save('interrupted');
    throw error;
  } finally {
    await session.close();
  }
}
