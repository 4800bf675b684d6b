import { reverseName } from '@dinodns-bench/wire';
import { describe, expect, test } from 'vitest';
import { LoadError } from '../src/errors.ts';
import { createRandom } from '../src/workload/random.ts';
import { startWorkload } from '../src/workload/start.ts';
import { cumulate, weightedDraw, zipfWeights } from '../src/workload/weights.ts';
import { messageAt, nameAt, namesOf, plan } from './support/plans.ts';

const share = (names: readonly string[], wanted: (name: string) => boolean) =>
  names.filter(wanted).length / names.length;
const number = (name: string) => Number(/example(\d+)/.exec(name)?.[1]);

describe('order', () => {
  test('names are queried in order, for each type, repeatedly', async () => {
    const made = await plan({ kind: 'names', names: ['a.test', 'b.test'], types: ['A', 'AAAA'] });
    expect(namesOf(made, 6)).toEqual(['a.test', 'a.test', 'b.test', 'b.test', 'a.test', 'a.test']);
    expect(messageAt(made, 1).subarray(-4)).toEqual(Buffer.from([0, 28, 0, 1]));
    expect(made.description).toBe('2 names, types A, AAAA, in order');
  });

  test('each of several workers queries all names in order, and together they begin with each name once', async () => {
    const made = await plan({ kind: 'zones', to: 7 });
    const parts = [0, 1, 2].map((worker) => namesOf(made, 7, { worker, workers: 3 }).map(number));
    expect(parts).toEqual([
      [1, 2, 3, 4, 5, 6, 7],
      [4, 5, 6, 7, 1, 2, 3],
      [6, 7, 1, 2, 3, 4, 5],
    ]);
    // As `maxQueries: 7` is shared.
    const first = parts.flatMap((part, worker) => part.slice(0, worker === 0 ? 3 : 2));
    expect(first).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('passes end the workload, shared by the workers', async () => {
    const made = { ...(await plan({ kind: 'zones', to: 5 })), passes: 3 };
    const asked = [0, 1].flatMap((worker) => namesOf(made, 100, { worker, workers: 2 }));
    expect(asked).toHaveLength(15);
    for (const x of [1, 2, 3, 4, 5]) expect(asked.filter((name) => number(name) === x)).toHaveLength(3);
    const random = { ...made, order: 'random' as const };
    expect([0, 1].flatMap((worker) => namesOf(random, 100, { worker, workers: 2 }))).toHaveLength(15);
  });

  test('random choices are repeatable by seed, and differ between workers', async () => {
    const made = await plan({ kind: 'zones', popularity: 'random' });
    expect(namesOf(made, 50, { seed: 7 })).toEqual(namesOf(made, 50, { seed: 7 }));
    expect(namesOf(made, 50, { seed: 7 })).not.toEqual(namesOf(made, 50, { seed: 8 }));
    expect(namesOf(made, 50, { seed: 7 })).not.toEqual(namesOf(made, 50, { seed: 7, worker: 1, workers: 2 }));
  });
});

describe('zones', () => {
  test('by default the published workload: X from 1 to 200, in order', async () => {
    const made = await plan({ kind: 'zones' });
    expect(namesOf(made, 200)).toEqual(Array.from({ length: 200 }, (_, i) => `example${i + 1}.com`));
  });

  test.each([0, 0.1, 0.5, 0.75, 1])(
    'a hit ratio of %d holds at every point of the workload',
    async (hitRatio) => {
      const names = namesOf(await plan({ kind: 'zones', to: 1000, hitRatio }), 1000);
      let hits = 0;
      for (const [index, name] of names.entries()) {
        hits += number(name) % 2;
        expect(Math.abs(hits - hitRatio * (index + 1))).toBeLessThanOrEqual(1);
      }
      expect(hits).toBe(hitRatio * 1000);
    },
  );

  test.each([
    { hitRatio: 0.9, length: 200, hits: 180 },
    { hitRatio: 0.999, length: 1000, hits: 999 },
    { hitRatio: 0.001, length: 1000, hits: 1 },
    { hitRatio: 0.9925, length: 400, hits: 397 },
    { hitRatio: 1 / 3, length: 201, hits: 67 },
  ])('a hit ratio of $hitRatio of 200 names takes a list of $length', async ({ hitRatio, length, hits }) => {
    const made = await plan({ kind: 'zones', hitRatio });
    expect(made.arena.count).toBe(length);
    const isHit = namesOf(made, length).map((name) => number(name) % 2 === 1);
    expect(isHit.filter(Boolean)).toHaveLength(hits);
  });

  test('a hit ratio of many digits is met to a millionth of the rarer names', async () => {
    const made = await plan({ kind: 'zones', hitRatio: 0.987654321 });
    const hits = namesOf(made, made.arena.count).filter((name) => number(name) % 2 === 1).length;
    expect(Math.abs(hits / made.arena.count - 0.987654321)).toBeLessThan(0.0124e-6);
    expect(made.description).toContain('98.7654321 % of them odd');
  });

  test('a ratio of one half is the same as the numbers in order', async () => {
    const [mixed, plain] = [await plan({ kind: 'zones', hitRatio: 0.5 }), await plan({ kind: 'zones' })];
    expect(namesOf(mixed, 200)).toEqual(namesOf(plain, 200));
  });

  test('Zipf popularity keeps the hit ratio', async () => {
    const made = await plan({ kind: 'zones', to: 2000, hitRatio: 0.9, popularity: 'zipf' });
    const names = namesOf(made, 20_000);
    // Four standard deviations of 20,000 draws.
    expect(Math.abs(share(names, (name) => number(name) % 2 === 1) - 0.9)).toBeLessThan(
      4 * Math.sqrt(0.09 / 20_000),
    );
  });
});

describe('popularity', () => {
  test("Zipf's law: the first name has 1/H of the queries, the k-th a k-th of that", async () => {
    const made = await plan({ kind: 'zones', to: 100, popularity: 'zipf' });
    const names = namesOf(made, 100_000);
    const harmonic = zipfWeights(100, 1).reduce((sum, weight) => sum + weight, 0);
    for (const rank of [1, 2, 10, 100]) {
      const p = 1 / (rank * harmonic);
      const tolerance = 5 * Math.sqrt((p * (1 - p)) / 100_000);
      expect(Math.abs(share(names, (name) => number(name) === rank) - p)).toBeLessThan(tolerance);
    }
  });

  test('names and types by weight', async () => {
    const made = await plan({
      kind: 'names',
      names: ['a.test', 'b.test', 'c.test'],
      weights: [6, 3, 0],
      types: ['A', 'AAAA'],
      typeWeights: [1, 3],
    });
    const workload = startWorkload(made, { worker: 0, workers: 1, seed: 3 });
    const counts = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < 60_000; i += 1) {
      const index = workload.next();
      counts[index] = (counts[index] ?? 0) + 1;
    }
    const expected = [1 / 6, 1 / 2, 1 / 12, 1 / 4, 0, 0];
    for (const [index, p] of expected.entries()) {
      expect(Math.abs((counts[index] ?? 0) / 60_000 - p)).toBeLessThanOrEqual(
        5 * Math.sqrt((p * (1 - p)) / 60_000),
      );
    }
  });

  test('draws follow any weights, by a chi-squared test', () => {
    const random = createRandom(11);
    const weights = Array.from({ length: 50 }, () => random.fraction() ** 3);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const draw = weightedDraw(cumulate(weights), random);
    const counts = new Array<number>(50).fill(0);
    for (let i = 0; i < 500_000; i += 1) {
      const index = draw();
      counts[index] = (counts[index] ?? 0) + 1;
    }
    let chiSquared = 0;
    let freedom = -1;
    for (const [index, weight] of weights.entries()) {
      const wanted = (weight / total) * 500_000;
      if (wanted < 5) continue;
      freedom += 1;
      chiSquared += ((counts[index] ?? 0) - wanted) ** 2 / wanted;
    }
    // Mean f, variance 2f; the seed is fixed, so the outcome is too.
    expect(chiSquared).toBeLessThan(freedom + 4 * Math.sqrt(2 * freedom));
  });
});

describe('random labels', () => {
  test('a label of its own for each query, before the name', async () => {
    const made = await plan({ kind: 'names', names: ['example.com'], randomLabelLength: 12 });
    const names = namesOf(made, 1000);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]{12}\.example\.com$/);
    expect(new Set(names).size).toBe(1000);
  });

  test('all letters and digits are about as frequent', async () => {
    const made = await plan({ kind: 'names', names: ['x'], randomLabelLength: 63 });
    const counts = new Map<string, number>();
    for (const name of namesOf(made, 2000))
      for (const character of name.slice(0, 63)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(36);
    for (const count of counts.values()) expect(Math.abs(count / 3500 - 1)).toBeLessThan(0.1);
  });

  test('a name without room for a label is an error', async () => {
    const long = `${`${'y'.repeat(63)}.`.repeat(3)}${'y'.repeat(50)}`;
    await expect(plan({ kind: 'names', names: [long], randomLabelLength: 20 })).rejects.toMatchObject({
      code: 'E_WORKLOAD',
      message: expect.stringContaining('random label of 20'),
    });
  });
});

describe('reverse zones', () => {
  test('the PTR names of a network', async () => {
    const made = await plan({ kind: 'reverse', network: '10.1.2.252/30' });
    expect(namesOf(made, 10)).toHaveLength(10);
    expect(namesOf(made, 4)).toEqual([252, 253, 254, 255].map((x) => `${x}.2.1.10.in-addr.arpa`));
    expect(messageAt(made, 0).subarray(-4)).toEqual(Buffer.from([0, 12, 0, 1]));
    const wide = await plan({ kind: 'reverse', network: '10.0.0.0/16' });
    expect(wide.arena.count).toBe(2 ** 16);
    expect(nameAt(wide, 2 ** 16 - 1)).toBe('255.255.0.10.in-addr.arpa');
  });

  test('IPv6', async () => {
    // The example of RFC 3596 §2.5.
    expect(reverseName('4321:0:1:2:3:4:567:89ab')).toBe(
      'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa',
    );
    const made = await plan({ kind: 'reverse', network: '2001:db8::/127' });
    expect(namesOf(made, 2)).toEqual(['2001:db8::', '2001:db8::1'].map(reverseName));
  });
});

describe('errors', () => {
  test.each([
    [{ kind: 'names', names: ['a..b', 'good.test', 'x'.repeat(64)] }, 'E_NAME', /2 problems/],
    [{ kind: 'names', names: ['a.test'], types: ['AAAAA'] }, 'E_NAME', /"AAAAA" is not a type/],
    [{ kind: 'names', names: ['a.test', 'b.test'], weights: [1] }, 'E_WORKLOAD', /1 weights for 2 names/],
    [{ kind: 'names', names: ['a.test'], weights: [0] }, 'E_WORKLOAD', /all weights of the names are 0/],
    [
      { kind: 'names', names: ['a.test'], weights: [1], popularity: 'zipf' },
      'E_WORKLOAD',
      /weights and Zipf/,
    ],
    [{ kind: 'zones', pattern: 'example.com' }, 'E_WORKLOAD', /has no \{X\}/],
    [{ kind: 'zones', from: 5, to: 4 }, 'E_WORKLOAD', /is empty/],
    [{ kind: 'zones', from: 5, to: 5, hitRatio: 0.5 }, 'E_WORKLOAD', /needs odd and even/],
    [{ kind: 'zones', hitRatio: 1e-9 }, 'E_WORKLOAD', /needs more than 20,000,000 names/],
    [{ kind: 'zones', to: 1e9 }, 'E_WORKLOAD', /too many/],
    [{ kind: 'reverse', network: '10.0.0.0/8' }, 'E_WORKLOAD', /16777216 addresses/],
    [{ kind: 'reverse', network: '10.0.0/24' }, 'E_WORKLOAD', /not a network/],
    [{ kind: 'reverse', network: '10.0.0.0/33' }, 'E_WORKLOAD', /prefix length/],
  ] as const)('%j', async (workload, code, message) => {
    const error = await plan(workload).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LoadError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect((error as LoadError).fix).not.toBe('');
  });
});
