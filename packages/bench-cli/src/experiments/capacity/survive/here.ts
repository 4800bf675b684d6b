/** Searches on this machine: each start in a control group of its own, beside an API server of its point's objects. */
import { ratioFromText } from '../../../config/value-schemas.ts';
import type { Opened, OpenRequest, PlannedTrial, TrialEvents } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { loadFor } from '../../../measure/load.ts';
import { loadAverageWarnings } from '../../../measure/warnings.ts';
import { formatBytes, formatCount } from '../../../report/numbers.ts';
import { openMemoryGroup } from '../../../targets/local/memory-group.ts';
import { fileNameOf } from '../../../text.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import { type DeployedCoredns, deployCoredns } from '../deploy-coredns.ts';
import { clusterServers, commonConfiguration, openMachine } from '../machine.ts';
import { writeQueryFiles } from '../memory/queries.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { isPeakOwn, type StartResult, type SurviveEvidence } from './evidence.ts';
import type { StepSeconds } from './patience.ts';
import { planSearches } from './plan-searches.ts';
import { firstLimit, type SurvivePlan, type SurvivePoint } from './points.ts';
import { MEBIBYTE, nextLimit, ruleText } from './search.ts';
import { STREAMS_VARIABLE, type SurviveSettings } from './settings.ts';
import { type Start, type StartContext, startUnder } from './start.ts';

export interface Searcher {
  search(point: SurvivePoint, planned: PlannedTrial, on: TrialEvents): Promise<SurviveEvidence>;
}

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 2;

/** CoreDNS does not start with less. */
const LEAST_BYTES = 16 * MEBIBYTE;

/** More starts than any search takes: bounds move by every start that is killed. */
const MAX_STARTS = 500;

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
    const share = ratioFromText(point.gomemlimit);
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
              env: {
                ...(point.lists === 'streamed' ? { [STREAMS_VARIABLE]: 'true' } : {}),
                ...(typeof share === 'number' ? { GOMEMLIMIT: `${Math.floor(limitBytes * share)}B` } : {}),
              },
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

  async function search(
    point: SurvivePoint,
    { key }: PlannedTrial,
    on: TrialEvents,
  ): Promise<SurviveEvidence> {
    const starts: StartResult[] = [];
    const streamed = new Set<string>();
    let usual: StepSeconds = {};
    const { resolution, starts: wanted } = settings;
    const options = {
      first: firstLimit(point),
      least: LEAST_BYTES,
      most: decided.mostBytes,
      resolution,
      starts: wanted,
    };
    while (starts.length < MAX_STARTS) {
      const tried = starts.map((each) => ({
        ...each,
        survived: each.outcome === 'survived',
        peakBytes: isPeakOwn(point) ? each.peakBytes : null,
      }));
      const next = nextLimit(tried, options);
      if (next.kind === 'found') return { ...next, starts, streamed: [...streamed] };
      if (next.kind === 'beyond') break;
      const number = starts.length + 1;
      const title = `start ${number}, ${formatBytes(next.limitBytes)}`;
      const raw = `${directory}/raw/${fileNameOf(key)}/${number}`;
      const { result, streamed: read, steps } = await start(point, next.limitBytes, raw, on, title, usual);
      starts.push(result);
      const { outcome, during } = result;
      on.part(`${title}: ${outcome}${during === null ? '' : ` (${during})`}`);
      // The first that survives: its limit is the largest, so that memory slows it the least.
      if (result.outcome === 'survived' && usual['cold start'] === undefined) usual = steps;
      for (const name of read) streamed.add(name);
    }
    throw new BenchError('E_NO_ANSWER', `${key}: no limit was survived by ${formatCount(wanted)} starts`, {
      evidence: starts
        .slice(-5)
        .map(({ limitBytes, outcome, during }) => `${formatBytes(limitBytes)}: ${outcome} (${during})`),
      fix: 'Allow larger limits with --memory, or measure fewer objects.',
    });
  }

  return {
    context: { search },
    environment,
    programs: programs.servers,
    provisioned: programs.provisioned,
    conditions: {
      'load generator': `${session.loader.kind} ${session.loader.version}`,
      'side by side': `up to ${decided.lanes} starts`,
      'limit survived': ruleText(settings.starts),
      ...(settings.factors.lists?.includes('streamed') === true
        ? { 'streamed lists': `${STREAMS_VARIABLE}=true in the environment of CoreDNS` }
        : {}),
    },
    warnings: loadAverageWarnings(environment),
    ...revised,
    [Symbol.asyncDispose]: () => session.close(),
  };
}
