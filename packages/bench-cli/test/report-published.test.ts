/**
 * The published DinoDNS benchmark of 18 November 2024 (dinodns-docs, blog/2024-11-18-benchmarks), rendered from its
 * raw figures: the percentages must come out as published.
 */
import { describe, expect, it } from 'vitest';
import { publishedTable } from '../src/report/compare/published-tables.ts';
import { cellOf } from '../src/report/document/document.ts';
import type { Mode, RunRecord } from '../src/results/record.ts';
import type { DeltaDefinition } from '../src/stats/deltas.ts';
import { caseKey, makeRecord } from './fixtures/make-record.ts';
import { renderMarkdown } from './support/render.ts';

/** Server, mode, queries sent, queries completed, QPS, average latency. */
type PublishedRow = readonly [string, Mode, number, number, number, number];

const TIER_1: readonly PublishedRow[] = [
  ['coredns', 'multi', 12_514_663, 12_514_663, 20_855, 0.004768],
  ['dinodns', 'multi', 11_151_481, 11_151_481, 18_584, 0.005314],
  ['dinodns', 'single', 23_803_873, 23_803_673, 39_672, 0.002466],
];
const TIER_2: readonly PublishedRow[] = [
  ['coredns', 'multi', 24_923_203, 24_923_003, 41_536, 0.002341],
  ['coredns', 'single', 22_625_858, 22_625_658, 37_709, 0.002534],
  ['dinodns', 'multi', 22_631_427, 22_631_427, 37_716, 0.002562],
  ['dinodns', 'single', 34_432_859, 34_432_659, 57_387, 0.001674],
];
const TIER_4: readonly PublishedRow[] = [
  ['coredns', 'multi', 49_132_583, 49_132_383, 81_887, 0.001171],
  ['coredns', 'single', 39_681_172, 39_680_972, 66_132, 0.001419],
  ['dinodns', 'multi', 45_105_368, 45_105_368, 75_172, 0.001223],
  ['dinodns', 'single', 59_685_585, 59_685_452, 99_475, 0.000941],
];

function recordOf(tier: number, rows: readonly PublishedRow[]) {
  return makeRecord({
    cases: rows.map(([server, mode, queriesSent, queriesCompleted, qps, latencySeconds]) => ({
      server,
      mode,
      tier,
      trials: [{ queriesSent, queriesCompleted, qps, latencySeconds }],
    })),
  });
}

/** The table of a record against one of its cases. */
function tableOf(record: RunRecord, baseline: string, delta: DeltaDefinition) {
  const [block] = publishedTable(
    record,
    record.cases,
    record.cases.find(({ key }) => key === baseline),
    delta,
  );
  if (block?.kind !== 'table') throw new Error('no table');
  return block;
}

function cellsOf(record: RunRecord, baseline: string, delta: DeltaDefinition): string[][] {
  return tableOf(record, baseline, delta).rows.map((row) => row.map((cell) => cellOf(cell).text));
}

function rowsOf(tier: number, rows: readonly PublishedRow[]): string[][] {
  return cellsOf(recordOf(tier, rows), caseKey('coredns', tier, 'multi'), 'symmetric');
}

describe('the published table, from its raw figures with --delta symmetric', () => {
  it('of tier 2 comes out exactly', () => {
    expect(rowsOf(2, TIER_2)).toEqual([
      [
        'CoreDNS (multi, 1 × 2 vCPU)',
        '24,923,203',
        '24,923,003',
        '200',
        '41,536',
        '0.002341',
        '100.00%',
        '0.00%',
      ],
      [
        'CoreDNS (single, 2 × 1 vCPU)',
        '22,625,858',
        '22,625,658',
        '200',
        '37,709 (-9.66%)',
        '0.002534 (+7.92%)',
        '100.00%',
        '0.00%',
      ],
      [
        'DinoDNS (multi, 1 × 2 vCPU)',
        '22,631,427',
        '22,631,427',
        '0',
        '37,716 (-9.64%)',
        '0.002562 (+9.01%)',
        '100.00%',
        '0.00%',
      ],
      [
        'DinoDNS (single, 2 × 1 vCPU)',
        '34,432,859',
        '34,432,659',
        '200',
        '57,387 (+32.05%)',
        '0.001674 (-33.23%)',
        '100.00%',
        '0.00%',
      ],
    ]);
  });

  it('of tier 4 comes out exactly', () => {
    const figures = rowsOf(4, TIER_4).map((row) => row.slice(3, 6));
    expect(figures).toEqual([
      ['200', '81,887', '0.001171'],
      ['200', '66,132 (-21.29%)', '0.001419 (+19.15%)'],
      ['0', '75,172 (-8.55%)', '0.001223 (+4.34%)'],
      ['133', '99,475 (+19.40%)', '0.000941 (-21.78%)'],
    ]);
  });

  it('of tier 1 comes out exactly, but for one published figure that its own row contradicts', () => {
    const figures = rowsOf(1, TIER_1).map((row) => row.slice(4, 6));
    expect(figures).toEqual([
      ['20,855', '0.004768'],
      ['18,584 (-11.52%)', '0.005314 (+10.83%)'],
      // Published as "39,672 (62.20+%)". (39,672 − 20,855) ÷ ((39,672 + 20,855) ÷ 2) is 62.18 %.
      ['39,672 (+62.18%)', '0.002466 (-63.64%)'],
    ]);
  });

  it('has other percentages in the relative definition', () => {
    const record = recordOf(1, TIER_1);
    const rows = cellsOf(record, caseKey('coredns', 1, 'multi'), 'relative');
    expect(rows[1]?.slice(4, 6)).toEqual(['18,584 (-10.89%)', '0.005314 (+11.45%)']);
  });

  it('has the published columns', () => {
    const record = recordOf(2, TIER_2);
    const { columns } = tableOf(record, caseKey('coredns', 2, 'multi'), 'symmetric');
    expect(columns.map(({ title }) => title)).toEqual([
      '',
      'Queries Sent',
      'Queries Completed',
      'Queries Lost',
      'QPS',
      'Average Latency (s)',
      'Success Rate (%)',
      'Failure Rate (%)',
    ]);
  });

  it('is part of a report over both modes, beside one table for each mode', () => {
    const report = renderMarkdown(recordOf(2, TIER_2), { delta: 'symmetric' });
    expect(report).toContain('## Across modes');
    expect(report).toContain('57,387 (+32.05%)');
    // Against CoreDNS of the same mode: (57,387 − 37,709) ÷ ((57,387 + 37,709) ÷ 2).
    expect(report).toContain('57,387 (+41.39%)');
    expect(renderMarkdown(recordOf(1, TIER_1.slice(0, 2)), { delta: 'symmetric' })).not.toContain(
      'Across modes',
    );
  });

  it('compares with nothing where the baseline case is missing', () => {
    const record = recordOf(2, TIER_2);
    const rows = cellsOf(record, 'nobody', 'symmetric');
    expect(rows.map((row) => row[4])).toEqual(['41,536', '37,709', '37,716', '57,387']);
  });
});
