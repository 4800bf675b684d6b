/** The tables of throughput and of caching. Pure. */
import type { Block } from '../../../report/document/document.ts';
import { table } from '../../../report/document/index.ts';
import { formatCount, formatFixed, formatShare, formatTime } from '../../../report/numbers.ts';
import { withInterval } from '../figures.ts';
import type { CapacityCase, CasesResult } from './cases-record.ts';
import { okTrials, perQuery, summaryOf } from './summaries.ts';

const number = (title: string) => ({ title, isNumber: true });
const CACHE_WORDS = { cached: 'cached', off: 'off', overflow: '3 × the cache' } as const;

function rowsOf(result: CasesResult, shown: (item: CapacityCase) => readonly string[]) {
  return result.cases.map((item) => {
    const rate = summaryOf(result, item, 'saturation', ({ lookupsPerSecond }) => lookupsPerSecond);
    const failed = result.trials.find((trial) => trial.case === item.key && trial.status === 'failed');
    const what =
      rate === null && failed?.status === 'failed'
        ? { text: `failed: ${failed.failure.code}`, tone: 'warn' as const }
        : withInterval(rate, formatCount);
    return [item.server, item.configuration, item.lookup, what, ...shown(item)];
  });
}

const plain = (summary: { readonly median: number } | null, show: (value: number) => string) =>
  summary === null ? '–' : show(summary.median);

/** As published: lookups a second and their latency; then what the server does for them. */
export function throughputTable(result: CasesResult): Block {
  return table(
    'Throughput by kind of lookup',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Lookup' },
      number('Lookups/s'),
      number('Queries/s'),
      number('Queries a lookup'),
      number('Latency'),
      number('p99'),
      number('Latency at half load'),
      number('p99 at half load'),
      number('CPU'),
      number('CPU a lookup'),
      number('Lost'),
    ],
    rowsOf(result, (item) => {
      const at = (value: Parameters<typeof summaryOf>[3], load: 'saturation' | 'half' = 'saturation') =>
        summaryOf(result, item, load, value);
      return [
        plain(
          at(({ queriesPerSecond }) => queriesPerSecond),
          formatCount,
        ),
        plain(
          at(({ queriesPerSecond, lookupsPerSecond }) => queriesPerSecond / lookupsPerSecond),
          (value) => formatFixed(value, 2),
        ),
        plain(
          at(({ lookupLatencySeconds }) => lookupLatencySeconds.mean),
          formatTime,
        ),
        plain(
          at(({ lookupLatencySeconds }) => lookupLatencySeconds.p99),
          formatTime,
        ),
        plain(
          at(({ lookupLatencySeconds }) => lookupLatencySeconds.mean, 'half'),
          formatTime,
        ),
        plain(
          at(({ lookupLatencySeconds }) => lookupLatencySeconds.p99, 'half'),
          formatTime,
        ),
        plain(
          at(({ cpuCores }) => cpuCores),
          (value) => formatFixed(value, 2),
        ),
        plain(
          at(({ cpuCores, lookupsPerSecond }) => (cpuCores === null ? null : cpuCores / lookupsPerSecond)),
          formatTime,
        ),
        plain(
          at(({ lostRatio }) => lostRatio),
          formatShare,
        ),
      ];
    }),
  );
}

export function cachingTable(result: CasesResult): Block {
  return table(
    'Caching tiers',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Lookup' },
      number('Lookups/s'),
      { title: 'Cache' },
      number('Names'),
      number('Latency'),
      number('p99'),
      number('CPU a lookup'),
      number('Memory, MB'),
      number('Lost'),
    ],
    rowsOf(result, (item) => {
      const at = (value: Parameters<typeof summaryOf>[3]) => summaryOf(result, item, 'saturation', value);
      return [
        CACHE_WORDS[item.cache],
        formatCount(item.names),
        plain(
          at(({ lookupLatencySeconds }) => lookupLatencySeconds.mean),
          formatTime,
        ),
        plain(
          at(({ lookupLatencySeconds }) => lookupLatencySeconds.p99),
          formatTime,
        ),
        plain(
          at(({ cpuCores, lookupsPerSecond }) => (cpuCores === null ? null : cpuCores / lookupsPerSecond)),
          formatTime,
        ),
        plain(
          at(({ memoryBytes }) => memoryBytes),
          (value) => formatFixed(value / 1e6, 1),
        ),
        plain(
          at(({ lostRatio }) => lostRatio),
          formatShare,
        ),
      ];
    }),
  );
}

/** Autopath works where its counter says so; a cache, where its hits do. */
export function counterTable(result: CasesResult): Block {
  const rows = result.cases.flatMap((item) => {
    const trials = okTrials(result, item.key, 'saturation');
    const shown = (name: string) => {
      const value = perQuery(trials, name);
      return value === null ? '–' : formatCount(value);
    };
    return trials.length === 0
      ? []
      : [
          [
            item.server,
            item.configuration,
            item.lookup,
            CACHE_WORDS[item.cache],
            shown('autopath_success'),
            shown('cache_hits'),
            shown('cache_misses'),
            shown('forwarded'),
          ],
        ];
  });
  return table(
    'Counters of CoreDNS',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Lookup' },
      { title: 'Cache' },
      number('Completed by autopath'),
      number('Cache hits'),
      number('Cache misses'),
      number('Forwarded'),
    ],
    rows,
  );
}
