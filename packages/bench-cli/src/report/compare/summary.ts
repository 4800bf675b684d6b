/** The table of a group of cases for a terminal: two lines for each server, so that it fits in 80 columns. Pure. */

import type { CaseRecord, RunRecord, SummaryStatistic } from '../../results/record.ts';
import { decisiveOf, isUndecidable, NOT_COMPARED } from '../../stats/decisive.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import { type CaseGroup, explainMarks, marksOf, serverTitle, shapeOf, usedOf } from '../cases.ts';
import { deltaTexts, endsOfAll } from '../delta-texts.ts';
import { type Block, type Cell, note, table } from '../document/document.ts';
import { limitWord } from '../limits.ts';
import { lookupRateText, lookupsOf } from '../lookups.ts';
import { formatBytes, formatFixed, formatQps, formatShare, formatTime } from '../numbers.ts';
import { okTrialsOf } from '../ok-trials.ts';
import { percentileOf, SHOWN_PERCENTILES } from '../percentiles.ts';
import { NOTHING, toneOf } from './cells.ts';

const UNDECIDED = '≈';

/** `±3.1 %`: the longer side of the interval, rounded up. */
function spread({ median, low, high, n }: SummaryStatistic): string {
  if (low === null || high === null) return 'one trial';
  // The interval of two trials is many times as wide as they are apart.
  if (n === 2) return 'two trials';
  if (median === 0) return '';
  const side = Math.max(high - median, median - low) / median;
  // From 100 % on, the interval means that little is known; decimals would suggest precision.
  const digits = side < 1 ? 1 : 0;
  const unit = 10 ** (2 + digits);
  return `±${formatFixed((Math.ceil(side * unit - 1e-9) / unit) * 100, digits)} %`;
}

/** A difference that is not of throughput says so. */
function comparedCell(record: RunRecord, item: CaseRecord, definition: DeltaDefinition): Cell {
  const decisive = decisiveOf(item, record);
  if (decisive === null) return { text: item.server === record.baseline ? 'baseline' : 'no pair', below: '' };
  if (isUndecidable(decisive)) return { text: NOT_COMPARED, tone: 'even', below: '' };
  const { metric, delta } = decisive;
  const texts = deltaTexts(record, item, metric, decisive, definition);
  const size = `${texts.size}${metric === 'qps' ? '' : ' CPU'}`;
  if (texts.ends === null) return { text: size, below: 'no interval' };
  const below = `${texts.ends.join(texts.isInterval ? '…' : ', ')} %`;
  const mark = delta.verdict === 'no difference shown' ? `${UNDECIDED} ` : '';
  return { text: mark + size, tone: toneOf(delta.verdict), below };
}

function lostCell(record: RunRecord, item: CaseRecord): Cell {
  const { queriesLost, queriesSent } = item.totals;
  const share = queriesSent === 0 ? 0 : queriesLost / queriesSent;
  const text = queriesLost === 0 ? '0 %' : share < 0.0001 ? '<0.01 %' : formatShare(share).replace('%', ' %');
  return { text, below: limitWord(item, okTrialsOf(record, item)) };
}

function cellsOf(record: RunRecord, item: CaseRecord, definition: DeltaDefinition): Cell[] {
  const { summary } = item;
  const title = { text: serverTitle(record, item.server), below: shapeOf(record, item) };
  if (summary === null) {
    const { failed } = item.trials;
    const none: Cell =
      failed === 0
        ? { text: 'no trial' }
        : { text: 'failed', tone: 'bad', below: failed > 1 ? `${failed} times` : '' };
    return [title, none, ...Array.from({ length: 5 }, () => ({ text: '' }))];
  }
  const { qps, latencySeconds, cpuSecondsPerQuery, cpuCores, memoryBytes } = summary;
  return [
    title,
    { text: formatQps(qps.median) + marksOf(item), below: spread(qps) },
    comparedCell(record, item, definition),
    latencySeconds === null
      ? { text: NOTHING }
      : { text: formatTime(latencySeconds.median), below: spread(latencySeconds) },
    {
      text: cpuSecondsPerQuery === null ? NOTHING : formatTime(cpuSecondsPerQuery.median),
      below: cpuCores === null ? '' : usedOf(record, item, cpuCores.median),
    },
    { text: memoryBytes === null ? NOTHING : formatBytes(memoryBytes.median) },
    lostCell(record, item),
  ];
}

/** What the applications saw, where the workload is made of lookups; and percentiles, where the loader gave some. */
function further(record: RunRecord, item: CaseRecord): Block[] {
  const title = serverTitle(record, item.server);
  const lookups = lookupsOf(record, item);
  const took = lookups?.latencySeconds == null ? '' : `, ${formatTime(lookups.latencySeconds.median)} each`;
  const failed =
    lookups === null || lookups.failedRatio === 0
      ? ''
      : `, ${formatShare(lookups.failedRatio)} without an answer`;
  const percentiles = SHOWN_PERCENTILES.flatMap((wanted) => {
    const statistic = percentileOf(item, wanted);
    return statistic === null ? [] : [`p${wanted} ${formatTime(statistic.median)}`];
  });
  return [
    ...(lookups === null ? [] : [note(`${title}: ${lookupRateText(lookups)}${took}${failed}`)]),
    ...(percentiles.length === 0 ? [] : [note(`${title}: latency ${percentiles.join(', ')}`)]),
  ];
}

const BELOW_DIFFERENCES = {
  intervals: '95 % interval',
  pairs: 'both pairs',
  either: 'interval or pairs',
} as const;

/** Only names are broken over lines. */
const whole = (words: string) => words.replaceAll(' ', '\u00a0');

export function summaryTable(record: RunRecord, group: CaseGroup, definition: DeltaDefinition): Block[] {
  const baseline = serverTitle(record, record.baseline);
  const ends = endsOfAll(record, group.cases, (item) => decisiveOf(item, record)?.metric ?? 'qps');
  const heads: readonly (readonly [title: string, below: string])[] = [
    ['QPS', '± 95 %'],
    [baseline.length <= 10 ? `vs ${baseline}` : 'vs baseline', BELOW_DIFFERENCES[ends]],
    ['Latency', '± 95 %'],
    ['CPU/query', 'cores used'],
    ['Memory', ''],
    ['Lost', 'limit'],
  ];
  return [
    table(
      group.title,
      [
        { title: 'Server', below: 'instances' },
        ...heads.map(([title, below]) => ({ title: whole(title), below: whole(below), isNumber: true })),
      ],
      group.cases.map((item) =>
        cellsOf(record, item, definition).map((cell, index) => ({
          ...cell,
          text: index === 0 ? cell.text : whole(cell.text),
          below: whole(cell.below ?? ''),
        })),
      ),
    ),
    ...group.cases.flatMap((item) => further(record, item)),
  ];
}

/** What the signs in these tables mean. */
export function legend(record: RunRecord, definition: DeltaDefinition): Block[] {
  const hasUndecided = record.cases.some((item) => {
    const delta = decisiveOf(item, record)?.delta;
    return delta?.verdict === 'no difference shown' && delta.low !== null;
  });
  return [
    ...(hasUndecided
      ? [`${UNDECIDED} No difference shown: the interval contains zero, or the sentence above says why not.`]
      : []),
    ...(definition === 'symmetric' ? ['Differences are symmetric: (value − baseline) ÷ mean of both.'] : []),
    ...explainMarks(record, record.cases),
  ].map(note);
}
