/**
 * Is a load visible in CPU figures at all? A server that answers 2,000 queries a second uses 40 to 100 millicores for
 * them. If the figures do not rise when the load starts, they show something else: background work, or an
 * average over a window that is longer than the load. Then their difference says nothing about the load. Pure.
 */
import { median } from './intervals.ts';

/**
 * CPU time of a CoreDNS query, at the lower end: CoreDNS answers 20,472 to 20,855 a second with one core in the
 * published matrix, kernel included. A load that costs less than a quarter of it is not visible.
 */
export const EXPECTED_CPU_SECONDS_PER_QUERY = 40e-6;
const MIN_VISIBLE_SHARE = 0.25;

/** Fewer distinct readings than this in a minute are those of an averaging source. */
const FEW_READINGS_PER_MINUTE = 6;

/** Readings at the start that the rest is compared with where idle was not measured. */
const FIRST_READINGS = 3;

export interface LoadFigures {
  /** CPU before the load, in cores; null where it was not measured. */
  readonly idleCores: number | null;
  /** Mean under load, where it is known better than from the readings; otherwise null. */
  readonly loadedCores: number | null;
  /** Readings under load, in their order. */
  readonly readings: readonly number[];
  readonly seconds: number;
  readonly ratePerSecond: number;
}

export interface Visibility {
  readonly isVisible: boolean;
  /** From idle to load, or where idle was not measured, from the first readings under load to the later ones. */
  readonly riseCores: number;
  /** Whether the rise is that from a measured idle. */
  readonly isAboveIdle: boolean;
  /** What the load costs at least, by `EXPECTED_CPU_SECONDS_PER_QUERY`. */
  readonly expectedCores: number;
  /** False where there is neither a measured idle nor a later reading to compare the first ones with. */
  readonly isJudged: boolean;
  /** Different readings that follow each other. */
  readonly distinctReadings: number;
  readonly hasFewReadings: boolean;
}

function distinct(readings: readonly number[]): number {
  return readings.filter((value, index) => value !== readings[index - 1]).length;
}

/** Null without any reading. */
export function loadVisibility({
  idleCores,
  loadedCores,
  readings,
  seconds,
  ratePerSecond,
}: LoadFigures): Visibility | null {
  if (readings.length === 0) return null;
  const later = readings.slice(FIRST_READINGS);
  const riseCores =
    idleCores === null
      ? median(later.length > 0 ? later : readings) - median(readings.slice(0, FIRST_READINGS))
      : (loadedCores ?? median(readings)) - idleCores;
  const expectedCores = ratePerSecond * EXPECTED_CPU_SECONDS_PER_QUERY;
  const distinctReadings = distinct(readings);
  return {
    isVisible: riseCores >= MIN_VISIBLE_SHARE * expectedCores,
    riseCores,
    isAboveIdle: idleCores !== null,
    isJudged: idleCores !== null || later.length > 0,
    expectedCores,
    distinctReadings,
    hasFewReadings: distinctReadings < (FEW_READINGS_PER_MINUTE * seconds) / 60,
  };
}

const millicores = (cores: number) => `${Math.round(cores * 1000)}m`;

/** What speaks against the figures, in one sentence without its end; empty where the load shows. */
export function visibilityProblem(visibility: Visibility): string {
  const { isVisible, riseCores, isAboveIdle, expectedCores, distinctReadings, hasFewReadings } = visibility;
  if (isVisible) return '';
  if (!visibility.isJudged)
    return 'whether the load shows in the CPU figures cannot be seen: idle was not measured, and there are too few readings under load';
  const from = isAboveIdle ? 'above idle' : 'when the load starts';
  const rise = `they rise by ${millicores(riseCores)} ${from}, and the load should cost ${millicores(expectedCores)} or more`;
  const readings = hasFewReadings
    ? `; ${distinctReadings === 1 ? 'one reading' : `${distinctReadings} distinct readings`} in all, which is the window of an average`
    : '';
  return `the load is not visible in the CPU figures: ${rise}${readings}`;
}
