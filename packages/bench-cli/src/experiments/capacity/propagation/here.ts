/** Propagation on this machine: starts of CoreDNS beside an API server of ours. */
import { defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
import type { Measuring, Opened, TargetRequest } from '../../../engine/experiment.ts';
import { fileNameOf } from '../../../text.ts';
import type { ConfigurationName } from '../configurations.ts';
import { openCoredns } from '../machine.ts';
import type { PropagationEvidence } from './evidence.ts';
import { measureStart } from './measure.ts';
import { type PropagationSettings, pollSecondsOf } from './settings.ts';
import { loadOf } from './words.ts';

/** A tenth of the Services has no address of its own. */
const HEADLESS = 0.1;

export async function openHere(
  request: TargetRequest<PropagationSettings>,
): Promise<Opened<Measuring<PropagationEvidence>>> {
  const { settings } = request;
  const opened = await openCoredns(request, 'capacity propagation', settings);
  const { context } = opened;
  return {
    ...opened,
    // No queries but its own are sent.
    conditions: {},
    context: {
      measure({ key, case: { subject, point } }, on) {
        const { objects, churn } = loadOf(subject);
        return measureStart(
          {
            ...context,
            services: settings.services,
            onFiles: on.files,
            pollSeconds: pollSecondsOf(settings),
            timeoutSeconds: settings.timeout,
            onPhase: on.phase,
          },
          {
            key,
            server: String(point.server),
            // The plan has no others.
            configuration: point.configuration as ConfigurationName,
            cluster: defineCluster({ ...specForObjects(objects), headless: HEADLESS }).spec,
            directory: `${context.rawDirectory}/${fileNameOf(key)}`,
          },
          churn,
        );
      },
    },
  };
}
