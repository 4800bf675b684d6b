/** One search for the highest rates of several shares of loss, against servers whose loss is a formula. */
import { describe, expect, it } from 'vitest';
import { summarizeCases } from '../src/engine/cases.ts';
import { lossEstimands } from '../src/experiments/loss/index.ts';
import { mergeTimelines, recoveryOf } from '../src/experiments/loss/recovery.ts';
import { type Band, searchBands, type Tried } from '../src/experiments/loss/search.ts';

const BANDS = [0, 0.001, 0.01, 0.05];

/** Loses everything beyond its capacity, and some below it, from `clean` on. */
function server({ capacity, clean, generator = Number.POSITIVE_INFINITY }: Record<string, number>) {
  const tried: number[] = [];
  return {
    tried,
    attempt: async (rate: number): Promise<Tried> => {
      tried.push(rate);
      const sent = Math.min(rate, generator);
      const over = Math.max(0, 1 - (capacity ?? 0) / sent);
      const early =
        sent <= (clean ?? 0) ? 0 : 0.02 * ((sent - (clean ?? 0)) / ((capacity ?? 0) - (clean ?? 0)));
      const lostRatio = Math.max(over, Math.min(early, 0.02));
      return { rate, lostRatio, generatorLimited: sent < rate, lostByGenerator: false };
    },
  };
}

const rates = (bands: readonly Band[]) => bands.map(({ rate }) => rate);

describe('a search for several shares of loss', () => {
  it('finds each rate within the precision, with tries that serve all of them', async () => {
    const { attempt, tried } = server({ capacity: 40_000, clean: 20_000 });
    const found = await searchBands({ bands: BANDS, start: 32_000, precision: 0.05 }, attempt);
    // Where the formula reaches the shares; 5 % only beyond the capacity.
    const truth = [20_000, 21_000, 30_000, 40_000 / 0.95];
    for (const [index, rate] of rates(found).entries()) {
      expect(rate).toBeLessThanOrEqual(truth[index] ?? 0);
      expect(rate).toBeGreaterThan((truth[index] ?? 0) / 1.0501);
    }
    expect(found.every(({ generatorLimited }) => !generatorLimited)).toBe(true);
    expect(tried.length).toBeLessThanOrEqual(16);
    expect(new Set(tried).size).toBe(tried.length);
  });

  it('never gives a lower rate for a larger share', async () => {
    for (const start of [11, 500, 40_000, 4_000_000]) {
      const { attempt } = server({ capacity: 40_000, clean: 39_000 });
      const found = rates(await searchBands({ bands: BANDS, start, precision: 0.05 }, attempt));
      expect(found).toEqual(found.toSorted((a, b) => a - b));
      expect(found[0]).toBeGreaterThan(39_000 / 1.0501);
    }
  });

  it('gives a lower bound where the load generator cannot send more, and says so', async () => {
    const { attempt } = server({ capacity: 1e6, clean: 1e6, generator: 50_000 });
    const found = await searchBands({ bands: BANDS, start: 32_000, precision: 0.05 }, attempt);
    for (const { rate, generatorLimited } of found) {
      expect(rate).toBeLessThanOrEqual(50_000);
      expect(rate).toBeGreaterThan(50_000 / 1.0501);
      expect(generatorLimited).toBe(true);
    }
  });

  it('gives zero for a server that loses queries at any rate, and rates for the shares that it holds', async () => {
    const attempt = async (rate: number): Promise<Tried> => ({
      rate,
      lostRatio: rate > 1000 ? 0.5 : 0.002,
      generatorLimited: false,
      lostByGenerator: false,
    });
    const [none, few, some] = await searchBands({ bands: BANDS, start: 800, precision: 0.05 }, attempt);
    expect([none?.rate, few?.rate]).toEqual([0, 0]);
    expect(some?.rate).toBeGreaterThan(950);
  });

  it.each([
    ['the server lost', false],
    ['the load generator itself lost', true],
  ])(
    'of what could not quite be sent, and %s, gives a bound only if the generator lost it',
    async (_, lostByGenerator) => {
      const attempt = async (rate: number): Promise<Tried> =>
        rate > 1000
          ? { rate, lostRatio: 0.5, generatorLimited: true, lostByGenerator }
          : { rate, lostRatio: 0, generatorLimited: false, lostByGenerator: false };
      const found = await searchBands({ bands: [0.01], start: 800, precision: 0.05 }, attempt);
      expect(found.map(({ generatorLimited }) => generatorLimited)).toEqual([lostByGenerator]);
    },
  );

  it('reaches its precision for any number of shares', async () => {
    const bands = Array.from({ length: 12 }, (_, index) => index / 25);
    const { attempt } = server({ capacity: 40_000, clean: 39_999 });
    const found = rates(await searchBands({ bands, start: 32_000, precision: 0.01 }, attempt));
    for (const [index, rate] of found.entries())
      expect(rate).toBeGreaterThan(39_999 / (1 - (bands[index] ?? 0)) / 1.0101);
  });

  it.each([
    [92_000, 0.05, 96_000, 97_000],
    [80_000, 0.05, 100_000, 105_000],
    [92_000, 0.5, 60_000, 97_000],
  ])(
    'of a limit of %i/s, known to %f, shows no difference between servers that have it both',
    async (capacity, precision, ...closed) => {
      const estimands = lossEstimands({ bands: [0], precision });
      const found = closed.map(async (throughput) => {
        const { attempt } = server({ capacity, clean: capacity });
        const start = throughput * 0.8;
        const bands = await searchBands({ bands: [0], start, precision }, attempt);
        return estimands[0]?.of({ bands, limit: 0, probes: [], recovery: null }) as number;
      });
      const rates = await Promise.all(found);
      expect(rates[0]).not.toBe(rates[1]);
      const planned = ['a', 'b'].map((subject) => ({
        ...{ key: subject, subject, point: {}, aa: false, expectedSeconds: 1 },
      }));
      // Also where it depends on what others took, and they allow for that.
      for (const slope of [0, -1.2]) {
        const trials = planned.flatMap(({ key }, at) =>
          Array.from({ length: 8 }, (_, round) => {
            const taken = ((3 * round + at) % 8) / 10;
            return {
              ...{ key: `${key}#${round}`, case: key, round, order: round, startedAt: '', endedAt: '' },
              ...(slope === 0 ? {} : { taken }),
              ...{ status: 'ok' as const, bounds: [], evidence: null },
              figures: { 'rate@0%': (rates[at] ?? 0) * Math.exp(slope * taken) },
            };
          }),
        );
        const [, compared] = summarizeCases(planned, 8, { id: 'run', baseline: 'a', trials, estimands });
        const delta = compared?.comparison?.deltas['rate@0%'];
        expect(delta).toMatchObject({ verdict: 'no difference shown' });
        expect(delta).toMatchObject({ allowance: slope === 0 ? null : { slope: expect.closeTo(slope) } });
      }
    },
  );

  it('ends although a rate that lost queries once holds the next time', async () => {
    let tries = 0;
    const attempt = async (rate: number): Promise<Tried> => {
      tries += 1;
      const lostRatio = tries % 2 === 0 ? 0.2 : 0;
      return { rate, lostRatio, generatorLimited: false, lostByGenerator: false };
    };
    await searchBands({ bands: BANDS, start: 1000, precision: 0.01 }, attempt);
    expect(tries).toBeLessThanOrEqual(40);
  });
});

describe('the recovery after an overload', () => {
  /** A second of overload at 3,000 a second, then two at 500, in twentieths; what is lost is given up half a second later. */
  const load = {
    overloadSeconds: 1,
    overloadRate: 3000,
    afterSeconds: 2,
    afterRate: 500,
    timeoutSeconds: 0.5,
  };
  const timeline = (lostAt: (sentAt: number) => number, sentInOverload = 150) =>
    Array.from({ length: 80 }, (_, index) => {
      const atSeconds = (index + 1) / 20;
      const sent = atSeconds <= 1 ? sentInOverload : atSeconds <= 3 ? 25 : 0;
      return { atSeconds, sent, answered: sent, lost: lostAt(atSeconds - 0.5) };
    });

  it('is at once where nothing more is lost', () => {
    const lost = (sentAt: number) => (sentAt > 0 && sentAt <= 1.05 ? 100 : 0);
    expect(recoveryOf(timeline(lost), load)).toEqual({ rate: 500, lostRatioInFirstSecond: 0, seconds: 0 });
  });

  it('does not take a late report of the overload for one of what came after', () => {
    const late = timeline((sentAt) => (sentAt > 0 && sentAt <= 1.05 ? 100 : 0)).map((interval) => ({
      ...interval,
      atSeconds: interval.atSeconds + 0.003,
    }));
    expect(recoveryOf(late, load)).toEqual({ rate: 500, lostRatioInFirstSecond: 0, seconds: 0 });
  });

  it('takes as long as queries are lost that were sent after the overload', () => {
    const lost = (sentAt: number) => (sentAt > 0 && sentAt <= 1.42 ? 20 : 0);
    const found = recoveryOf(timeline(lost), load);
    expect(found?.seconds).toBeCloseTo(0.4, 6);
    expect(found?.lostRatioInFirstSecond).toBeCloseTo((7 * 20) / 500, 6);
  });

  it('is none where they are lost to the end', () => {
    const found = recoveryOf(
      timeline((sentAt) => (sentAt > 0 ? 20 : 0)),
      load,
    );
    expect(found).toMatchObject({ lostRatioInFirstSecond: (20 * 20) / 500, seconds: null });
  });

  it('is that of all load generators together, also of one that stalled for two intervals', () => {
    const half = timeline(() => 0, 75);
    const stalled = half.flatMap((interval, index) =>
      index === 3 ? [] : [index === 4 ? { ...interval, sent: 150 } : interval],
    );
    for (const all of [
      [stalled, half],
      [half, stalled],
    ]) {
      expect(mergeTimelines(all)).toHaveLength(80);
      expect(recoveryOf(mergeTimelines(all), load)?.seconds).toBe(0);
    }
  });

  it('is not known where the load generator could not send the overload', () => {
    expect(
      recoveryOf(
        timeline(() => 0, 100),
        load,
      ),
    ).toBeNull();
  });
});
