/** Searches on this machine: each start in a control group of its own, beside an API server of its point's objects. */
import type { Opened, OpenRequest, TrialEvents } from '../../../engine/experiment.ts';
import { loadFor } from '../../../measure/load.ts';
import { loadAverageWarnings } from '../../../measure/warnings.ts';
import { openMemoryGroup } from '../../../targets/local/memory-group.ts';
import { fileNameOf } from '../../../text.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import { type DeployedCoredns, deployCoredns } from '../deploy-coredns.ts';
import { clusterServers, commonConfiguration, openMachine } from '../machine.ts';
import { writeQueryFiles } from '../memory/queries.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { findLimit, LEAST_BYTES, limitConditions, type Searcher, titleOf } from './find-limit.ts';
import type { StepSeconds } from './patience.ts';
import { planSearches } from './plan-searches.ts';
import { environmentOf, type SurvivePlan, type SurvivePoint } from './points.ts';
import type { SurviveSettings } from './settings.ts';
import { type Start, type StartContext, startUnder } from './start.ts';

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 2;

export async function openHere({
  world,
  settings,
  decided,
  runId,
  directory,
  display,
  signal,
  force,
}: OpenRequest<SurviveSettings, SurvivePlan>): Promise<Opened<Searcher, SurviveSettings, SurvivePlan>> {
  // Before anything is started: whether there can be limits at all.
  await (await openMemoryGroup(world, 'capacity-survive-probe', LEAST_BYTES)).remove();
  const configuration = commonConfiguration(world, settings.servers, {
    ...settings,
    // The only one that sends on schedule while nothing is answered.
    loader: 'builtin',
  });
  const servers = await clusterServers(world, configuration);
  const { counted } = decided;
  const revised =
    counted === null
      ? {}
      : { revised: { settings: counted.settings, plan: await planSearches(counted.settings, world) } };
  const { session, programs, environment } = await openMachine(
    ...([world, runId, configuration, servers, display, { signal, force }] as const),
  );
  if (counted !== null) display.line(counted.text);
  const byName = new Map(servers.map((server) => [server.name, server]));
  const alone = oneAtATime();
  let groups = 0;

  function loadInto(raw: string): StartContext['load'] {
    let loads = 0;
    return (
      { instance: { address, port } },
      { file, seconds, isPaced, onStarted = () => undefined, signal: until },
    ) => {
      loads += 1;
      return session.loader.load({
        ...loadFor(configuration, { address, port }),
        ...{ endpoint: { address, port }, transport: 'udp', queryFile: file, durationSeconds: seconds },
        ...{ source: null, dnssecOk: false, openLoop: isPaced, signal: until },
        ratePerSecond: isPaced ? settings.rate : null,
        timeoutSeconds: TIMEOUT_SECONDS,
        outputFile: `${raw}/${session.loader.kind}-${loads}.txt`,
        onStarted,
        onProgress: () => undefined,
      });
    };
  }

  async function start(
    point: SurvivePoint,
    limitBytes: number,
    raw: string,
    on: TrialEvents,
    title: string,
    usual: StepSeconds,
  ): Promise<Start> {
    groups += 1;
    const group = await openMemoryGroup(world, `capacity-survive-${groups}`, limitBytes);
    try {
      await world.fs.mkdir(raw, { recursive: true });
      return await startUnder({
        ...{ world, point, limitBytes, group, signal, alone, usual },
        queries: await writeQueryFiles(world, raw, point.cluster),
        outageSeconds: settings.outage,
        deploy: (until): Promise<DeployedCoredns> =>
          deployCoredns(
            {
              ...{ world, target: session.target, servers: byName, programOf: programs.programOf },
              signal: until,
              zoneSet: zoneSetOf(configuration.zones, configuration.types),
              onFiles: on.files,
            },
            {
              ...point,
              directory: raw,
              within: group.wrap,
              streamedLists: point.lists !== 'paged',
              env: environmentOf(point, limitBytes, settings.target),
            },
          ),
        load: loadInto(raw),
        onPhase: (scenario) => on.phase(`${title}: ${scenario}`),
      });
    } finally {
      await group.remove();
      await world.fs.rm(`${raw}/fill.txt`, { force: true });
    }
  }

  const search: Searcher['search'] = (point, { key }, on) =>
    findLimit({ point, key, settings, mostBytes: decided.mostBytes, on }, (limitBytes, number, usual) => {
      const title = titleOf(number, limitBytes);
      return start(point, limitBytes, `${directory}/raw/${fileNameOf(key)}/${number}`, on, title, usual);
    });

  return {
    context: { search },
    environment,
    programs: programs.servers,
    provisioned: programs.provisioned,
    conditions: {
      'load generator': `${session.loader.kind} ${session.loader.version}`,
      'side by side': `up to ${decided.lanes} starts`,
      ...limitConditions(settings),
    },
    warnings: loadAverageWarnings(environment),
    ...revised,
    [Symbol.asyncDispose]: () => session.close(),
  };
}
