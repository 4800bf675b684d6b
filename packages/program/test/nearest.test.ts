import { expect, test } from 'vitest';
import { nearest } from '../src/nearest.ts';

test.each([
  ['coredn', ['dinodns', 'coredns'], 'coredns'],
  ['coerdns', ['dinodns', 'coredns'], 'coredns'],
  ['rnu', ['run', 'report'], 'run'],
  ['core', ['dinodns', 'corefile'], 'corefile'],
  ['HOSTS', ['hosts'], 'hosts'],
  ['frobnicate', ['run', 'report'], undefined],
  ['', ['run'], undefined],
])('the word nearest to "%s" of %j is %s', (word, known, expected) => {
  expect(nearest(word, known)).toBe(expected);
});
