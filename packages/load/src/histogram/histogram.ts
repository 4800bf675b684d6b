/**
 * A high-dynamic-range histogram of nanoseconds with three significant digits, laid out as HdrHistogram's with a
 * unit of 1 ns: every power of two is cut into 1,024 equal parts, so that a value is known to 1/1024 of itself.
 *
 * Why not Node's `createHistogram`: it took 25 ns per value where this one takes 5 ns, and it does not expose its
 * counts, so it can be neither saved nor merged from a file (benchmarks/histogram.ts).
 */

/** Parts of each power of two. HdrHistogram's sub-bucket half count for three digits. */
const PARTS = 1024;
const PARTS_BITS = 10;
/** The exponent field of the double 1,024.0 (1023 + 10), followed by ten mantissa bits. */
const FIRST_KEY = (1023 + PARTS_BITS) << PARTS_BITS;

// The index comes from the bits of the double: its exponent and the upper ten bits of its mantissa.
const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const HIGH_WORD = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

/** The index at which a value of 0 to `MAX_VALUE` is counted. */
function indexOf(value: number): number {
  if (value < PARTS) return value | 0;
  double[0] = value;
  return ((words[HIGH_WORD] ?? 0) >>> (20 - PARTS_BITS)) - FIRST_KEY + PARTS;
}

/** Larger values are recorded as this one: 2^42 ns, 73 minutes; a timeout is at most an hour. */
export const MAX_VALUE = 2 ** 42 - 1;
/** Number of counts: `MAX_VALUE` is in the last one. */
export const COUNTS = indexOf(MAX_VALUE) + 1;

/** The smallest value counted at `index`. */
export function lowestAt(index: number): number {
  if (index < PARTS) return index;
  const exponent = Math.floor(index / PARTS) - 1;
  return ((index % PARTS) + PARTS) * 2 ** exponent;
}

/** The largest whole value counted at `index`. */
export function highestAt(index: number): number {
  return lowestAt(index + 1) - 1;
}

/** A histogram as plain data: counts and exact moments. */
export interface HistogramData {
  /** Index and count of every count that is not zero, ascending: `[index, count, index, count, …]`. */
  readonly counts: Float64Array;
  readonly total: number;
  /** Exact minimum and maximum, ns; both 0 if nothing was recorded. */
  readonly min: number;
  readonly max: number;
  /** Sum of the values, ns, and of their squares, ns². */
  readonly sum: number;
  readonly squares: number;
}

export class Histogram {
  readonly #counts = new Float64Array(COUNTS);
  #total = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;
  #sum = 0;
  #squares = 0;

  /** Records a value in ns. Negative values count as 0, those above `MAX_VALUE` as `MAX_VALUE`. */
  record(nanoseconds: number): void {
    const value = nanoseconds > 0 ? Math.min(nanoseconds, MAX_VALUE) : 0;
    const index = indexOf(value);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total += 1;
    this.#sum += value;
    this.#squares += value * value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** Number of values. */
  get total(): number {
    return this.#total;
  }

  /** Exact minimum, ns; 0 if there is no value. */
  get min(): number {
    return this.#total === 0 ? 0 : this.#min;
  }

  /** Exact maximum, ns; 0 if there is no value. */
  get max(): number {
    return this.#max;
  }

  /** Exact mean, ns; 0 when there is no value. */
  get mean(): number {
    return this.#total === 0 ? 0 : this.#sum / this.#total;
  }

  /** Standard deviation of the values (not of a sample: division by n), ns; 0 when there is no value. */
  get standardDeviation(): number {
    if (this.#total === 0) return 0;
    const { mean } = this;
    return Math.sqrt(Math.max(0, this.#squares / this.#total - mean * mean));
  }

  /**
   * The value, ns, at or below which `percentile` percent of the values lie (nearest rank): the largest value in
   * the same bucket, so at most 0.1 % too large, and never above `max`. 0 if there is no value.
   */
  percentile(percentile: number): number {
    return this.percentiles([percentile])[0] ?? 0;
  }

  /** Several percentiles, ascending, in one pass over the non-empty buckets: computed while queries are sent. */
  percentiles(ascending: readonly number[]): number[] {
    let index = this.#total === 0 ? 0 : indexOf(this.#min);
    let seen = this.#counts[index] ?? 0;
    return ascending.map((percentile) => {
      const rank = Math.max(1, Math.ceil((percentile / 100) * this.#total - 1e-9));
      if (rank >= this.#total) return this.#max;
      while (seen < rank && index < COUNTS) {
        index += 1;
        seen += this.#counts[index] ?? 0;
      }
      return Math.max(this.#min, Math.min(highestAt(index), this.#max));
    });
  }

  /** How many values are above `nanoseconds`, to the histogram's resolution. */
  countAbove(nanoseconds: number): number {
    let above = 0;
    for (let index = indexOf(Math.min(nanoseconds, MAX_VALUE)) + 1; index < COUNTS; index++) {
      above += this.#counts[index] ?? 0;
    }
    return above;
  }

  /** Index and count of each non-empty bucket, ascending. */
  *entries(): Generator<readonly [index: number, count: number], void, void> {
    for (let index = 0; index < COUNTS; index++) {
      const count = this.#counts[index] ?? 0;
      if (count > 0) yield [index, count];
    }
  }

  /** Adds another histogram's values; the order of additions does not matter. */
  add({ counts, total, min, max, sum, squares }: HistogramData): void {
    if (total === 0) return;
    for (let i = 0; i < counts.length; i += 2) {
      const index = counts[i] ?? 0;
      this.#counts[index] = (this.#counts[index] ?? 0) + (counts[i + 1] ?? 0);
    }
    this.#total += total;
    this.#sum += sum;
    this.#squares += squares;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
  }

  data(): HistogramData {
    return {
      counts: this.#total === 0 ? new Float64Array(0) : this.#sparse(),
      total: this.#total,
      min: this.min,
      max: this.#max,
      sum: this.#sum,
      squares: this.#squares,
    };
  }

  /** In two passes, without a growing array: this runs between two queries. */
  #sparse(): Float64Array {
    const first = indexOf(this.#min);
    const last = indexOf(this.#max);
    let used = 0;
    for (let index = first; index <= last; index++) if (this.#counts[index] !== 0) used += 1;
    const sparse = new Float64Array(2 * used);
    let at = 0;
    for (let index = first; index <= last; index++) {
      const count = this.#counts[index] ?? 0;
      if (count === 0) continue;
      sparse[at] = index;
      sparse[at + 1] = count;
      at += 2;
    }
    return sparse;
  }

  /** Returns `data` and resets the histogram. */
  take(): HistogramData {
    const taken = this.data();
    if (taken.total === 0) return taken;
    this.#counts.fill(0, indexOf(this.#min), indexOf(this.#max) + 1);
    this.#total = 0;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = 0;
    this.#sum = 0;
    this.#squares = 0;
    return taken;
  }

  /** The sum of histograms of workers or runs. */
  static of(...parts: readonly HistogramData[]): Histogram {
    const merged = new Histogram();
    for (const part of parts) merged.add(part);
    return merged;
  }
}
