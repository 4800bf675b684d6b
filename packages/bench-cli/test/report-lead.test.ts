/** One sentence and one picture for a reader who knows no statistics. */
import { describe, expect, it } from 'vitest';
import { leadOf } from '../src/report/lead.ts';
import type { LimitedBy } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { renderHtml, renderTerminal } from './support/render.ts';

const trials = (qps: number, limitedBy: LimitedBy = 'server') =>
  [0, 1, -1].map((noise) => ({ qps: qps + noise, cpuSecondsPerQuery: 1 / (qps + noise), limitedBy }));

const recordOf = (limitedBy: LimitedBy) =>
  makeRecord({
    cases: [
      { server: 'coredns', trials: trials(1000) },
      { server: 'dinodns', trials: trials(4000, limitedBy) },
      { server: 'knot', trials: [{ qps: 990 }, { qps: 1000 }, { qps: 1010 }] },
    ],
  });

describe('the lead of a run', () => {
  it('says how many times as many queries, where the servers were the limit', () => {
    const lead = leadOf(recordOf('server'));
    expect(lead?.figures).toBe(
      'CoreDNS answered 1,000 queries per second with 1.00 ms of CPU each, DinoDNS 4,000 with 250 µs and Knot DNS 1,000 with 1.00 ms.',
    );
    expect(lead?.text).toBe(
      `${lead?.figures} ` +
        'Compared with CoreDNS, DinoDNS answers 4.0 times as many queries per second and Knot DNS shows no difference.',
    );
    expect(lead?.caption).toBe('queries per second (more is better)');
    expect(lead?.bars).toMatchObject([
      { title: 'CoreDNS', share: 0.25, value: '1,000' },
      { title: 'DinoDNS', share: 1, value: '4,000' },
      { title: 'Knot DNS', share: 0.25, value: '1,000' },
    ]);
  });

  it('says no size that would be none', () => {
    const record = makeRecord({
      cases: [1, 1.004].map((factor, index) => ({
        server: ['coredns', 'dinodns'][index] ?? '',
        trials: [1000, 1300, 900, 1100].map((qps, round) => ({
          qps: qps * (index ? factor + round / 2000 : 1),
        })),
      })),
    });
    expect(leadOf(record)?.text).toMatch(/DinoDNS answers 0\.[3-9] % more/);
  });

  it('is about CPU per query where one was not', () => {
    const lead = leadOf(recordOf('loader'));
    expect(lead?.text).toContain('DinoDNS needs 75.0 % less CPU per query');
    expect(lead?.caption).toBe('CPU time per query (less is better)');
    expect(lead?.bars.map(({ value }) => value)).toEqual(['1.00 ms', '250 µs', '1.00 ms']);
  });

  it('is there in the terminal and on the page, and not where one sentence cannot say it', async () => {
    const record = recordOf('server');
    const text = renderTerminal(record);
    expect(text).toMatch(/^CoreDNS answered 1,000 queries per second with 1\.00 ms of CPU each, DinoDNS/);
    expect(text).toMatch(/^DinoDNS {3}█+ {2}4,000$/m);
    for (const line of text.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
    expect(await renderHtml(record, { delta: 'relative' })).toContain('4.0 times as many queries');
    const several = makeRecord({
      cases: [1, 2].flatMap((tier) => [
        { server: 'coredns', tier, trials: trials(1000) },
        { server: 'dinodns', tier, trials: trials(2000) },
      ]),
    });
    expect(leadOf(several)).toBeNull();
    expect(leadOf(makeRecord({ cases: [{ server: 'coredns', trials: trials(1000) }] }))).toBeNull();
  });
});
