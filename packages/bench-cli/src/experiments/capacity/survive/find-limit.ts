/** A search: starts under one limit after the other, on this machine or on a cluster, until one of them is found. */
import type { TrialEvents } from '../../../engine/experiment.ts';
import { BenchError, type ErrorCode } from '../../../errors.ts';
import { formatBytes, formatCount, MEBIBYTE } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import { isPeakOwn, type KeptSearch, keptSchema, type SurviveEvidence, triedAs } from './evidence.ts';
import type { StepSeconds } from './patience.ts';
import { firstLimit, type SurvivePoint } from './points.ts';
import { nextLimit, ruleText } from './search.ts';
import { STREAMS_VARIABLE, type SurviveSettings, variesGomemlimit } from './settings.ts';
import type { Start } from './start.ts';

/** CoreDNS does not start with less. */
export const LEAST_BYTES = 16 * MEBIBYTE;

/** More starts than any search takes: bounds move by every start that is killed. */
const MAX_STARTS = 500;

/** What ended a start without saying anything of memory: the load generator, or a program beside CoreDNS, also one that fell silent. */
const REPEATABLE: readonly ErrorCode[] = ['E_LOADER_FAILED', 'E_SERVER_START', 'E_NO_ANSWER'];

/** A search takes a quarter of an hour, so that a busy moment does not end it; a lasting fault does. */
const MAX_REPEATS = 2;

/** Names a start of a search for people. */
export const titleOf = (number: number, limitBytes: number) => `start ${number}, ${formatBytes(limitBytes)}`;

/** What may explain a difference between the limits of two runs. */
export const limitConditions = ({ starts, factors }: SurviveSettings) => ({
  'limit survived': ruleText(starts),
  ...(factors.lists?.includes('streamed') === true
    ? { 'streamed lists': `${STREAMS_VARIABLE}=true in the environment of CoreDNS` }
    : {}),
});

export interface LimitSearch {
  readonly point: SurvivePoint;
  /** Of the trial. */
  readonly key: string;
  readonly settings: Pick<SurviveSettings, 'resolution' | 'starts' | 'factors'>;
  /** No larger limit is tried. */
  readonly mostBytes: number;
  readonly on: Pick<TrialEvents, 'part' | 'warning' | 'keep' | 'kept'>;
}

/** What a search goes on from: what it has kept when its run was interrupted, else nothing. */
function begun({ key, on }: LimitSearch): KeptSearch {
  const { data } = keptSchema.safeParse(on.kept);
  if (data === undefined) return { starts: [], repeated: [], streamed: [], usual: {} };
  on.warning(`${key}: interrupted, and resumed after ${counted(data.starts.length, 'start')}`);
  return data;
}

/**
 * A start that failed for another reason than memory is made again, twice in a search at most. Each that ends is kept at once.
 * @throws BenchError `E_NO_ANSWER` if even the largest limit is too small; what `start` rejects with
 */
export async function findLimit(
  request: LimitSearch,
  start: (limitBytes: number, number: number, usual: StepSeconds) => Promise<Start>,
): Promise<SurviveEvidence> {
  const { point, key, settings, mostBytes, on } = request;
  let search = begun(request);
  const isByPeak = isPeakOwn(point) && !variesGomemlimit(settings);
  const options = { first: firstLimit(point), least: LEAST_BYTES, most: mostBytes, ...settings };
  while (search.starts.length < MAX_STARTS) {
    const { starts, repeated, streamed, usual } = search;
    const tried = starts.map((each) => triedAs(each, isByPeak));
    const next = nextLimit(tried, options);
    if (next.kind === 'found') {
      const { usual: _, ...searched } = search;
      const { limitBytes, killedBytes } = next;
      return { ...searched, limitBytes, killedBytes };
    }
    if (next.kind === 'beyond') break;
    const number = starts.length + repeated.length + 1;
    const title = titleOf(number, next.limitBytes);
    const made = await start(next.limitBytes, number, usual).catch((error: unknown) => {
      const isRepeatable = error instanceof BenchError && REPEATABLE.includes(error.code);
      if (!isRepeatable || repeated.length === MAX_REPEATS) throw error;
      return error;
    });
    if (made instanceof BenchError) {
      search = { ...search, repeated: [...repeated, `${title}: ${made.message}`] };
      on.part(`${title}: made again, because ${made.message}`);
    } else {
      const { result, streamed: read, steps } = made;
      const { outcome, during } = result;
      // The first that survives: its limit is the largest, so that memory slows it the least.
      const isFirst = outcome === 'survived' && usual['cold start'] === undefined;
      search = {
        ...search,
        starts: [...starts, result],
        streamed: [...new Set([...streamed, ...read])],
        usual: isFirst ? steps : usual,
      };
      on.part(`${title}: ${outcome}${during === null ? '' : ` (${during})`}`);
    }
    await on.keep(search);
  }
  throw new BenchError(
    'E_NO_ANSWER',
    `${key}: no limit was survived by ${formatCount(settings.starts)} starts`,
    {
      evidence: search.starts
        .slice(-5)
        .map(({ limitBytes, outcome, during }) => `${formatBytes(limitBytes)}: ${outcome} (${during})`),
      fix: 'Allow larger limits with --memory, or measure fewer objects.',
    },
  );
}
