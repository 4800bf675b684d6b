/** A limit that `bench capacity survive` has found, for a plan. Pure. */
import { formatCount } from '../../report/numbers.ts';
import { formatDuration } from '../../text.ts';
import { BYTES_PER_MEGABYTE } from './figures.ts';
import { MEASURED, type MeasuredOptions, versionOf } from './measured-basis.ts';
import { EXTRAPOLATION, objectsOf, type Size } from './memory-basis.ts';
import { confirmedLimit, type SurviveRecord } from './survive/evidence.ts';
import { pointOf, type SurvivePoint } from './survive/points.ts';
import { MIN_STARTS } from './survive/search.ts';

export interface SurvivedLimit {
  readonly megabytes: number;
  /** Of CoreDNS. */
  readonly version: string;
  /** Which run, and of what. */
  readonly source: string;
  /** What a reader must know of it, as sentences. */
  readonly notes: readonly string[];
}

/** The limit that a run has for a plan, or why a run that has some gives none. */
export type FoundLimit = { readonly limit: SurvivedLimit } | { readonly unusable: string };

type Searched = Pick<SurviveRecord, 'id' | 'programs' | 'cases' | 'trials' | 'settings'>;

/** After a shorter outage, CoreDNS may not even have noticed it. */
const MIN_OUTAGE_SECONDS = 10;

/** The default of `--outage`: as long as an API server takes to restart. Shorter ones count, with a note. */
const USUAL_OUTAGE_SECONDS = 120;

/** A cluster with no less of anything needs no less; one with far more objects says little of this one. */
function isNear(found: Size, wanted: Size): boolean {
  return (
    found.services >= wanted.services &&
    found.pods >= wanted.pods &&
    found.endpoints >= wanted.endpoints &&
    objectsOf(found) <= EXTRAPOLATION.times * Math.max(1, objectsOf(wanted))
  );
}

/** Why limits of a run with these settings are not for a plan; null if they are. */
function tooWeak({ starts, outage }: Searched['settings']): string | null {
  // Not `<`: a setting that is no number is too little as well.
  if (!(Number(starts) >= MIN_STARTS))
    return `its limits took --starts ${starts}: a plan needs at least ${MIN_STARTS}`;
  if (!(Number(outage) >= MIN_OUTAGE_SECONDS))
    return `its API server was away for only ${outage} s: a plan needs at least ${MIN_OUTAGE_SECONDS} s`;
  return null;
}

/** A plan sets neither GOMEMLIMIT nor the variable that makes CoreDNS ask for streamed lists. */
const isAsPlanned = ({ gomemlimit, lists }: SurvivePoint) => gomemlimit === 'none' && lists !== 'streamed';

/**
 * The largest limit that was confirmed without settings that a plan does not make: of the smallest measured cluster that has no
 * less of anything. Null for a run of other clusters, configurations or versions.
 */
export function survivedLimit(
  record: Searched,
  size: Size,
  { configuration, version, origin }: MeasuredOptions,
): FoundLimit | null {
  const near = record.cases
    .filter(({ aa }) => !aa)
    .map((item) => ({ item, point: pointOf(item) }))
    .filter(
      ({ point }) =>
        MEASURED[configuration].includes(point.configuration) &&
        isNear(point.cluster, size) &&
        (version === null || versionOf(record, point.server) === version),
    );
  if (near.length === 0) return null;
  const weakness = tooWeak(record.settings);
  if (weakness !== null) return { unusable: weakness };
  const planned = near.filter(({ point }) => isAsPlanned(point));
  if (planned.length === 0)
    return { unusable: 'it has no limit for CoreDNS without GOMEMLIMIT and with lists=default or paged' };
  const server = planned.at(-1)?.point.server;
  const smallest = Math.min(
    ...planned.filter(({ point }) => point.server === server).map(({ point }) => point.objects),
  );
  const own = planned
    .filter(({ point }) => point.server === server && point.objects === smallest)
    .map(({ item, point }) => {
      const isWhole = item.trials.ok >= item.trials.planned;
      return { point, confirmed: isWhole ? confirmedLimit(record, item) : null };
    })
    .toSorted((a, b) => (b.confirmed?.limitBytes ?? 0) - (a.confirmed?.limitBytes ?? 0));
  const [largest] = own;
  if (largest === undefined || own.some(({ confirmed }) => confirmed === null) || largest.confirmed === null)
    return { unusable: 'not all of its searches found a limit' };
  const { point, confirmed } = largest;
  const found = versionOf(record, point.server);
  const what = `CoreDNS ${found}, ${point.configuration}, ${formatCount(point.objects)} objects, lists=${point.lists}`;
  const outage = Number(record.settings.outage);
  const limit = {
    megabytes: confirmed.limitBytes / BYTES_PER_MEGABYTE,
    version: found,
    source: `survived by ${confirmed.starts} of ${confirmed.starts} starts: ${origin}, run ${record.id} (${what})`,
    notes:
      outage < USUAL_OUTAGE_SECONDS
        ? [
            `The memory limit was survived with an API server that was away for ${formatDuration(outage)}; the usual test is ${formatDuration(USUAL_OUTAGE_SECONDS)}.`,
          ]
        : [],
  };
  return { limit };
}
