/** `bench lookup --target kubernetes`: the cluster as the place of a run. */
import { describeEnvironment } from '../../../environment/describe.ts';
import type { ClusterDetails } from '../../../tiger-bench/results-file.ts';
import type { World } from '../../../world.ts';
import type { Shown } from '../finish.ts';
import { newLookupRecord } from '../new-record.ts';
import type { LookupRecord } from '../record.ts';
import { announce, inRunFolder } from '../run.ts';
import type { LookupSettings } from '../settings.ts';
import { type Running, takeTrials } from '../take-trials.ts';
import { clusterSubjects } from './cluster-subjects.ts';
import { inCluster } from './cluster-target.ts';
import { type ClusterRunOptions, clusterOptions } from './from-settings.ts';

/** How a run from a file of tiger-bench judges the cluster, and what it keeps in its record. */
export interface TigerHooks {
  onDetails(details: ClusterDetails): void;
  kept(): LookupRecord['tigerBench'];
}

/** The run, with its cluster opened and left as it was. */
export function measureInCluster(
  running: Running,
  options: ClusterRunOptions,
  argv: readonly string[],
  hooks?: TigerHooks,
): Promise<LookupRecord> {
  const { world, id: runId, display, interruption } = running;
  const { signal, force } = interruption;
  const say = (text: string) => display.line(`  ${text}`);
  let details: ClusterDetails | null = null;
  const onDetails = (found: ClusterDetails) => {
    details = found;
    hooks?.onDetails(found);
  };
  const request = { world, runId, options, signal, force, say, onDetails };
  return inCluster(request, async (place) => {
    const environment = await describeEnvironment(world);
    const record: LookupRecord = {
      ...newLookupRecord({
        id: runId,
        argv: [...argv],
        startedAt: world.clock.now(),
        environment: { ...environment, cluster: place.cluster },
        warnings: [...place.warnings],
        target: 'kubernetes',
        url: options.url.href,
        durationSeconds: options.durationSeconds,
        rounds: options.rounds,
        paceSeconds: options.paceSeconds,
        simulation: null,
        resolvConf: null,
        // Those of the image: nobody asks them.
        tools: { curl: null, tcpdump: null },
        serverRecords: [],
        subjects: clusterSubjects(options),
      }),
      tigerBench: hooks?.kept() ?? (details === null ? null : { ClusterDetails: details }),
    };
    announce(display, record);
    return await takeTrials(running, record, place.measure);
  });
}

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function runInCluster(
  world: World,
  settings: LookupSettings,
  argv: readonly string[],
  show: Shown,
): Promise<number> {
  const options = clusterOptions(world, settings);
  const { status } = await inRunFolder(world, { out: settings.out, show }, (running) =>
    measureInCluster(running, options, argv),
  );
  return status;
}
