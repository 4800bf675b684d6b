/** Starts of a private CoreDNS on a cluster, one after the other, with synthetic objects that are kept while the point is the same. */
import type {
  Measuring,
  Opened,
  OpenRequest,
  PlannedTrial,
  TrialEvents,
} from '../../../engine/experiment.ts';
import { BenchError, internalError } from '../../../errors.ts';
import type { Phase, PhaseFigures } from '../beside/phases.ts';
import { openStarts } from '../cluster/open-starts.ts';
import { openPrivateDns, type PrivateDns } from '../cluster/private-dns.ts';
import type { StartResult } from '../cluster/start-dns.ts';
import { needsPods } from '../cluster/synthetic-objects.ts';
import type { MemoryEvidence, MemoryStage } from './evidence.ts';
import type { MemoryPlan } from './here.ts';
import { clusterConfiguration, createdSize, type MemoryPoint, pointOf, rateOf } from './points.ts';
import type { MemorySettings } from './settings.ts';

/** Those that only read: the others change objects, which the program beside CoreDNS may not do here. */
const PHASES = ['cold-start', 'rest', 'cache', 'load', 'relist'] as const satisfies readonly Phase[];

/** How long memory at rest and under load is watched; with --quick, a second. */
const PHASE_SECONDS = 20;

type PhaseResult = StartResult['phases'][number];

function stageOf(phase: PhaseFigures): MemoryStage {
  return {
    anonymousBytes: phase.p95Bytes ?? phase.peakBytes,
    residentBytes: phase.rssBytes,
    proportionalBytes: phase.pssBytes,
    heap: {
      allocatedBytes: phase.heapAllocBytes,
      inUseBytes: phase.heapInuseBytes,
      releasedBytes: null,
      nextCollectionBytes: phase.nextCollectionBytes,
      collections: null,
    },
  };
}

const peakOf = ({ peakBytes }: PhaseFigures) => ({ peak: { anonymousBytes: peakBytes } });

/** @throws BenchError `E_SERVER_DIED` if CoreDNS ended before its time */
function evidenceOf(
  { phases, queries, death }: StartResult,
  { counts, creation, clusterDns, own }: PrivateDns,
  wantedQps: number,
  seconds: number,
): MemoryEvidence {
  if (death !== null || queries === null) {
    throw new BenchError('E_SERVER_DIED', death ?? 'CoreDNS ended too early', {
      fix: 'See the memory of the node, and the limits of the namespace.',
    });
  }
  const phaseOf = (name: (typeof PHASES)[number]): PhaseResult => {
    const found = phases.find(({ phase }) => phase === name);
    if (found === undefined) throw internalError(`no phase ${name}`);
    return found;
  };
  const load = phaseOf('load');
  const { sent, answered, lost } = load.queries;
  return {
    coldStart: peakOf(phaseOf('cold-start')),
    relist: peakOf(phaseOf('relist')),
    stages: {
      loaded: stageOf(phaseOf('rest')),
      settled: null,
      fullCache: stageOf(phaseOf('cache')),
      underLoad: stageOf(load),
      reread: null,
    },
    settling: null,
    cacheEntries: null,
    load: { wantedQps, heldQps: answered / seconds, lostRatio: sent === 0 ? 0 : lost / sent },
    cluster: { own, counts, creation, clusterDns, queries, workingSetBytes: load.workingSetBytes },
  };
}

export async function openOnCluster(
  request: OpenRequest<MemorySettings, MemoryPlan>,
): Promise<Opened<Measuring<MemoryEvidence>>> {
  const { settings, decided } = request;
  const [wantedQps, seconds] = [rateOf(settings), settings.quick ? 1 : PHASE_SECONDS];
  const { objectsOf, imageOf, opened } = await openStarts(request, {
    withPods: decided.points.some((point) => needsPods(clusterConfiguration(point.configuration))),
    nameOf: ({ key, server }: MemoryPoint) => key.slice(server.length),
    openObjects: (place, point) =>
      openPrivateDns({
        ...place,
        sizeBeside: () => createdSize(point),
        configuration: clusterConfiguration(point.configuration),
      }),
  });
  async function measure({ case: item }: PlannedTrial, on: TrialEvents) {
    const point = pointOf(item);
    const dns = await objectsOf(point);
    on.phase('starting the private CoreDNS');
    const result = await dns.start({
      ...{ image: imageOf(point.server), seconds, phases: PHASES, memory: null },
      queriesPerSecond: wantedQps,
    });
    return evidenceOf(result, dns, wantedQps, seconds);
  }
  return {
    ...opened,
    context: { measure },
    conditions: { 'load generator': 'a program in the pod' },
  };
}
