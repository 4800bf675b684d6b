/** Propagation on a cluster: starts of a private CoreDNS, in whose pod Services are created and asked for until they resolve. */
import { type ClusterSpec, defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
import { kubernetesOf } from '../../../../config/kubernetes-settings.ts';
import type {
  Measuring,
  Opened,
  PlannedTrial,
  TargetRequest,
  TrialEvents,
} from '../../../../engine/experiment.ts';
import { formatCount } from '../../../../report/numbers.ts';
import { imageRecord } from '../../../../servers/image-record.ts';
import { describeBoth } from '../../../../targets/kubernetes/cluster-facts.ts';
import { openClient } from '../../../../targets/kubernetes/open-cluster.ts';
import { runOnce } from '../../../../targets/kubernetes/run-job.ts';
import { guardClusterDns } from '../../cluster/cluster-dns-guard.ts';
import { dnsPod } from '../../cluster/dns-job.ts';
import { serverImage } from '../../cluster/images.ts';
import { SERVICE_RULE } from '../../cluster/pod-rights.ts';
import { endIfRefused, KeptObjects } from '../../cluster/private-dns.ts';
import { SERVICE_LABELS } from '../../cluster/synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRun } from '../../cluster/synthetic-run.ts';
import { CONFIGURATIONS, type ConfigurationName } from '../../configurations.ts';
import type { PropagationEvidence } from '../evidence.ts';
import { type PropagationSettings, pollSecondsOf } from '../settings.ts';
import { loadOf } from '../words.ts';
import { readPropagation } from './lines.ts';

export async function openOnCluster(
  request: TargetRequest<PropagationSettings>,
): Promise<Opened<Measuring<PropagationEvidence>>> {
  const { world, settings: asked, runId, display } = request;
  const settings = kubernetesOf(asked);
  const client = await openClient(world, settings.context);
  const described = await describeBoth(world, client, settings, request.signal);
  const guard = await guardClusterDns(client, request.signal);
  const signal = AbortSignal.any([request.signal, guard.signal]);
  const imageOf = (server: string) => serverImage(settings, server, asked.corednsVersion);
  const objects = new KeptObjects<ClusterSpec, SyntheticRun>(
    ({ services, pods }) => `${formatCount(services)} services, ${formatCount(pods)} pods`,
    ({ services, pods, endpoints }, name) => {
      display.line(services + pods === 0 ? 'creating the namespace' : `creating objects: ${name}`);
      const size = { services, pods, endpoints };
      return openSyntheticRun({
        ...{ world, client, settings, runId, size, withPods: false, podRules: [SERVICE_RULE], signal },
      });
    },
  );
  return {
    ...described,
    programs: asked.servers.map((server) => imageRecord(server, 'coredns-cluster', imageOf(server))),
    provisioned: [],
    conditions: {},
    lost: guard.signal,
    context: {
      measure: (planned, on) =>
        measureStart(
          { objects, asked, corednsImage: imageOf(String(planned.case.point.server)), signal },
          planned,
          on,
        ),
    },
    closing: guard.closing,
    async [Symbol.asyncDispose]() {
      await guard.end();
      display.line('deleting everything');
      await objects[Symbol.asyncDispose]();
    },
  };
}

interface Place {
  readonly objects: KeptObjects<ClusterSpec, SyntheticRun>;
  readonly asked: PropagationSettings;
  readonly corednsImage: string;
  readonly signal: AbortSignal;
}

/** A Service takes 0.2 s and what the API server needs; getting ready may take two minutes. */
const SECONDS_PER_SERVICE = 2;
const SECONDS_BESIDE = 300;

async function measureStart(
  { objects: kept, asked, corednsImage, signal }: Place,
  { order, case: { subject, point } }: PlannedTrial,
  on: TrialEvents,
): Promise<PropagationEvidence> {
  const { services, timeout } = asked;
  const { objects, churn } = loadOf(subject);
  const unit = `trial-${order + 1}`;
  // The plan has no others.
  const configuration = CONFIGURATIONS[point.configuration as ConfigurationName];
  let evidence: PropagationEvidence | null = null;
  const reader = readPropagation(
    (done) => on.phase(`${done} of ${services} Services`),
    (figures) => {
      evidence = figures;
    },
  );
  try {
    const run = await kept.of(defineCluster({ ...specForObjects(objects), headless: 0.1 }).spec);
    on.phase('starting');
    const pod = dnsPod(run.settings, run.namespace, {
      corednsImage,
      corefile: { cache: configuration.choice.cache ?? 'on' },
      reads: 'by itself',
      entry: 'propagation.mjs',
      env: {
        CHURN: String(churn),
        SERVICES: String(services),
        POLL_MS: String(pollSecondsOf(asked) * 1000),
        TIMEOUT_SECONDS: String(timeout),
        PREFIX: unit,
        LABELS: JSON.stringify(SERVICE_LABELS),
      },
    });
    on.files(String(point.server), { Corefile: pod.corefile });
    await runOnce(run, {
      ...{ ...pod, name: unit, isUnique: true, signal, onLine: reader.onLine },
      runSeconds: SECONDS_BESIDE + services * SECONDS_PER_SERVICE + timeout,
    });
    reader.demandComplete();
    if (evidence === null) throw new Error('no figures');
    return evidence;
  } catch (error) {
    throw endIfRefused(error);
  }
}
