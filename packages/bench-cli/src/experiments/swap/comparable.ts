/** A swap's placements as trials: CPU under load with idle in it, as published. Pure. */
import {
  COMPARED_ESTIMANDS,
  comparedFigures,
  type Entry,
  type EntryCase,
  entryOfHeader,
} from '../../history/entry.ts';
import { goOf } from './builds.ts';
import { figuresOf } from './placement-figures.ts';
import { SIDES, type SwapRecord, WORKLOADS } from './record.ts';

function casesOf({ placements, settings, versions }: SwapRecord): EntryCase[] {
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
        subject: versions[side].name,
        point: { workload, rate: ratePerSecond, transport: 'udp' },
        isBaseline: side === 'A',
        bounds: [],
        contended: false,
        // A and B of a pair have the same round.
        trials: counted.map(({ placement, loadedCores, qps, memoryBytes }) => ({
          round: Math.floor((placement.number - 1) / 2),
          startedAt: placement.startedAt,
          figures: comparedFigures({
            qps,
            latencySeconds: null,
            cpuSecondsPerQuery: loadedCores === null || !qps ? null : loadedCores / qps,
            memoryBytes,
          }),
        })),
        failedTrials: figures.length - counted.length,
      };
    }),
  ).filter(({ trials, failedTrials }) => trials.length + failedTrials > 0);
}

function conditionsOf({ versions, settings, environment }: SwapRecord): Record<string, string> {
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

export function swapEntry(record: SwapRecord, summary: string): Entry {
  return {
    ...entryOfHeader(record, record.experiment, summary),
    environment: conditionsOf(record),
    estimands: COMPARED_ESTIMANDS,
    cases: casesOf(record),
  };
}
