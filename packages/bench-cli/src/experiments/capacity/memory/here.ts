/** Starts of CoreDNS on this machine, side by side: each beside an API server of its point's objects. */
import type { Opened, OpenRequest, PlannedTrial, TrialEvents } from '../../../engine/experiment.ts';
import type { LoadOutcome } from '../../../loaders/loader.ts';
import { loadFor } from '../../../measure/load.ts';
import { loadAverageWarnings } from '../../../measure/warnings.ts';
import type { InstanceRecord } from '../../../results/record.ts';
import { fileNameOf } from '../../../text.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import { deployCoredns } from '../deploy-coredns.ts';
import { clusterServers, commonConfiguration, openMachine } from '../machine.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { MemoryEvidence } from './evidence.ts';
import { type MemoryPoint, rateOf } from './points.ts';
import { writeQueryFiles } from './queries.ts';
import type { MemorySettings } from './settings.ts';
import { measureStart, PACE, QUICK_PACE } from './start.ts';

/** What was decided of a run. */
export interface MemoryPlan {
  readonly points: readonly MemoryPoint[];
  readonly lanes: number;
}

/** Where starts are measured. */
export interface Sampler {
  start(point: MemoryPoint, planned: PlannedTrial, on: TrialEvents): Promise<MemoryEvidence>;
}

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 5;

export async function openHere(request: OpenRequest<MemorySettings, MemoryPlan>): Promise<Opened<Sampler>> {
  const { world, settings, decided, runId, directory, display, signal } = request;
  const configuration = commonConfiguration(world, settings.servers, settings);
  const servers = await clusterServers(world, configuration);
  const { session, programs, environment } = await openMachine(
    ...([world, runId, configuration, servers, display, request] as const),
  );
  const rate = rateOf(settings);
  // One load at a time: two would share the CPUs, and neither would hold its rate.
  const alone = oneAtATime();
  const sending = loadFor(configuration, { address: '', port: 0 });
  const byName = new Map(servers.map((server) => [server.name, server]));
  let running = 0;

  function loadInto({ address, port }: InstanceRecord, raw: string) {
    let chunks = 0;
    return (queryFile: string, durationSeconds: number, stage: string): Promise<LoadOutcome> =>
      alone(() => {
        chunks += 1;
        return session.loader.load({
          ...sending,
          endpoint: { address, port },
          transport: 'udp',
          ...{ queryFile, durationSeconds, signal, source: null, dnssecOk: false, openLoop: false },
          ratePerSecond: rate,
          timeoutSeconds: TIMEOUT_SECONDS,
          outputFile: `${raw}/${session.loader.kind}-${chunks}-${stage}.txt`,
          onStarted: () => undefined,
          onProgress: () => undefined,
        });
      });
  }

  async function start(point: MemoryPoint, { key }: PlannedTrial, on: TrialEvents): Promise<MemoryEvidence> {
    const raw = `${directory}/raw/${fileNameOf(key)}`;
    const neighbours = running;
    running += 1;
    try {
      await world.fs.mkdir(raw, { recursive: true });
      const queries = await writeQueryFiles(world, raw, point.cluster);
      const deployed = await deployCoredns(
        {
          ...{ world, target: session.target, servers: byName, programOf: programs.programOf, signal },
          zoneSet: zoneSetOf(configuration.zones, configuration.types),
          onFiles: on.files,
        },
        { ...point, directory: raw },
      );
      try {
        const measured = await measureStart({
          ...{ world, point, queries, rate, signal },
          running: deployed.running,
          pace: settings.quick ? QUICK_PACE : PACE,
          load: loadInto(deployed.instance, raw),
          onPhase: on.phase,
        });
        return { ...measured, neighbours, cluster: null };
      } finally {
        await deployed.deployment.remove();
      }
    } finally {
      running -= 1;
      await world.fs.rm(`${raw}/fill.txt`, { force: true });
    }
  }

  return {
    context: { start },
    environment,
    programs: programs.servers,
    provisioned: programs.provisioned,
    conditions: {
      'load generator': `${session.loader.kind} ${session.loader.version}`,
      'side by side': `up to ${decided.lanes} starts`,
    },
    warnings: loadAverageWarnings(environment),
    [Symbol.asyncDispose]: () => session.close(),
  };
}
