/** Propagation on a cluster: starts of a private CoreDNS, in whose pod Services are created and asked for until they resolve. */
import { defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
import { kubernetesOf } from '../../../../config/kubernetes-settings.ts';
import type { Opened, PlannedTrial, TrialEvents } from '../../../../engine/experiment.ts';
import { imageRecord } from '../../../../servers/image-record.ts';
import { describeBoth } from '../../../../targets/kubernetes/cluster-facts.ts';
import { checkerImage } from '../../../../targets/kubernetes/images.ts';
import { namespaceOf, unitSelector } from '../../../../targets/kubernetes/objects/labels.ts';
import { openClient } from '../../../../targets/kubernetes/open-cluster.ts';
import { runJob } from '../../../../targets/kubernetes/run-job.ts';
import { guardClusterDns } from '../../cluster/cluster-dns-guard.ts';
import { type DnsPodRequest, dnsPodJob } from '../../cluster/dns-job.ts';
import { serverImage } from '../../cluster/images.ts';
import { endIfRefused } from '../../cluster/private-dns.ts';
import { SERVICE_LABELS } from '../../cluster/synthetic-objects.ts';
import type { ConfigurationName } from '../../configurations.ts';
import type { PropagationContext, PropagationRequest } from '../context.ts';
import type { PropagationEvidence } from '../evidence.ts';
import { type PropagationSettings, pollSecondsOf } from '../settings.ts';
import { loadOf } from '../words.ts';
import { readPropagation } from './lines.ts';
import { createPlaces, type Places } from './places.ts';

export async function openOnCluster(request: PropagationRequest): Promise<Opened<PropagationContext>> {
  const { world, settings: asked, runId, display } = request;
  const settings = kubernetesOf(asked);
  const client = await openClient(world, settings.context);
  const described = await describeBoth(world, client, settings, request.signal);
  const guard = await guardClusterDns(client, request.signal);
  const signal = AbortSignal.any([request.signal, guard.signal]);
  const namespace = namespaceOf(settings.namespacePrefix, runId);
  const imageOf = (server: string) => serverImage(settings, server, asked.corednsVersion);
  let onFiles: TrialEvents['files'] = () => undefined;
  const places = createPlaces({
    ...{ world, client, settings, runId, namespace, signal },
    onFiles: (server, files) => onFiles(server, files),
    tell: (text) => display.line(text),
  });
  const place = { client, settings, asked, namespace, runId, observerImage: checkerImage(settings), signal };
  return {
    ...described,
    programs: asked.servers.map((server) => imageRecord(server, 'coredns-cluster', imageOf(server))),
    provisioned: [],
    conditions: {},
    lost: guard.signal,
    context: {
      measure(planned, on) {
        onFiles = on.files;
        const corednsImage = imageOf(String(planned.case.point.server));
        return measureStart({ ...place, corednsImage }, places, planned, on);
      },
    },
    closing: guard.closing,
    async [Symbol.asyncDispose]() {
      await guard.end();
      await places.close();
    },
  };
}

interface Place
  extends Pick<DnsPodRequest, 'settings' | 'namespace' | 'runId' | 'corednsImage' | 'observerImage'> {
  readonly client: Awaited<ReturnType<typeof openClient>>;
  readonly asked: PropagationSettings;
  readonly signal: AbortSignal;
}

/** A Service takes 0.2 s and what the API server needs; getting ready may take two minutes. */
const SECONDS_PER_SERVICE = 2;
const SECONDS_BESIDE = 300;

async function measureStart(
  place: Place,
  places: Places,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<PropagationEvidence> {
  const { client, namespace, runId, settings, asked, signal } = place;
  const { services, timeout } = asked;
  const { subject, point } = planned.case;
  const { objects, churn } = loadOf(subject);
  const unit = `trial-${planned.order + 1}`;
  const runSeconds = SECONDS_BESIDE + services * SECONDS_PER_SERVICE + timeout;
  let evidence: PropagationEvidence | null = null;
  const reader = readPropagation(
    (done) => on.phase(`${done} of ${services} Services`),
    (figures) => {
      evidence = figures;
    },
  );
  try {
    const opened = await places.open({
      server: String(point.server),
      // The plan has no others.
      configuration: point.configuration as ConfigurationName,
      cluster: defineCluster({ ...specForObjects(objects), headless: 0.1 }).spec,
    });
    on.phase('starting');
    const pod = { ...place, ...opened, unit, memory: null, deadlineSeconds: settings.readyTime + runSeconds };
    await runJob({
      client,
      namespace,
      labels: unitSelector(runId, unit),
      what: 'the private CoreDNS',
      signal,
      job: dnsPodJob(pod, {
        entry: 'propagation.mjs',
        env: {
          CHURN: String(churn),
          SERVICES: String(services),
          POLL_MS: String(pollSecondsOf(asked) * 1000),
          TIMEOUT_SECONDS: String(timeout),
          PREFIX: unit,
          LABELS: JSON.stringify(SERVICE_LABELS),
        },
      }),
      scheduleSeconds: settings.scheduleTime,
      startSeconds: settings.readyTime,
      runSeconds,
      onLine: reader.onLine,
    });
    reader.demandComplete();
    if (evidence === null) throw new Error('no figures');
    return evidence;
  } catch (error) {
    throw endIfRefused(error);
  }
}
