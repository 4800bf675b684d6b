/** What `bench capacity caching --target kubernetes` measures: caching tiers, each trial in a pod of its own. */
import { defineExternal } from '@dinodns-bench/cluster-objects';
import type { CannonInput } from '@dinodns-bench/load';
import { z } from 'zod';
import { type KubernetesSettings, kubernetesOf } from '../../../../config/kubernetes-settings.ts';
import { closedAfter } from '../../../../engine/close.ts';
import type { Measuring, Opened, PlannedTrial, TargetRequest } from '../../../../engine/experiment.ts';
import { BenchError } from '../../../../errors.ts';
import { parseEvent } from '../../../../loaders/builtin/events.ts';
import { SEGMENTATION } from '../../../../loaders/builtin/options.ts';
import { loadResultOf } from '../../../../loaders/builtin/result.ts';
import { parseLine } from '../../../../process.ts';
import { formatCount } from '../../../../report/numbers.ts';
import { imageRecord } from '../../../../servers/image-record.ts';
import { loadServers } from '../../../../servers/load.ts';
import type { Server } from '../../../../servers/server.ts';
import { describeBoth } from '../../../../targets/kubernetes/cluster-facts.ts';
import { imagesOf } from '../../../../targets/kubernetes/images.ts';
import { openClient } from '../../../../targets/kubernetes/open-cluster.ts';
import { runOnce } from '../../../../targets/kubernetes/run-job.ts';
import { counted } from '../../../../text.ts';
import { BENCH_VERSION } from '../../../../version.ts';
import type { LookupKind } from '../../../../workload/cluster-names.ts';
import type { World } from '../../../../world.ts';
import { openSyntheticRun, type SyntheticRun } from '../../cluster/synthetic-run.ts';
import { demandClusterServers } from '../../machine.ts';
import type { CasesEvidence, CasesPlan } from '../evidence.ts';
import { figuresOf, type Used } from '../server-cases.ts';
import type { CachingSettings } from '../settings.ts';
import { DNSMASQ, KUBE_DNS, NEGATIVE, planTiers, tierName, tierPoint } from '../subjects.ts';
import { LOOKUP_RULES } from '../throughput.ts';
import { tierPod, watchFiles } from './job.ts';
import { type TierImages, tierOf } from './tiers.ts';

/** Services of the run: each takes an address of the cluster, and all fit into every cache. */
export const SERVICES = 100;

const EXTERNAL = defineExternal();

/** As in the published measurements; latency at saturation mirrors it. */
const IN_FLIGHT = 100;

/** Scheduling, the start of the servers, and the end of the pod. */
const POD_SECONDS = 15;

/** The end of the load, and the pods of a slow node. */
const SECONDS_BESIDE = 60;

const KUBE_DNS_FLAGS = {
  kubeDnsImage: '--kube-dns-image',
  kubeDnsDnsmasqImage: '--kube-dns-dnsmasq-image',
  kubeDnsSidecarImage: '--kube-dns-sidecar-image',
} as const;

type ImageSettings = Partial<Pick<CachingSettings, 'dnsmasqImage' | keyof typeof KUBE_DNS_FLAGS>>;

/** @throws BenchError `E_USAGE` for a part of kube-dns's images */
export function tierImages(settings: ImageSettings, coredns: string): TierImages {
  const {
    dnsmasqImage = null,
    kubeDnsImage: kubedns,
    kubeDnsDnsmasqImage: nanny,
    kubeDnsSidecarImage: sidecar,
  } = settings;
  if (kubedns !== undefined && nanny !== undefined && sidecar !== undefined)
    return { coredns, dnsmasq: dnsmasqImage, kubeDns: { kubedns, dnsmasq: nanny, sidecar } };
  const missing = Object.entries(KUBE_DNS_FLAGS).filter(
    ([name]) => settings[name as keyof ImageSettings] === undefined,
  );
  if (missing.length === Object.keys(KUBE_DNS_FLAGS).length)
    return { coredns, dnsmasq: dnsmasqImage, kubeDns: null };
  throw new BenchError('E_USAGE', 'kube-dns is three containers, and not all of their images are given', {
    fix: `Give ${missing.map(([, flag]) => flag).join(' and ')} as well.`,
  });
}

function demandPossible({ cache }: CachingSettings): void {
  if (!cache.includes('overflow')) return;
  throw new BenchError('E_USAGE', '--cache: overflow is measured on one machine only', {
    fix: 'On a cluster, give --cache cached,off or one of them: overflowing the cache would take thousands of Services.',
  });
}

export async function clusterCachingPlan(given: CachingSettings, world: World): Promise<CasesPlan> {
  demandClusterServers(given.servers);
  demandPossible(given);
  const { serverNode: loaderNode, serverTolerations: loaderTolerations } = given;
  // The load generator is in the pod of the servers.
  const settings = kubernetesOf({ ...given, loaderNode, loaderTolerations });
  const [coredns] = await loadServers(world, given.servers, given);
  if (coredns === undefined) throw new Error('no server');
  const builtin = imagesOf(settings, 'builtin');
  const images = tierImages(given, builtin.of(coredns));
  const kinds = [
    ...(images.dnsmasq === null ? [] : [DNSMASQ]),
    ...(images.kubeDns === null ? [] : [KUBE_DNS]),
  ];
  const tiers = kinds.flatMap((kind) => [kind, `${kind}${NEGATIVE}`]);
  const means = { given, settings, images, coredns, loader: builtin.loader };
  return {
    ...planTiers(coredns, tiers, given, [{}], given.duration + POD_SECONDS),
    decided: { open: (request) => openTiers(request, means) },
  };
}

interface Means {
  readonly given: CachingSettings;
  readonly settings: KubernetesSettings;
  readonly images: TierImages;
  readonly coredns: Server;
  /** Image of the load generator. */
  readonly loader: string;
}

function programsOf({ images, coredns }: Means) {
  const { dnsmasq, kubeDns } = images;
  return [
    imageRecord(coredns.name, coredns.kind, images.coredns),
    ...(dnsmasq === null ? [] : [imageRecord(tierName(DNSMASQ), DNSMASQ, dnsmasq)]),
    ...Object.entries(kubeDns ?? {}).map(([name, image]) =>
      imageRecord(`${KUBE_DNS}: ${name}`, KUBE_DNS, image),
    ),
  ];
}

/** A namespace with the Services that are looked up, and the right to read; everything is deleted at the end. */
async function openTiers(
  { world, runId, display, signal }: TargetRequest<unknown>,
  means: Means,
): Promise<Opened<Measuring<CasesEvidence>>> {
  const { settings, images, given, loader } = means;
  const client = await openClient(world, settings.context);
  const described = await describeBoth(world, client, settings, signal);
  display.line(`creating ${counted(SERVICES, 'Service')}`);
  const size = { services: SERVICES, pods: 0, headless: 0 };
  const run = await openSyntheticRun({ world, client, settings, runId, size, withPods: false, signal });
  const close = async () => {
    display.line('deleting everything');
    await run[Symbol.asyncDispose]();
  };
  const watch = watchFiles(run.namespace, runId);
  await client.create('ConfigMap', watch.object, signal).catch((error) => closedAfter(error, close));
  async function measure({ order, case: item }: PlannedTrial): Promise<CasesEvidence> {
    const { subject } = item;
    const { cache, lookup } = tierPoint(item);
    const tier = tierOf(images, { subject, cache });
    let end: DriverEnd | null = null;
    let usage: Used | null = null;
    await runOnce(run, {
      ...tierPod({
        ...{ settings: run.settings, tier, watch: watch.mount, loaderImage: loader },
        load: tierLoad(lookup, run, given, tier.port),
        upstreamDelaySeconds: given.upstreamDelay / 1000,
      }),
      ...{ name: `trial-${order + 1}`, isUnique: true, what: subject, signal },
      runSeconds: given.duration + given.timeout + SECONDS_BESIDE,
      onLine(line) {
        const event = parseEvent(line);
        if (event?.event === 'result' || event?.event === 'error') end = event;
        else usage = parseLine(usageSchema, line)?.usage ?? usage;
      },
    });
    return evidenceOf(end, usage);
  }
  return {
    context: { measure },
    ...described,
    warnings: [...described.warnings, ...run.warnings],
    programs: programsOf(means),
    provisioned: [],
    conditions: { 'load generator': `builtin ${BENCH_VERSION}, in the pod`, 'CPU limits': 'none' },
    [Symbol.asyncDispose]: close,
  };
}

/** What the generator is told: lookups as the resolver of a pod of the namespace makes them. */
export function tierLoad(
  lookup: LookupKind,
  { cluster, namespace }: Pick<SyntheticRun, 'cluster' | 'namespace'>,
  { duration, timeout }: Pick<CachingSettings, 'duration' | 'timeout'>,
  port: number,
): CannonInput {
  const { search, ndots, types } = LOOKUP_RULES;
  return {
    server: `127.0.0.1:${port}`,
    transport: 'udp',
    workload: {
      kind: 'kubernetes',
      names: Array.from({ length: SERVICES }, (_, index) =>
        lookup === 'internal' ? cluster.service(index).name : EXTERNAL.name(index),
      ),
      namespace,
      clusterDomain: cluster.spec.domain,
      search,
      ndots,
      types: [...types],
    },
    load: { kind: 'closed', outstanding: IN_FLIGHT, maxRate: null },
    durationSeconds: duration,
    workers: 1,
    timeoutSeconds: timeout,
    segmentation: SEGMENTATION,
  };
}

const usageSchema = z.object({ usage: z.object({ cpuSeconds: z.number(), memoryBytes: z.number() }) });

type DriverEnd = Extract<NonNullable<ReturnType<typeof parseEvent>>, { readonly event: 'result' | 'error' }>;

/** @throws BenchError `E_LOADER_FAILED` without figures, `E_WRONG_ANSWER` if lookups of names that exist found nothing */
export function evidenceOf(end: DriverEnd | null, usage: Used | null): CasesEvidence {
  if (end?.event !== 'result') {
    throw new BenchError('E_LOADER_FAILED', end?.message ?? 'the load generator ended without a result', {
      fix: '`kubectl get events` may say why its pod ended.',
    });
  }
  const load = loadResultOf(end.result, []);
  const { lookups, queriesLost } = load;
  // A lookup also fails when a query of it was lost.
  const empty = (lookups?.failed ?? 0) - queriesLost;
  if (empty > 0) {
    throw new BenchError(
      'E_WRONG_ANSWER',
      `${formatCount(empty)} of ${formatCount(lookups?.count ?? 0)} lookups of names that exist found nothing`,
      { fix: 'Check the images, and that the servers may read the API server.' },
    );
  }
  const limitedBy = end.result.generator.wasTheLimit ? 'loader' : 'unknown';
  return {
    names: SERVICES,
    saturation: figuresOf(load, usage && { ...usage, memorySource: 'anonymous' }, limitedBy),
    half: null,
    counters: {},
    // Every lookup had to find something instead.
    checkedAnswers: 0,
  };
}
