/** A limit that `bench capacity survive` has found, for a plan. Pure. */
import { okTrials } from '../../engine/record.ts';
import { formatCount } from '../../report/numbers.ts';
import { BYTES_PER_MEGABYTE } from './figures.ts';
import { MEASURED, type MeasuredOptions, versionOf } from './measured-basis.ts';
import { EXTRAPOLATION, objectsOf, type Size } from './memory-basis.ts';
import { decisive, type SurviveRecord } from './survive/evidence.ts';
import { pointOf } from './survive/points.ts';

export interface SurvivedLimit {
  readonly megabytes: number;
  /** Which run, and of what. */
  readonly source: string;
}

/** A cluster with no less of anything needs no less; one with far more objects says little of this one. */
function isNear(found: Size, wanted: Size): boolean {
  return (
    found.services >= wanted.services &&
    found.pods >= wanted.pods &&
    found.endpoints >= wanted.endpoints &&
    objectsOf(found) <= EXTRAPOLATION.times * Math.max(1, objectsOf(wanted))
  );
}

/**
 * The largest limit that a search has found without GOMEMLIMIT, which a plan does not set: of the smallest measured cluster
 * that has no less of anything. Null without one.
 */
export function survivedLimit(
  record: Pick<SurviveRecord, 'id' | 'programs' | 'cases' | 'trials'>,
  size: Size,
  { configuration, version, origin }: MeasuredOptions,
): SurvivedLimit | null {
  const found = record.cases
    .filter(({ aa }) => !aa)
    .map((item) => ({ item, point: pointOf(item), trials: okTrials(record, item.key) }))
    .filter(
      ({ point, trials }) =>
        trials.length > 0 &&
        point.gomemlimit === 'none' &&
        MEASURED[configuration].includes(point.configuration) &&
        isNear(point.cluster, size) &&
        (version === null || versionOf(record, point.server) === version),
    );
  const server = found.at(-1)?.point.server;
  const smallest = Math.min(...found.map(({ point }) => point.objects));
  const own = found.filter(({ point }) => point.server === server && point.objects === smallest);
  const searches = own.flatMap(({ point, trials }) => trials.map(({ evidence }) => ({ point, evidence })));
  const [last] = searches.toSorted((a, b) => b.evidence.limitBytes - a.evidence.limitBytes);
  if (last === undefined) return null;
  const { point, evidence } = last;
  const starts = decisive(evidence).length;
  const what = `CoreDNS ${versionOf(record, point.server)}, ${point.configuration}, ${formatCount(point.objects)} objects, ${point.lists} lists`;
  return {
    megabytes: evidence.limitBytes / BYTES_PER_MEGABYTE,
    source: `survived by ${starts} of ${starts} starts: ${origin}, run ${record.id} (${what})`,
  };
}
