import { build, decodeFromCompressedBase64 } from 'hdr-histogram-js';
import { expect, it } from 'vitest';
import { decodeHistogram, encodeHistogram, mergeEncoded } from '../src/histogram/encoding.ts';
import { renderHgrm } from '../src/histogram/hgrm.ts';
import { COUNTS, Histogram, highestAt, lowestAt, MAX_VALUE } from '../src/histogram/histogram.ts';

const PERCENTILES = [0, 1, 50, 75, 90, 99, 99.5, 99.9, 99.95, 99.99, 100];

/** Values from 1 ns to minutes, repeatable, with a heavy tail. */
function sample(count: number, seed = 1): number[] {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => Math.floor(10 ** (random() * 11)));
}

function recorded(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

/** HdrHistogram of the same configuration, by its authors' port to JavaScript. */
function reference(values: readonly number[]) {
  const histogram = build({
    bitBucketSize: 64,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_VALUE,
    numberOfSignificantValueDigits: 3,
  });
  for (const value of values) histogram.recordValue(value);
  return histogram;
}

it('divides the whole range without gap or overlap into buckets of at most a thousandth of their value', () => {
  for (let index = 0; index < COUNTS; index++) {
    expect(lowestAt(index + 1)).toBe(highestAt(index) + 1);
    expect(highestAt(index) - lowestAt(index)).toBeLessThanOrEqual(lowestAt(index) / 1000);
  }
  expect(highestAt(COUNTS - 1)).toBe(MAX_VALUE);
});

it('counts every value where it belongs', () => {
  const edges = Array.from({ length: COUNTS }, (_, index) => [lowestAt(index), highestAt(index)]).flat();
  const histogram = recorded(edges);
  for (const [index, count] of histogram.entries()) expect([index, count]).toEqual([index, 2]);
  expect(histogram.total).toBe(edges.length);
});

it("has HdrHistogram's percentiles", () => {
  const values = sample(50_000);
  const [ours, theirs] = [recorded(values), reference(values)];
  for (const percentile of PERCENTILES.slice(1, -1)) {
    expect(ours.percentile(percentile)).toBe(theirs.getValueAtPercentile(percentile));
  }
  expect(ours.total).toBe(theirs.totalCount);
});

it('has nearest-rank percentiles to within a thousandth, and exact extremes and moments', () => {
  const values = sample(9_999).sort((a, b) => a - b);
  const histogram = recorded(values);
  for (const percentile of PERCENTILES) {
    const exact = values[Math.max(0, Math.ceil((percentile / 100) * values.length) - 1)] ?? 0;
    const found = histogram.percentile(percentile);
    expect(found).toBeGreaterThanOrEqual(exact);
    expect(found).toBeLessThanOrEqual(exact * 1.001 + 1);
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  expect(histogram.min).toBe(values[0]);
  expect(histogram.max).toBe(values.at(-1));
  expect(histogram.mean).toBeCloseTo(mean, 0);
  expect(histogram.standardDeviation / Math.sqrt(variance)).toBeCloseTo(1, 9);
});

it('is 0 if empty, counts negative values as 0 and values beyond its range as its maximum', () => {
  const histogram = new Histogram();
  expect([histogram.percentile(99), histogram.mean, histogram.min, histogram.max]).toEqual([0, 0, 0, 0]);
  expect(histogram.standardDeviation).toBe(0);
  for (const value of [-5, Number.NaN, 1e15]) histogram.record(value);
  expect([histogram.min, histogram.max, histogram.total]).toEqual([0, MAX_VALUE, 3]);
});

it('merges as if all values had been recorded in one histogram', () => {
  const [first, second] = [sample(5_000, 3), sample(7_000, 4)];
  const merged = Histogram.of(recorded(first).data(), recorded(second).data(), new Histogram().data());
  const { squares, ...all } = recorded([...first, ...second]).data();
  expect(merged.data()).toMatchObject(all);
  // The last digits of a sum of doubles depend on the order.
  expect(merged.data().squares / squares).toBeCloseTo(1, 12);
});

it('hands over its counts and starts again', () => {
  const histogram = recorded(sample(1_000));
  const before = histogram.data();
  expect(histogram.take()).toEqual(before);
  expect(histogram.data()).toEqual(new Histogram().data());
});

it('counts what is above a value', () => {
  const histogram = recorded([1, 2, 3, 1_000_000, 2_000_000]);
  expect(histogram.countAbove(3)).toBe(2);
  expect(histogram.countAbove(5_000_000)).toBe(0);
});

it("is encoded so that HdrHistogram's own library reads it", () => {
  const values = sample(20_000, 7);
  const theirs = decodeFromCompressedBase64(encodeHistogram(recorded(values)), 64);
  expect(theirs.totalCount).toBe(values.length);
  for (const percentile of PERCENTILES.slice(1, -1)) {
    expect(theirs.getValueAtPercentile(percentile)).toBe(recorded(values).percentile(percentile));
  }
});

it('is decoded again with every count, and merges across runs', () => {
  const runs = [sample(3_000, 8), sample(4_000, 9)];
  const texts = runs.map((values) => encodeHistogram(recorded(values)));
  const merged = mergeEncoded(texts);
  expect([...merged.entries()]).toEqual([...recorded(runs.flat()).entries()]);
  expect([...Histogram.of(decodeHistogram(encodeHistogram(new Histogram()))).entries()]).toEqual([]);
});

it('rejects what is not a histogram', () => {
  for (const text of ['', 'abcd', Buffer.alloc(60).toString('base64')]) {
    expect(() => decodeHistogram(text)).toThrow(RangeError);
  }
});

it("writes the percentile log line by line as HdrHistogram's library does", () => {
  for (const values of [sample(20_000, 11), [42_000], Array.from({ length: 100 }, () => 1_000_000)]) {
    const theirs = reference(values).outputPercentileDistribution(5, 1000, false);
    const lines = (text: string) =>
      text
        .split('\n')
        .filter((line) => /^\s*\d/.test(line))
        .map((line) => line.trim().split(/\s+/).map(Number));
    const [ours, expected] = [lines(renderHgrm(recorded(values))), lines(theirs)];
    expect(ours.length).toBe(expected.length);
    for (const [i, line] of ours.entries()) {
      const [value = 0, ...rest] = expected[i] ?? [];
      // Ours never exceeds the exact maximum.
      expect(line[0]).toBeLessThanOrEqual(value);
      expect(line[0]).toBeGreaterThan(value * 0.999 - 0.001);
      for (const [column, number] of rest.entries()) expect(line[column + 1]).toBeCloseTo(number, 9);
    }
  }
});
