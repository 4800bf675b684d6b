/** A swap's placements as trials, for `bench reproduce`: CPU under load with idle in it, as published. Pure. */
import type { EntryCase } from '../../history/entry.ts';
import { goOf } from './builds.ts';
import { figuresOf } from './placement-figures.ts';
import { SIDES, type SwapRecord, WORKLOADS } from './record.ts';

export function casesOf({ placements, settings, versions }: SwapRecord): EntryCase[] {
  const { ratePerSecond } = settings;
  return SIDES.flatMap((side) =>
    WORKLOADS.map((workload): EntryCase => {
      const figures = placements
        .filter((placement) => placement.side === side)
        .map((placement) => figuresOf(placement, workload, ratePerSecond))
        .filter(({ qps }) => qps !== null);
      const counted = figures.filter(({ excluded }) => excluded === null);
      return {
        key: `${versions[side].name}/${workload}/rate=${ratePerSecond}/udp`,
        server: versions[side].name,
        tier: null,
        mode: null,
        workload,
        transport: 'udp',
        ratePerSecond,
        isBaseline: side === 'A',
        limitedBy: 'rate',
        contended: null,
        // A and B of a pair have the same round.
        trials: counted.map(({ placement, loadedCores, qps, memoryBytes }) => ({
          round: Math.floor((placement.number - 1) / 2),
          startedAt: placement.startedAt,
          metrics: {
            qps,
            latencySeconds: null,
            cpuSecondsPerQuery: loadedCores === null || !qps ? null : loadedCores / qps,
            memoryBytes,
          },
        })),
        failedTrials: figures.length - counted.length,
      };
    }),
  ).filter(({ trials, failedTrials }) => trials.length + failedTrials > 0);
}

export function conditionsOf({ versions, settings, environment }: SwapRecord): Record<string, string> {
  const { cluster } = environment;
  const provider = cluster?.openshiftVersion == null ? (cluster?.provider ?? null) : 'openshift';
  const go = SIDES.flatMap((side): [string, string][] => {
    const { name, builds } = versions[side];
    return builds.length === 0 ? [] : [[`server ${name}, Go`, goOf(builds)]];
  });
  return {
    target: 'kubernetes',
    ...(provider === null ? {} : { 'cluster.provider': provider }),
    ...Object.fromEntries(SIDES.map((side) => [`server ${versions[side].name}`, versions[side].version])),
    ...Object.fromEntries(go),
    'setting duration': String(settings.durationSeconds),
    'setting rate': String(settings.ratePerSecond),
  };
}
