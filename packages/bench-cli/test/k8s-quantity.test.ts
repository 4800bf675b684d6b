import { describe, expect, it } from 'vitest';
import { cpuQuantity, parseQuantity } from '../src/quantity.ts';

describe('quantities', () => {
  it.each([
    ['1', 1],
    ['500m', 0.5],
    ['0.1', 0.1],
    ['1.5', 1.5],
    ['1500m', 1.5],
    ['250n', 250e-9],
    ['12345678n', 0.012345678],
    ['3u', 3e-6],
    ['128974848', 128_974_848],
    ['129e6', 129e6],
    ['129M', 129e6],
    ['123Mi', 123 * 2 ** 20],
    ['1Gi', 2 ** 30],
    ['2k', 2000],
    ['1Ki', 1024],
    ['1E', 1e18],
    ['1e3', 1000],
    ['.5', 0.5],
    ['-1', -1],
  ])('%s is %d', (text, value) => {
    expect(parseQuantity(text)).toBe(value);
  });

  it.each(['', ' ', 'one', '1 Gi', '1gi', '1mi', '1KiB', '--1', '1e', undefined])('%j is none', (text) => {
    expect(parseQuantity(text)).toBeNull();
  });

  it.each([
    [1, '1'],
    [0.5, '500m'],
    [1.5, '1500m'],
    [0.1 + 0.2, '300m'],
    [1 / 3, '334m'],
    [0.0001, '1m'],
    [64, '64'],
  ])('%d cores are written as %s, never as less', (cores, text) => {
    expect(cpuQuantity(cores)).toBe(text);
    expect(parseQuantity(text)).toBeGreaterThanOrEqual(Number(cores.toFixed(9)));
  });
});
