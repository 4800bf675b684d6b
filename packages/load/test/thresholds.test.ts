import { expect, it } from 'vitest';
import { noCounts } from '../src/engine/measurements.ts';
import { type CannonResult, crossedThresholds, LoadError, parseThreshold } from '../src/index.ts';

const result = {
  qps: 1000,
  counts: { ...noCounts(), sent: 1000, answered: 990, lost: 10, late: 1, wrongCode: 2, unreadable: 1 },
  codes: { NOERROR: 900, SERVFAIL: 90, BADVERS: 1 },
  latencySeconds: { mean: 0.002, p99: 0.005, 'p99.9': 0.0065, max: 0.5 },
  latenessSeconds: { p99: 0.0001 },
} as unknown as CannonResult;

const silent = { ...result, latencySeconds: null, latenessSeconds: null } as CannonResult;

const crosses = (text: string, of = result) => crossedThresholds([parseThreshold(text)], of).length === 1;

it.each([
  ['p99>5ms', false],
  ['p99>=5ms', true],
  ['p99>4999us', true],
  ['p99.9 > 6 ms', true],
  ['max<1s', true],
  ['mean>2000µs', false],
  ['lateness.p99>50us', true],
  ['lost>0.9%', true],
  ['lost>1%', false],
  ['lost>9', true],
  ['unexpected>2', true],
  ['SERVFAIL>9%', true],
  ['servfail>10%', false],
  ['RCODE2>89', true],
  ['BADSIG>0', true],
  ['qps<1000', false],
  ['qps<=1000', true],
])('%s: %s', (text, crossed) => {
  expect(crosses(text)).toBe(crossed);
});

it('treats silence as the worst latency', () => {
  expect(crosses('p99>5s', silent)).toBe(true);
  expect(crosses('p99<5s', silent)).toBe(false);
});

it('keeps the text and reports the measured value', () => {
  expect(crossedThresholds([parseThreshold('lost>0.1%')], result)).toEqual([
    { text: 'lost>0.1%', measured: 0.01 },
  ]);
});

it.each([
  ...['', 'p99', 'p99>5', 'p98>5ms', 'lost>5ms', 'qps>5%', 'nothing>1', 'p99=5ms', 'p99>1.2.3ms'],
  ...['constructor>5ms', 'constructor>1', 'p99>5constructor'],
])('rejects %j with what would be right', (text) => {
  expect(() => parseThreshold(text)).toThrow(LoadError);
});
