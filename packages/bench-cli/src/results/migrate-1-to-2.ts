/**
 * Schema version 2 adds latency percentiles, separate instances, the cluster, the noise floor, steady state, drift,
 * `--until` and tests of differences. In a migrated record of version 1 they are null or an empty list.
 */
import { type Json, mapEntries, withDefaults } from './migration.ts';

const LOAD = { latencyPercentiles: null };
const DELTA = {
  method: null,
  pValue: null,
  adjustedPValue: null,
  comparisons: null,
  rankTest: null,
  effectSize: null,
  belowNoiseFloor: null,
};

/** Version 1 had no other reason for not naming a winner. */
function undecidedOf({ verdict, low }: Json): string | null {
  if (verdict !== 'no difference shown') return null;
  return low === null ? 'too few trials' : 'interval holds zero';
}

function migrateTrial(trial: Json): Json {
  if (trial.status !== 'ok') return trial;
  const whole = withDefaults(trial, { instanceObservations: null, steadyState: null });
  return mapEntries(whole, {
    load: (load) => withDefaults(load, LOAD),
    loads: (load) => withDefaults(load, LOAD),
  });
}

function migrateCase(item: Json): Json {
  const delta = (value: Json) => withDefaults(value, { ...DELTA, undecided: undecidedOf(value) });
  return mapEntries(withDefaults(item, { aa: false, latencyHistogram: null, outliers: [] }), {
    summary: (summary) => withDefaults(summary, { latencyPercentiles: null }),
    comparison: (comparison) =>
      mapEntries(comparison, {
        qps: delta,
        latencySeconds: delta,
        cpuSecondsPerQuery: delta,
        memoryBytes: delta,
      }),
  });
}

/** The one method of version 1, as its reports had it. */
const INTERVAL_METHOD =
  'Intervals are 95 % confidence intervals: from 6 trials on, interpolated order statistics (Hettmansperger and ' +
  "Sheather 1986), which assume no shape of the noise; with fewer trials, Student's t on logarithms. An interval of " +
  'a difference is made from the ratios of trials of the same round, and is widened where it would leave out the ' +
  'difference of the medians.';

export function migrate1to2(record: Json): Json {
  const whole = withDefaults(record, {
    intervalMethod: INTERVAL_METHOD,
    noiseFloors: null,
    drift: null,
    until: null,
  });
  return mapEntries(whole, {
    environment: (environment) =>
      mapEntries(withDefaults(environment, { cluster: null }), {
        git: (git) => withDefaults(git, { branch: null }),
      }),
    trials: migrateTrial,
    cases: migrateCase,
  });
}
