/** The sums over workers, interval by interval. */
import { describe, expect, it } from 'vitest';
import { Measurements } from '../src/engine/measurements.ts';
import { type MeasuredInterval, Tally } from '../src/result/tally.ts';

/** What a worker reports that has sent so many queries. */
function sent(queries: number) {
  const measurements = new Measurements();
  measurements.counts.sent = queries;
  return measurements.take();
}

const SUMMARY = { sendingNs: 1e9, lastAnswerNs: 1e9, exhausted: false, use: null, sockets: null };

function tallyOf(workers: number) {
  const intervals: MeasuredInterval[] = [];
  const tally = new Tally(workers, (interval) => intervals.push(interval));
  return { tally, sums: () => intervals.map(({ counts }) => counts.sent) };
}

describe('an interval', () => {
  it('has the queries of all workers, whichever reports first', () => {
    const { tally, sums } = tallyOf(3);
    tally.interval(1, 0, 0.1e9, sent(10));
    tally.interval(1, 1, 0.2e9, sent(20));
    tally.interval(0, 0, 0.1e9, sent(100));
    expect(sums()).toEqual([]);
    tally.interval(2, 0, 0.1e9, sent(1000));
    expect(sums()).toEqual([1110]);
    tally.interval(2, 1, 0.2e9, sent(2000));
    tally.interval(0, 1, 0.2e9, sent(200));
    expect(sums()).toEqual([1110, 2220]);
  });

  it('does not wait for a worker that is done', () => {
    const { tally, sums } = tallyOf(2);
    tally.done(0, SUMMARY, 0.05e9, sent(5));
    tally.interval(1, 0, 0.1e9, sent(10));
    tally.interval(1, 1, 0.2e9, sent(10));
    tally.done(1, SUMMARY, 0.25e9, sent(1));
    expect(sums()).toEqual([15, 10, 1]);
    expect(tally.total.counts.sent).toBe(26);
  });

  it('of a worker that was away for several is the last of them, beside the same one of the others', () => {
    const { tally, sums } = tallyOf(2);
    for (const index of [0, 1, 2, 3]) tally.interval(0, index, (index + 1) * 0.1e9, sent(10));
    tally.interval(1, 0, 0.1e9, sent(1));
    expect(sums()).toEqual([11]);
    tally.interval(1, 2, 0.33e9, sent(2));
    expect(sums()).toEqual([11, 10, 12]);
    tally.interval(1, 3, 0.4e9, sent(1));
    expect(sums()).toEqual([11, 10, 12, 11]);
  });

  it('that all workers were away for is a part of the next', () => {
    const intervals: MeasuredInterval[] = [];
    const tally = new Tally(1, (interval) => intervals.push(interval));
    tally.interval(0, 0, 0.1e9, sent(10));
    tally.interval(0, 3, 0.42e9, sent(32));
    expect(intervals.map(({ index, fromSeconds, toSeconds }) => [index, fromSeconds, toSeconds])).toEqual([
      [0, 0, 0.1],
      [1, 0.1, 0.42],
    ]);
  });

  it('has the first and the last answer without an error of all workers, since the start', () => {
    const heard = (...atNs: number[]) => {
      const measurements = new Measurements();
      for (const ns of atNs) measurements.hear(ns);
      return measurements.take(1e9);
    };
    const intervals: MeasuredInterval[] = [];
    const tally = new Tally(2, (interval) => intervals.push(interval));
    tally.interval(0, 0, 0.1e9, heard(1.02e9, 1.01e9, 1.05e9));
    tally.interval(1, 0, 0.1e9, heard(1.07e9));
    tally.interval(0, 1, 0.2e9, heard());
    tally.interval(1, 1, 0.2e9, heard(1.15e9));
    tally.interval(0, 2, 0.3e9, heard());
    tally.interval(1, 2, 0.3e9, heard());
    expect(intervals.map(({ goodSeconds }) => goodSeconds)).toEqual([
      { first: expect.closeTo(0.01, 9), last: expect.closeTo(0.07, 9) },
      { first: expect.closeTo(0.15, 9), last: expect.closeTo(0.15, 9) },
      null,
    ]);
  });
});
