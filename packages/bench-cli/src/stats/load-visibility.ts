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
const EXPECTED_CPU_SECONDS_PER_QUERY = 40e-6;
const MIN_VISIBLE_SHARE = 0.25;

/** Fewer distinct readings than this in a minute are those of an averaging source. */
const FEW_READINGS_PER_MINUTE = 6;

/** Readings at the start that the rest is compared with where idle was not measured. */
const FIRST_READINGS = 3;

interface LoadFigures {
  /** CPU before the load, in cores; null where it was not measured. */
  readonly idleCores: number | null;
  /** Mean under load, where it is known better than from the readings; otherwise null. */
  readonly loadedCores: number | null;
  /** Readings under load, in their order. */
  readonly readings: readonly number[];
  readonly seconds: number;
  readonly ratePerSecond: number;
}

function distinct(readings: readonly number[]): number {
  return readings.filter((value, index) => value !== readings[index - 1]).length;
}

const millicores = (cores: number) => `${Math.round(cores * 1000)}m`;

/** What speaks against the figures, in one sentence without its end; empty where the load shows, and without any reading. */
export function visibilityProblem({
  idleCores,
  loadedCores,
  readings,
  seconds,
  ratePerSecond,
}: LoadFigures): string {
  if (readings.length === 0) return '';
  const later = readings.slice(FIRST_READINGS);
  // From idle to load, or where idle was not measured, from the first readings under load to the later ones.
  const riseCores =
    idleCores === null
      ? median(later.length > 0 ? later : readings) - median(readings.slice(0, FIRST_READINGS))
      : (loadedCores ?? median(readings)) - idleCores;
  const expectedCores = ratePerSecond * EXPECTED_CPU_SECONDS_PER_QUERY;
  if (riseCores >= MIN_VISIBLE_SHARE * expectedCores) return '';
  if (idleCores === null && later.length === 0)
    return 'whether the load shows in the CPU figures cannot be seen: idle was not measured, and there are too few readings under load';
  const from = idleCores === null ? 'when the load starts' : 'above idle';
  const rise = `they rise by ${millicores(riseCores)} ${from}, and the load should cost ${millicores(expectedCores)} or more`;
  const count = distinct(readings);
  const few =
    count < (FEW_READINGS_PER_MINUTE * seconds) / 60
      ? `; ${count === 1 ? 'one reading' : `${count} distinct readings`} in all, which is the window of an average`
      : '';
  return `the load is not visible in the CPU figures: ${rise}${few}`;
}
