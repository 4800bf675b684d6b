/** The charts of a comparison, the one of its verdict first. Pure. */
import type { CaseRecord, RunRecord } from '../../results/record.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import { groupCases } from '../cases.ts';
import type { DocumentChart } from '../document/document.ts';
import { okTrialsOf } from '../ok-trials.ts';
import { allowanceChart } from './charts/allowance.ts';
import { bars, cpuPerQuery, latency, memory, tailBars, throughput } from './charts/bars.ts';
import type { Draw, Missing } from './charts/data.ts';
import { differences } from './charts/difference.ts';
import { othersChart, overTime } from './charts/over-time.ts';
import { percentiles } from './charts/percentiles.ts';
import { scaling } from './charts/scaling.ts';

export interface Charts {
  readonly drawn: readonly DocumentChart[];
  /** Titles of charts without data, and why. */
  readonly missing: readonly (readonly [title: string, reason: Missing])[];
}

/** Those that the record has data for; `first` is the name of the one that shows the verdict. */
export function chartsOf(record: RunRecord, delta: DeltaDefinition, first: string): Charts {
  const data = {
    record,
    delta,
    groups: groupCases(record),
    trialsOf: (item: CaseRecord) => okTrialsOf(record, item),
  };
  const all: readonly (readonly [title: string, draw: Draw])[] = [
    ['Difference from the baseline', differences],
    [throughput.title, bars(throughput)],
    [latency.title, bars(latency)],
    ['Latency percentiles', percentiles],
    [cpuPerQuery.title, bars(cpuPerQuery)],
    [memory.title, bars(memory)],
    ['Scaling with CPUs', scaling],
    ['Throughput within the trials', overTime],
  ];
  const results = all.map(([title, draw]) => [title, draw(data)] as const);
  // Of these, nobody misses one that says nothing.
  const further = [tailBars(data), othersChart(data), allowanceChart(data)];
  const drawn = [...results.map(([, result]) => result), ...further].flatMap((result) =>
    result === null || typeof result === 'string' ? [] : [result],
  );
  return {
    drawn: drawn.toSorted((a, b) => Number(b.name === first) - Number(a.name === first)),
    missing: results.flatMap(([title, result]) =>
      typeof result === 'string' ? [[title, result] as const] : [],
    ),
  };
}
