/**
 * The studentized bootstrap (bootstrap-t): the distance of the mean of resampled trials from the mean of the trials,
 * in units of its own standard error, shows how far that mean may be from the truth. It makes no assumption about
 * the shape of the noise, and does not share the percentile bootstrap's short intervals in small samples.
 * Resampling is seeded: the same trials and the same seed always give the same interval.
 *
 * References:
 * - B. Efron: The Jackknife, the Bootstrap and Other Resampling Plans (1982), chapter 10.
 * - P. Hall: Theoretical comparison of bootstrap confidence intervals. Annals of Statistics 16 (1988), 927–953.
 * - T. C. Hesterberg: What teachers should know about the bootstrap. The American Statistician 69 (2015), 371–386:
 *   percentile and BCa intervals fall short below about 30 values, bootstrap-t does not.
 */
import { type Random, seededRandom } from './random.ts';

/** With fewer values, resamples without any scatter are too frequent; see the table of coverage in docs/method.md. */
export const MIN_FOR_BOOTSTRAP = 8;

/** So that (n + 1) · 0.025 is a whole number, and p values reach down to 0.0002. */
const RESAMPLES = 9999;

/** An interval of a location, often of a logarithm, with the p value of "it is zero". */
export interface LogInterval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
  /** Two-sided, for an estimate of zero; excludes it exactly if the interval does. */
  readonly pValue: number;
}

interface BootstrapOptions {
  readonly seed: string;
  /** Two-sided level of the interval: 0.05 for 95 %. */
  readonly level: number;
}

interface Located {
  readonly estimate: number;
  readonly standardError: number;
}

function locate(values: Float64Array): { mean: number; varianceOfMean: number } {
  const n = values.length;
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / n;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return { mean, varianceOfMean: squares / (n - 1) / n };
}

/** Of a side that there is not. */
const NOWHERE = { mean: 0, varianceOfMean: 0 };

function resample(values: Float64Array, into: Float64Array, random: Random): void {
  for (let index = 0; index < into.length; index++) {
    into[index] = values[Math.floor(random() * values.length)] ?? 0;
  }
}

function intervalOf(observed: Located, level: number, draw: () => Located): LogInterval {
  const { estimate, standardError } = observed;
  if (standardError === 0) {
    return { estimate, low: estimate, high: estimate, pValue: estimate === 0 ? 1 : 0 };
  }
  const studentized = new Float64Array(RESAMPLES);
  for (let index = 0; index < RESAMPLES; index++) {
    const drawn = draw();
    const distance = drawn.estimate - estimate;
    // All values of the resample are equal: as far away as a number can be.
    studentized[index] =
      drawn.standardError === 0 ? Math.sign(distance) * Number.MAX_VALUE : distance / drawn.standardError;
  }
  studentized.sort();
  const rank = Math.round((RESAMPLES + 1) * (level / 2));
  const [lowest = 0, highest = 0] = [studentized[rank - 1], studentized[RESAMPLES - rank]];
  const t = estimate / standardError;
  const atMost = countAtMost(studentized, t, true);
  const atLeast = RESAMPLES - countAtMost(studentized, t, false);
  return {
    estimate,
    low: estimate - highest * standardError,
    high: estimate - lowest * standardError,
    pValue: Math.min(1, (2 * (Math.min(atMost, atLeast) + 1)) / (RESAMPLES + 1)),
  };
}

/** How many of the sorted values are below `limit`, or equal to it if `including`. */
function countAtMost(sorted: Float64Array, limit: number, including: boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = sorted[middle] ?? 0;
    if (including ? value <= limit : value < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Interval of the mean of one side, or of the difference of the means of two, each of which is resampled separately. */
export function bootstrapInterval(
  sides: readonly (readonly number[])[],
  { seed, level }: BootstrapOptions,
): LogInterval {
  const random = seededRandom(seed);
  const sources = sides.map((values) => Float64Array.from(values));
  const drawn = sources.map(({ length }) => new Float64Array(length));
  const located = (lists: readonly Float64Array[]): Located => {
    const [own = NOWHERE, other = NOWHERE] = lists.map(locate);
    const standardError = Math.sqrt(own.varianceOfMean + other.varianceOfMean);
    return { estimate: own.mean - other.mean, standardError };
  };
  return intervalOf(located(sources), level, () => {
    for (const [index, source] of sources.entries()) resample(source, drawn[index] ?? source, random);
    return located(drawn);
  });
}
