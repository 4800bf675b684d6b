/** A limit that `bench capacity survive` has found, for a plan. Pure. */
import { type EngineCase, evidencesOf } from '../../engine/record.ts';
import { formatCount } from '../../report/numbers.ts';
import { formatDuration, listed } from '../../text.ts';
import { type ConfigurationName, watchesPods } from './configurations.ts';
import { BYTES_PER_MEGABYTE, LIMIT_TO_SET, memoryText, PROGRAM_BYTES } from './figures.ts';
import { MEASURED, type MeasuredOptions, versionOf } from './measured-basis.ts';
import { EXTRAPOLATION, type Size } from './memory-basis.ts';
import { COUNTED, confirmedLimit, type SurviveRecord } from './survive/evidence.ts';
import { pointOf, type SurvivePoint } from './survive/points.ts';
import { boundText, MIN_STARTS } from './survive/search.ts';

export interface SurvivedLimit {
  /** What starts have survived; `limitToSet` says what to set. */
  readonly megabytes: number;
  /** The largest limit under which a start did not survive; null if none was tried that was too small. */
  readonly killedMegabytes: number | null;
  /** Of CoreDNS. */
  readonly version: string;
  /** Which run, and of what. */
  readonly source: string;
  /** What a reader must know of it, as sentences. */
  readonly notes: readonly string[];
}

type Searched = Pick<
  SurviveRecord,
  'id' | 'programs' | 'subjects' | 'cases' | 'trials' | 'unfinished' | 'settings' | 'conditions'
>;

/** After a shorter outage, CoreDNS may not even have noticed it. */
const MIN_OUTAGE_SECONDS = 10;

/** The default of `--outage`: as long as an API server takes to restart. Shorter ones count, with a note. */
const USUAL_OUTAGE_SECONDS = 120;

/** A cluster grows between a run and its plan. A search knows its limit no closer, and the limit to set leaves more room. */
const GROWTH = 1.05;

/** What CoreDNS reads: with `pods insecure`, as by default, no pods. */
function readBy(configuration: ConfigurationName, { services, pods, endpoints }: Size) {
  return { services, endpoints, pods: watchesPods(configuration) ? pods : 0 };
}

const sum = ({ services, pods, endpoints }: Size) => services + pods + endpoints;

/** `1,600 services with 15,000 addresses` */
const sizeText = ({ services, pods, endpoints }: Size) =>
  `${formatCount(services)} services with ${formatCount(endpoints)} addresses${pods === 0 ? '' : ` and ${formatCount(pods)} pods`}`;

/** What CoreDNS had to read in all searches of a case: on a cluster more than the point says. */
function sizeOf(record: Searched, { key }: Pick<EngineCase, 'key'>, { cluster }: SurvivePoint): Size {
  const [first = cluster, ...others] = evidencesOf(record, key).flatMap(({ read }) => read ?? []);
  const least = (of: keyof Size) => Math.min(first[of], ...others.map((each) => each[of]));
  return { services: least('services'), pods: least('pods'), endpoints: least('endpoints') };
}

/** How much more of anything is wanted than was found: 1.03 for 3 %; at most 1 for no more. */
const excess = (found: Size, wanted: Size) =>
  Math.max(
    ...(['services', 'pods', 'endpoints'] as const).map((of) =>
      wanted[of] === 0 ? 0 : wanted[of] / found[of],
    ),
  );

/** A cluster with no less of anything needs no less; one with far more objects says little of this one. */
const isNear = (found: Size, wanted: Size) =>
  excess(found, wanted) <= GROWTH && sum(found) <= EXTRAPOLATION.times * Math.max(1, sum(wanted));

/** Why limits of a run with these settings are not for a plan; null if they are. */
function tooWeak({ starts, outage }: Searched['settings']): string | null {
  // Not `<`: a setting that is no number is too little as well.
  if (!(Number(starts) >= MIN_STARTS))
    return `its limits took --starts ${starts}: a plan needs at least ${MIN_STARTS}`;
  if (!(Number(outage) >= MIN_OUTAGE_SECONDS))
    return `its API server was away for only ${outage} s: a plan needs at least ${MIN_OUTAGE_SECONDS} s`;
  return null;
}

/** From this version on, CoreDNS asks for streamed lists by itself (client-go 0.35). */
const STREAMS_SINCE = '1.14.2';

const asksForStreams = (version: string) =>
  /^\d/.test(version) && version.localeCompare(STREAMS_SINCE, 'en', { numeric: true }) >= 0;

/** A plan sets neither GOMEMLIMIT nor the variable that makes older versions ask for streamed lists. */
const isAsPlanned = ({ gomemlimit, lists }: SurvivePoint, version: string) =>
  gomemlimit === 'none' && (lists !== 'streamed' || asksForStreams(version));

interface LimitRequest extends MeasuredOptions {
  readonly size: Size;
}

/**
 * The largest limit that was confirmed without settings that a plan does not make: of the smallest measured cluster that has no
 * less of anything that CoreDNS reads. Otherwise why the run has none for the plan, as the end of a sentence.
 */
export function survivedLimit(
  record: Searched,
  { configuration, version, origin, size }: LimitRequest,
): SurvivedLimit | string {
  const measured = record.cases
    .filter(({ aa }) => !aa)
    .map((item) => ({ item, point: pointOf(item) }))
    .filter(
      ({ point }) =>
        MEASURED[configuration].includes(point.configuration) &&
        (version === null || versionOf(record, point.server) === version),
    )
    .map(({ item, point }) => ({
      ...{ item, point, version: versionOf(record, point.server) },
      read: readBy(point.configuration, sizeOf(record, item, point)),
      wanted: readBy(point.configuration, size),
    }));
  const [first] = measured;
  if (first === undefined)
    return `it has no limit for CoreDNS${version === null ? '' : ` ${version}`} in the configuration ${configuration}`;
  const near = measured.filter(({ read, wanted }) => isNear(read, wanted));
  if (near.length === 0) {
    const sizes = listed([...new Set(measured.map(({ read }) => sizeText(read)))]);
    const assumed = size.endpoints === size.pods ? ' (one for each pod, unless --endpoints is given)' : '';
    return `it has limits for ${sizes}, and the plan is for ${sizeText(first.wanted)}${assumed}`;
  }
  const weakness = tooWeak(record.settings);
  if (weakness !== null) return weakness;
  const planned = near.filter((each) => isAsPlanned(each.point, each.version));
  const last = planned.at(-1);
  if (last === undefined)
    return `it has no limit for CoreDNS without GOMEMLIMIT and with lists=default or paged (or streamed, from ${STREAMS_SINCE} on)`;
  const ofLast = planned.filter(({ point }) => point.server === last.point.server);
  const smallest = Math.min(...ofLast.map(({ read }) => sum(read)));
  const own = ofLast
    .filter(({ read }) => sum(read) === smallest)
    .map((each) => {
      const isWhole = each.item.trials.ok >= each.item.trials.planned;
      return { ...each, confirmed: isWhole ? confirmedLimit(record, each.item) : null };
    })
    .toSorted((a, b) => (b.confirmed?.limitBytes ?? 0) - (a.confirmed?.limitBytes ?? 0));
  const [largest] = own;
  if (largest === undefined || own.some(({ confirmed }) => confirmed === null) || largest.confirmed === null)
    return 'not all of its searches found a limit';
  const { point, confirmed, read, wanted } = largest;
  const killed = own.flatMap(({ item }) =>
    evidencesOf(record, item.key).flatMap(({ killedBytes }) => killedBytes ?? []),
  );
  const more = excess(read, wanted);
  const outage = Number(record.settings.outage);
  const what = `CoreDNS ${last.version}, ${point.configuration}, ${formatCount(point.objects)} objects, lists=${point.lists}`;
  const program = COUNTED in record.conditions ? 0 : PROGRAM_BYTES;
  const withProgram = (bytes: number) => (bytes + program) / BYTES_PER_MEGABYTE;
  return {
    megabytes: withProgram(confirmed.limitBytes),
    killedMegabytes: killed.length === 0 ? null : withProgram(Math.max(...killed)),
    version: last.version,
    source: `survived by ${confirmed.starts} of ${confirmed.starts} starts: ${origin}, run ${record.id} (${what})`,
    notes: [
      `Under the limit that starts survived, up to ${boundText(confirmed.starts)} of all starts may still be killed (95 % confidence), so a plan takes ${LIMIT_TO_SET}.`,
      ...(program === 0
        ? []
        : [
            `The limit that starts survived is counted with ${memoryText(withProgram(0))} more than was measured, for the pages of the program: that run did not count them.`,
          ]),
      ...(more > 1
        ? [
            `The plan is for ${sizeText(wanted)}, ${Math.ceil((more - 1) * 100)} % more than the limit was measured with (${sizeText(read)}).`,
          ]
        : []),
      ...(outage < USUAL_OUTAGE_SECONDS
        ? [
            `The memory limit was survived with an API server that was away for ${formatDuration(outage)}; the usual test is ${formatDuration(USUAL_OUTAGE_SECONDS)}.`,
          ]
        : []),
    ],
  };
}
