/** Starts of a private CoreDNS on a cluster, one after the other, with synthetic objects that are kept while the point is the same. */
import { kubernetesOf } from '../../../config/kubernetes-settings.ts';
import type { Opened, OpenRequest, TrialEvents } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { imageRecord } from '../../../servers/image-record.ts';
import { describeBoth } from '../../../targets/kubernetes/cluster-facts.ts';
import { namespaceOf } from '../../../targets/kubernetes/objects/labels.ts';
import { openClient } from '../../../targets/kubernetes/open-cluster.ts';
import { demandPermissions } from '../../../targets/kubernetes/permissions.ts';
import type { Phase, PhaseFigures } from '../beside/phases.ts';
import { serverImage } from '../cluster/images.ts';
import { KeptObjects, openPrivateDns, type PrivateDns } from '../cluster/private-dns.ts';
import type { StartResult } from '../cluster/start-dns.ts';
import { needsPods } from '../cluster/synthetic-objects.ts';
import { syntheticPermissions } from '../cluster/synthetic-run.ts';
import type { MemoryEvidence, MemoryStage } from './evidence.ts';
import type { MemoryPlan, Sampler } from './here.ts';
import { clusterConfiguration, createdSize, type MemoryPoint, rateOf } from './points.ts';
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
    readings: null,
    heap: {
      allocatedBytes: phase.heapAllocBytes,
      inUseBytes: phase.heapInuseBytes,
      releasedBytes: null,
      systemBytes: phase.heapSysBytes,
      nextCollectionBytes: phase.nextCollectionBytes,
      collections: null,
    },
  };
}

const peakOf = ({ peakBytes }: PhaseFigures, seconds: number | null) => ({
  peak: { anonymousBytes: peakBytes, residentBytes: null },
  seconds,
});

/** @throws BenchError `E_SERVER_DIED` if CoreDNS ended before its time */
function evidenceOf(
  { phases, queries, death }: StartResult,
  { counts, creation, clusterDns }: PrivateDns,
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
    if (found === undefined)
      throw new BenchError('E_INTERNAL', `no phase ${name}`, { fix: 'Report this bug.' });
    return found;
  };
  const [cold, load] = [phaseOf('cold-start'), phaseOf('load')];
  const { sent, answered, lost } = load.queries;
  return {
    coldStart: peakOf(cold, cold.readySeconds ?? null),
    relist: peakOf(phaseOf('relist'), null),
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
    apiServerBytes: null,
    neighbours: 0,
    cluster: { counts, creation, clusterDns, queries, workingSetBytes: load.workingSetBytes },
  };
}

export async function openOnCluster({
  world,
  settings,
  decided,
  runId,
  signal,
}: OpenRequest<MemorySettings, MemoryPlan>): Promise<Opened<Sampler>> {
  const cluster = kubernetesOf(settings);
  const client = await openClient(world, cluster.context);
  const { points } = decided;
  const withPods = points.some((point) => needsPods(clusterConfiguration(point.configuration)));
  const namespace = namespaceOf(cluster.namespacePrefix, runId);
  await demandPermissions(client, syntheticPermissions(withPods), namespace, signal);
  const described = await describeBoth(world, client, cluster, signal);
  const [wantedQps, seconds] = [rateOf(settings), settings.quick ? 1 : PHASE_SECONDS];
  const servers = [...new Set(points.map(({ server }) => server))];
  const imageOf = (server: string) => serverImage(cluster, server, settings.corednsVersion);
  const objects = new KeptObjects<MemoryPoint>(
    ({ key, server }) => key.slice(server.length),
    (point) =>
      openPrivateDns({
        ...{ world, client, settings: cluster, runId, signal },
        size: createdSize(point),
        configuration: clusterConfiguration(point.configuration),
      }),
  );
  async function start(point: MemoryPoint, _planned: unknown, on: TrialEvents) {
    on.phase('creating objects');
    const dns = await objects.of(point);
    on.phase('starting the private CoreDNS');
    const image = imageOf(point.server);
    const result = await dns.start({
      ...{ image, seconds, phases: PHASES, memory: null },
      queriesPerSecond: wantedQps,
    });
    return evidenceOf(result, dns, wantedQps, seconds);
  }
  return {
    context: { start },
    ...described,
    programs: servers.map((server) => imageRecord(server, 'coredns-cluster', imageOf(server))),
    provisioned: [],
    conditions: { 'load generator': 'a program in the pod' },
    [Symbol.asyncDispose]: () => objects[Symbol.asyncDispose](),
  };
}
