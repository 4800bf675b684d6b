/** Propagation on a cluster: starts of a private CoreDNS, in whose pod Services are created and asked for until they resolve. */
import { defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
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
import { openSyntheticRun } from '../../cluster/synthetic-run.ts';
import { CONFIGURATIONS, type ConfigurationName } from '../../configurations.ts';
import { loadOf, type PropagationEvidence } from '../evidence.ts';
import { type PropagationSettings, pollSecondsOf } from '../settings.ts';
import { readPropagation } from './lines.ts';

/** A Service takes 0.2 s and what the API server needs; getting ready may take two minutes. */
const SECONDS_PER_SERVICE = 2;
const SECONDS_BESIDE = 300;

export async function openOnCluster(
  request: TargetRequest<PropagationSettings>,
): Promise<Opened<Measuring<PropagationEvidence>>> {
  const { settings } = request;
  const { services, timeout } = settings;
  const { objectsOf, imageOf, signal, opened } = await openStarts(request, {
    withPods: false,
    podRules: [SERVICE_RULE],
    nameOf: String,
    openObjects: (place, objects: number) => {
      const { spec } = defineCluster({ ...specForObjects(objects), headless: 0.1 });
      const { services, pods, endpoints } = spec;
      return openSyntheticRun({ ...place, size: { services, pods, endpoints }, withPods: false });
    },
  });

  async function measure(
    { order, case: { subject, point } }: PlannedTrial,
    on: TrialEvents,
  ): Promise<PropagationEvidence> {
    const { objects, churn } = loadOf(subject);
    const server = String(point.server);
    const unit = `trial-${order + 1}`;
    // The plan has no others.
    const configuration = CONFIGURATIONS[point.configuration as ConfigurationName];
    const reader = readPropagation((done) => on.phase(`${done} of ${services} Services`));
    try {
      const run = await objectsOf(objects);
      on.phase('starting');
      const pod = dnsPod(run.settings, run.namespace, {
        corednsImage: imageOf(server),
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
      on.files(server, { Corefile: pod.corefile });
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

  return { ...opened, conditions: {}, context: { measure } };
}
