/** The tables of throughput and of caching. Pure. */
import type { Block } from '../../../report/document/document.ts';
import { table } from '../../../report/document/index.ts';
import { formatCount, formatFixed, formatShare, formatTime } from '../../../report/numbers.ts';
import { megabytes, numberColumn, plainMedian, withInterval } from '../figures.ts';
import type { CapacityCase, CasesResult, LoadName } from './cases-record.ts';
import { counterOf, okTrials, summaryOf } from './summaries.ts';

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

type Value = Parameters<typeof summaryOf>[3];
type Shown = readonly [value: Value, show: (value: number) => string, load?: LoadName];

/** Medians of a case, as cells; at saturation unless they say otherwise. */
function mediansOf(result: CasesResult, item: CapacityCase, shown: readonly Shown[]): string[] {
  return shown.map(([value, show, load = 'saturation']) =>
    plainMedian(summaryOf(result, item, load, value), show),
  );
}

const MEAN: Value = ({ lookupLatencySeconds }) => lookupLatencySeconds.mean;
const P99: Value = ({ lookupLatencySeconds }) => lookupLatencySeconds.p99;
const CPU: Value = ({ cpuCores }) => cpuCores;
const CPU_EACH: Value = ({ cpuCores, lookupsPerSecond }) =>
  cpuCores === null ? null : cpuCores / lookupsPerSecond;
const LOST: Value = ({ lostRatio }) => lostRatio;
const twoDigits = (value: number) => formatFixed(value, 2);

/** As published: lookups a second and their latency; then what the server does for them. */
export function throughputTable(result: CasesResult): Block {
  return table(
    'Throughput by kind of lookup',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Lookup' },
      numberColumn('Lookups/s'),
      numberColumn('Queries/s'),
      numberColumn('Queries a lookup'),
      numberColumn('Latency'),
      numberColumn('p99'),
      numberColumn('Latency at half load'),
      numberColumn('p99 at half load'),
      numberColumn('CPU'),
      numberColumn('CPU a lookup'),
      numberColumn('Lost'),
    ],
    rowsOf(result, (item) =>
      mediansOf(result, item, [
        [({ queriesPerSecond }) => queriesPerSecond, formatCount],
        [({ queriesPerSecond, lookupsPerSecond }) => queriesPerSecond / lookupsPerSecond, twoDigits],
        [MEAN, formatTime],
        [P99, formatTime],
        [MEAN, formatTime, 'half'],
        [P99, formatTime, 'half'],
        [CPU, twoDigits],
        [CPU_EACH, formatTime],
        [LOST, formatShare],
      ]),
    ),
  );
}

export function cachingTable(result: CasesResult): Block {
  return table(
    'Caching tiers',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Lookup' },
      numberColumn('Lookups/s'),
      { title: 'Cache' },
      numberColumn('Names'),
      numberColumn('Latency'),
      numberColumn('p99'),
      numberColumn('CPU a lookup'),
      numberColumn('Memory, MB'),
      numberColumn('Lost'),
    ],
    rowsOf(result, (item) => [
      CACHE_WORDS[item.cache],
      formatCount(item.names),
      ...mediansOf(result, item, [
        [MEAN, formatTime],
        [P99, formatTime],
        [CPU_EACH, formatTime],
        [({ memoryBytes }) => memoryBytes, megabytes],
        [LOST, formatShare],
      ]),
    ]),
  );
}

/** Autopath works where its counter says so; a cache, where its hits do. */
export function counterTable(result: CasesResult): Block {
  const rows = result.cases.flatMap((item) => {
    const trials = okTrials(result, item.key, 'saturation');
    const shown = (name: string) => {
      const value = counterOf(trials, name);
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
      numberColumn('Completed by autopath'),
      numberColumn('Cache hits'),
      numberColumn('Cache misses'),
      numberColumn('Forwarded'),
    ],
    rows,
  );
}
