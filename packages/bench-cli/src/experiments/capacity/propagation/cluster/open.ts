/** Propagation on a cluster: starts of a private CoreDNS, in whose pod Services are created and asked for until they resolve. */
import { type ClusterSpec, defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
import type {
  Measuring,
  Opened,
  PlannedTrial,
  TargetRequest,
  TrialEvents,
} from '../../../../engine/experiment.ts';
import { runOnce } from '../../../../targets/kubernetes/run-job.ts';
import { SERVICE_RULE } from '../../cluster/dns-account.ts';
import { dnsPod } from '../../cluster/dns-job.ts';
import { endIfRefused, openStarts } from '../../cluster/open-starts.ts';
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
  const { settings } = request;
  const { objectsOf, imageOf, signal, opened } = await openStarts(request, {
    withPods: false,
    podRules: [SERVICE_RULE],
    nameOf: ({ services, pods }: ClusterSpec) => `${services}/${pods}`,
    openObjects: (place, { services, pods, endpoints }) =>
      openSyntheticRun({ ...place, size: { services, pods, endpoints }, withPods: false }),
  });
  return {
    ...opened,
    conditions: {},
    context: {
      measure: (planned, on) =>
        measureStart(
          { objectsOf, settings, corednsImage: imageOf(String(planned.case.point.server)), signal },
          planned,
          on,
        ),
    },
  };
}

interface Place {
  objectsOf(spec: ClusterSpec): Promise<SyntheticRun>;
  readonly settings: PropagationSettings;
  readonly corednsImage: string;
  readonly signal: AbortSignal;
}

/** A Service takes 0.2 s and what the API server needs; getting ready may take two minutes. */
const SECONDS_PER_SERVICE = 2;
const SECONDS_BESIDE = 300;

async function measureStart(
  { objectsOf, settings, corednsImage, signal }: Place,
  { order, case: { subject, point } }: PlannedTrial,
  on: TrialEvents,
): Promise<PropagationEvidence> {
  const { services, timeout } = settings;
  const { objects, churn } = loadOf(subject);
  const unit = `trial-${order + 1}`;
  // The plan has no others.
  const configuration = CONFIGURATIONS[point.configuration as ConfigurationName];
  const reader = readPropagation((done) => on.phase(`${done} of ${services} Services`));
  try {
    const run = await objectsOf(defineCluster({ ...specForObjects(objects), headless: 0.1 }).spec);
    on.phase('starting');
    const pod = dnsPod(run.settings, run.namespace, {
      corednsImage,
      corefile: { cache: configuration.choice.cache ?? 'on' },
      reads: 'by itself',
      entry: 'propagation.mjs',
      env: {
        CHURN: String(churn),
        SERVICES: String(services),
        POLL_MS: String(pollSecondsOf(settings) * 1000),
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
    const [evidence] = reader.figures();
    if (evidence === undefined) throw new Error('no figures');
    return evidence;
  } catch (error) {
    throw endIfRefused(error);
  }
}
