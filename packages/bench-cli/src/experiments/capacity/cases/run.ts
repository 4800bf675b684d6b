/** `bench capacity throughput` and `bench capacity caching`: cases in rounds, each trial saved the moment it ends. */
import type { Setting } from '../../../config/setting.ts';
import { updateHistory } from '../../../history/history.ts';
import { listenForInterruption } from '../../../interruption.ts';
import { serverWorkloads } from '../../../measure/learned-answers.ts';
import type { TrialContext } from '../../../measure/trial-context.ts';
import { createDisplay } from '../../../progress/display.ts';
import { newRunId } from '../../../results/run-id.ts';
import { createStore } from '../../../results/store.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import { loadServers } from '../../../servers/load.ts';
import type { Server } from '../../../servers/server.ts';
import { counted, formatDuration } from '../../../text.ts';
import { writeQueryFile } from '../../../workload/load-workload.ts';
import { type BenchWorkload, predictedCodes, zoneSetOf } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { finishCapacityRun } from '../finish.ts';
import { type CommonFlags, clusterServers, commonConfiguration, openMachine } from '../machine.ts';
import { newCapacityRecord } from '../new-record.ts';
import { type CapacityRecord, capacityKind } from '../record.ts';
import { decideSettings } from '../settings.ts';
import { cachingCases } from './caching-cases.ts';
import type { CasesResult, CaseTrial } from './cases-record.ts';
import type { RunnableCase } from './planned.ts';
import {
  CACHING_SETTINGS,
  type CachingSettings,
  THROUGHPUT_SETTINGS,
  type ThroughputSettings,
} from './settings.ts';
import { lookupWorkloads, throughputCases } from './throughput-cases.ts';
import { runCase } from './trial.ts';

export interface CasesOptions {
  readonly what: CasesResult['what'];
  readonly given: Readonly<Record<string, unknown>>;
  readonly common: CommonFlags;
  readonly json: boolean;
  readonly argv: readonly string[];
}

interface Made {
  readonly cases: readonly RunnableCase[];
  readonly workloads: readonly BenchWorkload[];
}

const settingsOf = (
  table: Readonly<Record<string, Setting>>,
  command: string,
  given: CasesOptions['given'],
) => decideSettings(table, given, command);

/** The load generator is a Node.js program: server and generator are two processes on this machine. */
const LOADER = 'builtin';

/** No service has it, and CoreDNS says so only when it has read everything; until then it is SERVFAIL. */
const READY_NAME = 'gone.team-000.svc.cluster.local';

type CommonSettings = Pick<
  ThroughputSettings,
  'lookups' | 'trials' | 'duration' | 'upstreamDelay' | 'servers'
>;

export async function casesCommand(world: World, options: CasesOptions): Promise<number> {
  const isThroughput = options.what === 'throughput';
  const table = isThroughput ? THROUGHPUT_SETTINGS : CACHING_SETTINGS;
  // Checked by the table.
  const settings = settingsOf(
    table,
    `bench capacity ${options.what}`,
    options.given,
  ) as unknown as CommonSettings;
  const common = { ...options.common, loader: LOADER };
  const configuration = commonConfiguration(world, settings.servers, common, {
    duration: settings.duration,
    warmup: 1,
  });
  const servers = await clusterServers(world, configuration);
  const extra = isThroughput ? [] : await loadServers(world, [dnsmasq.name], configuration);
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  const store = createStore(world, common.out ?? 'results');
  const id = newRunId(world.clock.now());
  const directory = store.directoryOf(id);
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  const trials: CaseTrial[] = [];
  try {
    const machine = await openMachine(
      world,
      id,
      configuration,
      [...servers, ...extra],
      display,
      interruption,
      READY_NAME,
    );
    const { session, programs } = machine;
    try {
      const made = await makeCases(isThroughput, settings, servers, extra, programs.programOf);
      const zoneSet = zoneSetOf(configuration.zones, configuration.types);
      const prepared = new Map<string, { workload: BenchWorkload; queryFile: string }>();
      for (const workload of made.workloads) {
        const queryFile = `${directory}/queries-${workload.name}.txt`;
        await writeQueryFile(world, queryFile, workload);
        prepared.set(workload.name, { workload, queryFile });
      }
      const programNamed = new Map(made.cases.map(({ server }) => [server.name, server]));
      const context: TrialContext = {
        world,
        configuration,
        zoneSet,
        workloads: prepared,
        target: session.target,
        loader: session.loader,
        rawDirectory: `${directory}/raw`,
        programOf: (server) => programs.programOf(programNamed.get(server.name) ?? server),
        answersOf: serverWorkloads(zoneSet, configuration),
        predictedCodes: (server, workload) => predictedCodes(zoneSet, server, workload),
        signal: interruption.signal,
      };
      const resultOf = (): CasesResult => ({
        what: options.what,
        cases: made.cases.map(({ facts }) => facts),
        trials: [...trials],
        upstreamDelaySeconds: settings.upstreamDelay / 1000,
      });
      let record: CapacityRecord = newCapacityRecord(world, {
        id,
        argv: options.argv,
        settings: { ...settings },
        machine,
        measured: resultOf(),
      });
      const save = async (status: CapacityRecord['status']) => {
        const endedAt = status === 'running' ? null : world.clock.now().toISOString();
        record = { ...record, status, endedAt, measured: resultOf() };
        await store.saveAs(capacityKind, record, directory);
      };
      await measureRounds(world, display, context, made.cases, settings.trials, async (fresh) => {
        trials.push(...fresh);
        await save('running');
      }).catch(async (error: unknown) => {
        if (trials.length > 0) await save('interrupted');
        throw error;
      });
      await save('complete');
      const failures = trials.filter(({ status }) => status === 'failed').length;
      return await finishCapacityRun(world, store, directory, record, failures, options.json);
    } finally {
      await session.close();
    }
  } finally {
    interruption.release();
    display.clear();
    await unlock();
    if (trials.length === 0) await world.fs.rm(directory, { recursive: true, force: true });
    else await updateHistory(world, store.resultsDirectory);
  }
}

async function makeCases(
  isThroughput: boolean,
  settings: CommonSettings,
  servers: readonly Server[],
  extra: readonly Server[],
  programOf: (server: Server) => readonly string[],
): Promise<Made> {
  if (isThroughput) {
    const cases = await throughputCases(settings as ThroughputSettings, servers);
    return { cases, workloads: lookupWorkloads(settings.lookups) };
  }
  const [coredns] = servers;
  const [dnsmasqServer] = extra;
  if (coredns === undefined || dnsmasqServer === undefined) throw new Error('no servers');
  return cachingCases({
    settings: settings as CachingSettings,
    coredns,
    corednsProgram: programOf(coredns),
    dnsmasqServer,
  });
}

/** Every second round runs backwards, so that a drift of the machine meets all cases alike. */
async function measureRounds(
  world: World,
  display: ReturnType<typeof createDisplay>,
  context: TrialContext,
  cases: readonly RunnableCase[],
  rounds: number,
  onTrials: (trials: readonly CaseTrial[]) => Promise<void>,
): Promise<void> {
  const begin = world.clock.monotonicSeconds();
  const total = cases.length * rounds;
  let done = 0;
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? cases : [...cases].reverse();
    for (const item of order) {
      const progress = {
        phase: (phase: string) => display.live(`  ${done + 1}/${total}  ${item.facts.key}: ${phase}`),
        rate: (qps: number) =>
          display.live(`  ${done + 1}/${total}  ${item.facts.key}: ${Math.round(qps)} queries/s`),
      };
      const trials = await runCase(context, item, round, 2 * done, progress);
      await onTrials(trials);
      done += 1;
      const left = ((world.clock.monotonicSeconds() - begin) / done) * (total - done);
      display.line(
        `${done}/${total}  ${item.facts.key}: ${trials.map(trialText).join('; ')}, about ${formatDuration(left)} left`,
      );
    }
  }
  display.line(
    `${counted(total, 'case trial')} in ${formatDuration(world.clock.monotonicSeconds() - begin)}`,
  );
}

function trialText(trial: CaseTrial): string {
  if (trial.status === 'failed') return `failed: ${trial.failure.message}`;
  const latency = (trial.lookupLatencySeconds.mean * 1000).toFixed(2);
  return `${trial.load} ${Math.round(trial.lookupsPerSecond).toLocaleString('en')} lookups/s, ${latency} ms`;
}
