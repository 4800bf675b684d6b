import { describe, expect, it } from 'vitest';
import { interval } from '../src/engine/words.ts';
import { boundsText } from '../src/report/estimand.ts';
import {
  beside,
  formatBytes,
  formatCount,
  formatDelta,
  formatMillicores,
  formatOutwards,
  formatPercent,
  formatQps,
  formatShare,
  formatShort,
  formatTime,
  signed,
} from '../src/report/numbers.ts';
import { findRenderer } from '../src/report/renderer.ts';
import { type Measured, makeRecord } from './fixtures/make-record.ts';
import { renderers, renderTerminal } from './support/render.ts';

const trials = (qps: number, spread: number, more: Partial<Measured> = {}): Measured[] =>
  [1, 1 + spread, 1 - spread].map((factor, round) => ({
    qps: qps * factor * (1 + round / 1000),
    latencySeconds: 100 / qps,
    ...more,
  }));

const wide = makeRecord({
  cases: [
    { server: 'coredns', tier: 4, trials: trials(1_241_536, 0.031) },
    { server: 'coredns-multisocket', tier: 4, trials: trials(1_238_000, 0.04) },
    {
      server: 'dinodns-stock',
      tier: 4,
      contended: true,
      trials: trials(137_716, 0.02, { limitedBy: 'unknown', memoryBytes: 1.2e9 }),
    },
    {
      server: 'dinodns',
      tier: 4,
      trials: [{ failed: 'E_SERVER_DIED', message: 'it died '.repeat(30) }, ...trials(9, 0.01).slice(1)],
    },
    {
      server: 'knot',
      tier: 4,
      trials: [{ failed: 'E_ALL_LOST' }, { failed: 'E_ALL_LOST' }, { failed: 'E_ALL_LOST' }],
    },
  ],
});

const widths = (text: string) => text.split('\n').map((line) => [...line].length);

describe('the table in the terminal', () => {
  it('fits into 80 columns with the widest figures and names', () => {
    const text = renderTerminal(wide, { delta: 'relative' });
    expect(Math.max(...widths(text))).toBeLessThanOrEqual(80);
    expect(text).not.toContain('…\n');
    expect(text).toContain('1,241,536');
    expect(text).toContain('(multisocket)');
  });

  it('breaks long names rather than to push the columns together', () => {
    const text = renderTerminal(
      makeRecord({
        cases: [
          { server: 'coredns', trials: trials(41_536, 0.03) },
          { server: 'coredns-multisocket', trials: trials(41_200, 0.02) },
        ],
      }),
      { delta: 'relative' },
    );
    expect(text).toMatch(/^Server +QPS +vs CoreDNS {2,}Latency {2,}CPU\/query {2,}Memory {2,}Lost$/m);
    expect(text).toMatch(/^\(multisocket\) +±/m);
    expect(Math.max(...widths(text))).toBeLessThanOrEqual(80);
  });

  it('uses a wider terminal for names on one line', () => {
    expect(renderTerminal(wide, { delta: 'relative', columns: 120 })).toContain('CoreDNS (multisocket)  ');
  });

  it('shows figures, intervals, marks and what limited each server', () => {
    const text = renderTerminal(
      makeRecord({
        cases: [
          { server: 'coredns', trials: trials(40_000, 0.01) },
          { server: 'dinodns', trials: trials(80_000, 0.012, { limitedBy: 'loader' }) },
        ],
      }),
      { delta: 'relative' },
    );
    expect(text).toMatch(/CoreDNS +40,0\d\d +baseline +2\.50 ms +2\d\.\d µs +100 MiB +0 %/);
    expect(text).toMatch(/DinoDNS +80,0\d\d† +-50\.\d % CPU +1\.25 ms/);
    expect(text).toMatch(/1 × 1 vCPU +±\d\.\d % +-[\d.]+…-[\d.]+ % .* loader/);
    expect(text).toContain('† Not limited by the server');
    expect(text).toContain('DinoDNS used 50.0 % less CPU per query');
    expect(text).toContain('DinoDNS answered at least 80,000 queries per second');
    expect(text.trimEnd().split('\n').at(-1)).toBe('Complete: 6 of 6 trials measured.');
  });

  it('marks what is no difference, and explains it', () => {
    const text = renderTerminal(
      makeRecord({
        cases: [
          { server: 'coredns', trials: trials(40_000, 0.05) },
          { server: 'dinodns', trials: [{ qps: 40_000 }, { qps: 41_000 }, { qps: 43_000 }] },
        ],
      }),
      { delta: 'relative' },
    );
    expect(text).toContain('≈ +');
    expect(text).toContain('≈ No difference shown');
    expect(text).toContain('No difference shown between DinoDNS and CoreDNS');
  });

  it('has colours only if they are asked for', () => {
    expect(renderTerminal(wide, { delta: 'relative' })).not.toContain('\u001b');
    const coloured = renderTerminal(wide, { delta: 'relative', color: true });
    expect(coloured).toContain('\u001b[');
    const stripped = coloured
      .split('\u001b')
      .map((part, index) => (index === 0 ? part : part.replace(/^\[[\d;]*m/, '')));
    expect(stripped.join('')).toBe(renderTerminal(wide, { delta: 'relative' }));
  });

  it('shows failures with their reasons, and no more than ten', () => {
    const text = renderTerminal(
      makeRecord({
        cases: [{ server: 'coredns', trials: Array.from({ length: 12 }, () => ({ failed: 'E_ALL_LOST' })) }],
      }),
      { delta: 'relative' },
    );
    expect(text).toContain('E_ALL_LOST in coredns/tier=1/single/half/udp#0: the server died');
    expect(text).toContain('… and 2 more');
    expect(text).toContain('No result: all 12 trials failed.');
  });

  it('copes with runs that have nothing to show', () => {
    for (const record of [
      makeRecord({ cases: [] }),
      makeRecord({
        cases: [{ server: 'coredns', plannedTrials: 3, trials: [] }],
        record: { status: 'running', servers: [] },
      }),
      makeRecord({
        cases: [
          {
            server: 'dinodns',
            trials: [{ qps: 0, latencySeconds: null, cpuSecondsPerQuery: null, memoryBytes: null }],
          },
        ],
      }),
    ]) {
      expect(renderTerminal(record, { delta: 'symmetric' })).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  it('says a lost query is lost, however few they are', () => {
    const lost = makeRecord({
      cases: [
        {
          server: 'coredns',
          trials: [{ qps: 40_000, queriesSent: 24_000_000, queriesCompleted: 23_999_999 }],
        },
      ],
    });
    expect(renderTerminal(lost, { delta: 'relative' })).toContain('<0.01 %');
  });
});

describe('the registry of reports', () => {
  it('finds each by its name, and each ends with a line break', () => {
    for (const renderer of renderers) {
      expect(findRenderer(renderer.name, renderers)).toBe(renderer);
      expect(renderer.render(wide, { delta: 'relative' }).endsWith('\n')).toBe(true);
    }
    expect(findRenderer('pdf', renderers)).toBeUndefined();
  });

  it('has the record as JSON', () => {
    expect(JSON.parse(findRenderer('json', renderers)?.render(wide, { delta: 'relative' }) ?? '')).toEqual(
      wide,
    );
  });

  it('has one CSV line for each trial, unrounded, empty where there is no figure, quoted where it must be', () => {
    const record = makeRecord({
      cases: [
        {
          server: 'coredns',
          trials: [{ qps: 100.123456789, latencySeconds: null }, { failed: 'E_ALL_LOST' }],
        },
      ],
      record: { id: 'x' },
    });
    const first = record.cases[0];
    if (first === undefined) throw new Error('no case');
    const text = findRenderer('csv', renderers)?.render(
      { ...record, cases: [{ ...first, workload: 'a "b", c' }] },
      { delta: 'relative' },
    );
    const [header, ok, failed, rest] = (text ?? '').split('\n');
    expect(header?.split(',').slice(0, 3)).toEqual(['trial', 'server', 'tier']);
    expect(ok).toContain(',"a ""b"", c",');
    expect(ok).toContain(',100.123456789,,');
    expect(failed).toMatch(/,failed,E_ALL_LOST,{35}$/);
    expect(rest).toBe('');
  });
});

describe('numbers', () => {
  it('are grouped, rounded and signed as published', () => {
    expect([formatCount(24_923_003), formatCount(0), formatCount(999), formatCount(1000)]).toEqual([
      '24,923,003',
      '0',
      '999',
      '1,000',
    ]);
    expect([
      formatDelta(-0.0966),
      formatDelta(0.0792),
      formatDelta(0),
      formatDelta(-0.00001),
      formatDelta(0.00001),
    ]).toEqual(['-9.66%', '+7.92%', '0.00%', '0.00%', '0.00%']);
    expect([formatShare(1), formatShare(0.000008)]).toEqual(['100.00%', '0.00%']);
    expect([formatQps(41_536.4), formatQps(12.345), formatQps(0)]).toEqual(['41,536', '12.35', '0']);
  });

  it('have units that suit their size', () => {
    expect([
      formatTime(0.002341),
      formatTime(0.0000851),
      formatTime(1.2),
      formatTime(0),
      formatTime(0.00099999),
      formatTime(-0.029761),
      formatTime(1.2e-9),
      formatTime(4e-10),
      signed(formatTime(4e-10)),
      signed(formatTime(-4e-10)),
      formatTime(0.3 - 0.1 - 0.2),
    ]).toEqual([
      ...['2.34 ms', '85.1 µs', '1.20 s', '0 s', '1.00 ms', '-29.8 ms'],
      ...['0.001 µs', '<0.001 µs', '<0.001 µs', '>-0.001 µs', '0 s'],
    ]);
    expect([0, 0.0005, 0.944, 0.99, 0.99962, 1, 1.004].map(formatPercent)).toEqual([
      ...['0 %', '0.05 %', '94.4 %', '99 %', '99.96 %', '100 %', '100 %'],
    ]);
    expect([formatBytes(103_079_215), formatBytes(-1.3e9), formatBytes(0)]).toEqual([
      '98.3 MiB',
      '-1.21 GiB',
      '0 MiB',
    ]);
  });

  it('have the unit and the decimals of the figures beside them', () => {
    const all = beside(9.03, 7.79, 10.3);
    expect([9.03, 7.79, 10.3].map((value) => formatShort(value, all))).toEqual(['9.0', '7.8', '10.3']);
    const wide = beside(0.000027, -0.00123, 0.00132);
    expect([0.000027, -0.00123].map((value) => formatTime(value, wide))).toEqual(['0.03 ms', '-1.23 ms']);
    expect(formatBytes(900 * 2 ** 20, beside(2 ** 31))).toBe('0.88 GiB');
    expect(formatMillicores(0.0042, beside(0.0123))).toBe('4m');
    const summary = { median: 1094, low: 25.2, high: 43_542, n: 3 };
    expect(interval(summary, formatShort)).toBe('1,094\u00a0[25,\u00a043,542]');
    const rate = {
      name: 'rate',
      title: 'rate',
      unit: 'queries/s',
      better: 'more',
      compared: 'ratio',
    } as const;
    expect(boundsText(rate, { relative: 0.1284, low: 0.1012, high: 0.1688 })).toMatch(
      /^\+13.%.\[\+10,.\+17\]$/,
    );
    expect(boundsText(rate, { relative: 0.0284, low: 0.0212, high: 0.0388 })).toMatch(
      /^\+2\.8.%.\[\+2\.1,.\+3\.9\]$/,
    );
  });

  it('of intervals are rounded outwards and keep what they exclude outside', () => {
    expect(formatOutwards(1.84, 1.96, 1)).toMatchObject({ low: '1.8', high: '2.0' });
    expect(formatOutwards(1.004, 1.96, 1)).toMatchObject({ low: '1.004', high: '1.960' });
    expect(formatOutwards(-3.14, 12.71, 0)).toMatchObject({ low: '-3.2', high: '12.8' });
    expect(formatOutwards(1.1, 1.3, 1)).toMatchObject({ low: '1.1', high: '1.3' });
    expect(formatOutwards(-21.2, -18.8, 0)).toMatchObject({ low: '-22', high: '-18' });
    expect(formatOutwards(-83.96, -83.04, 0)).toMatchObject({ low: '-84.0', high: '-83.0' });
  });
});
