/** The cases of a measurement of propagation, and which starts of CoreDNS measure them. Pure. */
import { type ClusterSpec, defineCluster, specForObjects } from '@dinodns-bench/cluster-objects';
import { canonicalServerName } from '../../../config/server-name.ts';
import type { ConfigurationName } from '../configurations.ts';
import type { CapacityRun } from '../open-run.ts';
import type { PropagationCase, PropagationTrial } from './propagation-record.ts';
import type { PropagationSettings } from './settings.ts';

/** One start of CoreDNS, in which all rates of a round are measured. */
export interface PropagationStart {
  /** `coredns-cluster/no-denial/158200` */
  readonly key: string;
  readonly server: string;
  readonly configuration: ConfigurationName;
  readonly cluster: ClusterSpec;
  /** From 0. */
  readonly round: number;
  /** In the order in which they are measured. */
  readonly cases: readonly PropagationCase[];
}

type Place = Omit<PropagationStart, 'round'>;

function placesOf({ servers, configurations, objects, churn }: PropagationSettings): Place[] {
  return servers.flatMap((name) =>
    configurations.flatMap((configuration) =>
      objects.map((size): Place => {
        const server = canonicalServerName(name);
        const key = `${server}/${configuration}/${size}`;
        return {
          key,
          server,
          configuration,
          cluster: defineCluster({ ...specForObjects(size), headless: 0.1 }).spec,
          cases: churn.map((churnPerSecond) => ({
            key: `${key}/churn=${churnPerSecond}`,
            server,
            configuration,
            objects: size,
            churnPerSecond,
          })),
        };
      }),
    ),
  );
}

export function propagationCases(settings: PropagationSettings): PropagationCase[] {
  return placesOf(settings).flatMap(({ cases }) => cases);
}

/**
 * The starts of all rounds, without the trials that are done. Every second round runs backwards, so that a drift of the
 * machine meets all cases alike.
 */
export function propagationStarts(
  settings: PropagationSettings,
  done: readonly PropagationTrial[],
): PropagationStart[] {
  const places = placesOf(settings);
  const complete = new Set(done.map((trial) => `${trial.case}#${trial.round}`));
  return Array.from({ length: settings.trials }, (_, round) => {
    const ordered = <T>(items: readonly T[]) => (round % 2 === 0 ? items : items.toReversed());
    return ordered(places).map((place) => ({
      ...place,
      round,
      cases: ordered(place.cases).filter(({ key }) => !complete.has(`${key}#${round}`)),
    }));
  })
    .flat()
    .filter(({ cases }) => cases.length > 0);
}

/** What a run that is resumed has already; what failed is measured again. */
export function previousTrials({ previous }: CapacityRun<unknown>): PropagationTrial[] {
  return previous?.measured.what === 'propagation'
    ? previous.measured.trials.filter(({ status }) => status === 'ok')
    : [];
}
