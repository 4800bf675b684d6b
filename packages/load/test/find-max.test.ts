/** What a trial of the search for the highest rate shows, and what a search refuses; the search itself: find-max.timing.test.ts. */
import { expect, it } from 'vitest';
import { assessTrial } from '../src/find-max.ts';
import { findMax, LoadError, searchMaxRate } from '../src/index.ts';
import { resultOf } from './support/results.ts';

const ALL = { sent: 1000, answered: 1000 };
const LIMITS = { maxLostRatio: 0, maxP99Seconds: null };

it.each([
  ['everything was answered', ALL, true, false],
  ['the server lost a query', { ...ALL, answered: 999, lost: 1 }, false, false],
  ['one query never left', { ...ALL, unsent: 1 }, false, true],
  ['one never left, and others were lost', { ...ALL, answered: 900, lost: 100, unsent: 1 }, false, false],
  ['no query left', { unsent: 1000 }, false, true],
  ['nothing was answered', { sent: 1000, lost: 1000 }, false, false],
] as const)('a trial in which %s', (_what, counts, sustained, generatorLimited) => {
  const result = resultOf({ load: { kind: 'constant', rate: 1000 } }, counts);
  expect(assessTrial(result, LIMITS)).toEqual({ sustained, generatorLimited });
});

it.each([
  [{ repetitions: 0 }, 'repetitions cannot be 0'],
  [{ repetitions: 1.5 }, 'repetitions cannot be 1.5'],
  [{ precision: 0 }, 'precision cannot be 0'],
  [{ precision: -0.01 }, 'precision cannot be -0.01'],
  [{ precision: Number.NaN }, 'precision cannot be NaN'],
  [{ low: 0 }, 'low cannot be 0'],
  [{ high: 10 }, 'high cannot be 10'],
  [{ low: 200, high: 100 }, 'low is 200, high 100'],
])('a search with %j is refused before the first trial', async (options, problem) => {
  const search = searchMaxRate(options, () => Promise.reject(new Error('a trial')));
  await expect(search).rejects.toBeInstanceOf(LoadError);
  await expect(search).rejects.toMatchObject({ code: 'E_OPTIONS', problems: [{ problem }] });
});

it('names all that is wrong with a search and its limits at once', async () => {
  const base = { server: '192.0.2.1', workload: { kind: 'zones' } } as const;
  const search = findMax({ base, repetitions: 0, maxLostRatio: 1.5, maxP99Seconds: -1 });
  await expect(search).rejects.toMatchObject({
    code: 'E_OPTIONS',
    problems: [
      { problem: 'repetitions cannot be 0', fix: 'give at least 1' },
      { problem: 'maxLostRatio cannot be 1.5', fix: 'give at most 1' },
      { problem: 'maxP99Seconds cannot be -1', fix: 'give more than 0' },
    ],
  });
});
