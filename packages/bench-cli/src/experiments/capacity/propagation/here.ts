/** Propagation on this machine: starts of CoreDNS beside an API server of ours. */
import { defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
import type { Opened } from '../../../engine/experiment.ts';
import { openServers, planServers } from '../../../engine/servers.ts';
import { fileNameOf } from '../../../text.ts';
import type { ConfigurationName } from '../configurations.ts';
import type { PropagationContext, PropagationRequest } from './context.ts';
import { measureStart } from './measure.ts';
import { pollSecondsOf } from './settings.ts';
import { loadOf } from './words.ts';

/** A tenth of the Services has no address of its own. */
const HEADLESS = 0.1;

export async function openHere(request: PropagationRequest): Promise<Opened<PropagationContext>> {
  const { world, settings } = request;
  const { servers, corednsVersion, provision, services } = settings;
  const { decided } = await planServers(
    world,
    'capacity propagation',
    // No queries but its own are sent: the load is only what the target wants to be opened with.
    {
      ...{ servers, corednsVersion, provision },
      baseline: servers[0],
      mode: 'multi',
      workload: ['lookup-internal'],
    },
    0,
  );
  const opened = await openServers({ ...request, settings: undefined, decided });
  const { context } = opened;
  return {
    ...opened,
    conditions: {},
    context: {
      measure({ key, case: { subject, point } }, on) {
        const { objects, churn } = loadOf(subject);
        return measureStart(
          {
            ...{ world, target: context.target, zoneSet: context.zoneSet, signal: context.signal, services },
            servers: new Map(decided.servers.map((server) => [server.name, server])),
            programOf: context.programOf,
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
