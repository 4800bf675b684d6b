/** The table at the end of a run in the terminal. Two lines per server, so that it fits in 80 columns. */
import { Ansis } from 'ansis';
import Table from 'cli-table3';
import type { CaseRecord, Delta, RunRecord, SummaryStatistic } from '../results/record.ts';
import { type DeltaDefinition, deltaFigures } from '../stats/deltas.ts';
import { type CaseGroup, explainMarks, groupCases, marksOf, serverTitle, shapeOf, usedOf } from './cases.ts';
import { type Decisive, decisiveDelta, isUndecidable } from './decisive.ts';
import { findings } from './findings.ts';
import { type LeadBar, leadOf } from './lead.ts';
import { limitWord } from './limits.ts';
import { lookupRateText, lookupsOf } from './lookups.ts';
import { okTrialsByCase } from './marks.ts';
import {
  formatBytes,
  formatFixed,
  formatOutwards,
  formatQps,
  formatShare,
  formatTime,
  signed,
} from './numbers.ts';
import { percentileOf, SHOWN_PERCENTILES } from './percentiles.ts';
import { printableRecord } from './printable.ts';
import type { RenderOptions } from './renderer.ts';
import { runStatus } from './status.ts';
import { verdictSentence } from './verdict-sentence.ts';

const DEFAULT_COLUMNS = 80;
/** Long names of servers are broken over lines, but not below this width: that of "(multisocket)". */
const MIN_NAME_WIDTH = 13;
/** In a run where everything fails, the report has the rest. */
const MAX_FAILURES = 10;
const UNDECIDED = '≈';

type Paint = InstanceType<typeof Ansis>;
type Cell = readonly [first: string, second: string];

/** `±3.1 %`: the longer side of the interval, rounded up. */
function spread({ median, low, high }: SummaryStatistic): string {
  if (low === null || high === null) return 'one trial';
  if (median === 0) return '';
  const side = Math.max(high - median, median - low) / median;
  // From 100 % on, the interval means that little is known; decimals would suggest precision.
  const digits = side < 1 ? 1 : 0;
  const unit = 10 ** (2 + digits);
  return `±${formatFixed((Math.ceil(side * unit - 1e-9) / unit) * 100, digits)} %`;
}

function deltaCell(delta: Delta, definition: DeltaDefinition, paint: Paint): Cell {
  const { value, low, high } = deltaFigures(delta, definition);
  const size = `${signed(formatFixed(value * 100, 1))} %`;
  if (low === null || high === null) return [size, 'no interval'];
  const ends = formatOutwards(low * 100, high * 100, 0);
  const range = `${signed(ends.low)}…${signed(ends.high)} %`;
  if (delta.verdict === 'no difference shown') return [paint.dim(`${UNDECIDED} ${size}`), paint.dim(range)];
  const isBetter = delta.verdict === 'faster' || delta.verdict === 'less';
  return [isBetter ? paint.green(size) : paint.red(size), range];
}

function lostCell(record: RunRecord, item: CaseRecord): Cell {
  const { totals } = item;
  const { queriesLost, queriesSent } = totals;
  const share = queriesSent === 0 ? 0 : queriesLost / queriesSent;
  const text = queriesLost === 0 ? '0 %' : share < 0.0001 ? '<0.01 %' : formatShare(share).replace('%', ' %');
  return [text, limitWord(item, okTrialsByCase(record).get(item.key) ?? [])];
}

/** A difference that is not of throughput says so. */
function comparedCell(decisive: Decisive, definition: DeltaDefinition, paint: Paint): Cell {
  const { metric, delta } = decisive;
  if (isUndecidable(decisive)) return [paint.dim('not compared'), ''];
  const [size, interval] = deltaCell(delta, definition, paint);
  return metric === 'qps' ? [size, interval] : [`${size} CPU`, interval];
}

function cellsOf(record: RunRecord, item: CaseRecord, definition: DeltaDefinition, paint: Paint): Cell[] {
  const { summary } = item;
  const decisive = decisiveDelta(item, record);
  const title: Cell = [paint.bold(serverTitle(record, item.server)), shapeOf(record, item)];
  if (summary === null) {
    const { failed } = item.trials;
    return [title, [failed === 0 ? 'no trial' : paint.red('failed'), failed > 1 ? `${failed} times` : '']];
  }
  const { qps, latencySeconds, cpuSecondsPerQuery, cpuCores, memoryBytes } = summary;
  const isBaseline = item.server === record.baseline;
  return [
    title,
    [formatQps(qps.median) + marksOf(item), spread(qps)],
    decisive === null ? [isBaseline ? 'baseline' : 'no pair', ''] : comparedCell(decisive, definition, paint),
    latencySeconds === null ? ['–', ''] : [formatTime(latencySeconds.median), spread(latencySeconds)],
    [
      cpuSecondsPerQuery === null ? '–' : formatTime(cpuSecondsPerQuery.median),
      cpuCores === null ? '' : usedOf(record, item, cpuCores.median),
    ],
    [memoryBytes === null ? '–' : formatBytes(memoryBytes.median), ''],
    lostCell(record, item),
  ];
}

/** Width as the terminal shows it: colours take none, every other character that reports use takes one. */
function widthOf(text: string, paint: Paint): number {
  return [...paint.strip(text)].length;
}

function layOut(rows: readonly (readonly Cell[])[], columns: number, paint: Paint): string {
  const count = Math.max(...rows.map((row) => row.length));
  const natural = Array.from({ length: count }, (_, index) =>
    Math.max(...rows.flatMap((row) => (row[index] ?? ['', '']).map((text) => widthOf(text, paint)))),
  );
  const sum = natural.reduce((total, width) => total + width, 0);
  const [name = 0, ...others] = natural;
  const narrowest = Math.min(name, MIN_NAME_WIDTH);
  const gap = sum - name + narrowest + 2 * (count - 1) <= columns ? 2 : 1;
  const left = columns - gap * (count - 1) - (sum - name);
  const widths = [Math.max(Math.min(name, left), narrowest), ...others];
  const table = new Table({
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: ' '.repeat(gap),
    },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: widths,
    colAligns: widths.map((_, index) => (index === 0 ? 'left' : 'right')),
    wordWrap: true,
  });
  for (const row of rows) {
    const cells = Array.from({ length: count }, (_, index) => row[index] ?? ['', '']);
    table.push(cells.map(([first, second]) => `${first}\n${second}`));
  }
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function groupTable(record: RunRecord, group: CaseGroup, options: RenderOptions, paint: Paint): string {
  const baseline = serverTitle(record, record.baseline);
  const header: Cell[] = [
    ['Server', 'instances'],
    ['QPS', '± 95 %'],
    [baseline.length <= 10 ? `vs ${baseline}` : 'vs baseline', '95 % interval'],
    ['Latency', '± 95 %'],
    ['CPU/query', 'cores used'],
    ['Memory', ''],
    ['Lost', 'limit'],
  ];
  const rows = group.cases.map((item) => cellsOf(record, item, options.delta, paint));
  const dimmed = header.map(([first, second]): Cell => [paint.dim(first), paint.dim(second)]);
  return layOut([dimmed, ...rows], options.columns ?? DEFAULT_COLUMNS, paint);
}

/** A line for each case whose loader gave percentiles. */
function percentileLines(record: RunRecord, cases: readonly CaseRecord[], columns: number): string[] {
  return cases.flatMap((item) => {
    const parts = SHOWN_PERCENTILES.flatMap((wanted) => {
      const statistic = percentileOf(item, wanted);
      return statistic === null ? [] : [`p${wanted} ${formatTime(statistic.median)}`];
    });
    if (parts.length === 0) return [];
    return [wrap(`  ${serverTitle(record, item.server)}: latency ${parts.join(', ')}`, columns, '    ')];
  });
}

/** A line for each case whose workload is made of lookups. */
function lookupLines(record: RunRecord, cases: readonly CaseRecord[], columns: number): string[] {
  return cases.flatMap((item) => {
    const lookups = lookupsOf(record, item);
    if (lookups === null) return [];
    const { latencySeconds, failedRatio } = lookups;
    const took = latencySeconds === null ? '' : `, ${formatTime(latencySeconds.median)} each`;
    const failed = failedRatio === 0 ? '' : `, ${formatShare(failedRatio)} without an answer`;
    const title = serverTitle(record, item.server);
    return [wrap(`  ${title}: ${lookupRateText(lookups)}${took}${failed}`, columns, '    ')];
  });
}

/** Breaks a sentence at spaces, but not before a unit; `indent` goes before all lines but the first. */
function wrap(text: string, columns: number, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ (?![%×])/)) {
    if (line !== '' && [...line].length + 1 + [...word].length > columns) {
      lines.push(line);
      line = indent + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Space between the names, the bars and the figures. */
const BAR_GAP = 2;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of this many columns, to an eighth of one; never empty. */
function bar(columns: number): string {
  const eighths = Math.max(1, Math.round(columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

/** The sentence and the picture for a reader in a hurry. */
function leadText(record: RunRecord, columns: number, paint: Paint): string[] {
  const lead = leadOf(record);
  if (lead === null) return [];
  const width = (pick: (item: LeadBar) => string) =>
    Math.max(...lead.bars.map((item) => [...pick(item)].length));
  const [names, values] = [width(({ title }) => title), width(({ value }) => value)];
  const left = Math.max(8, columns - names - values - 2 * BAR_GAP);
  const gap = ' '.repeat(BAR_GAP);
  const bars = lead.bars.map(
    ({ title, share, value }) => `${title.padEnd(names)}${gap}${bar(share * left)}${gap}${value}`,
  );
  return [
    [
      paint.bold(wrap(`${lead.figures} ${lead.sentence}`.trim(), columns, '')),
      '',
      ...bars,
      paint.dim(lead.caption),
    ].join('\n'),
  ];
}

function legend(record: RunRecord, options: RenderOptions): string[] {
  const hasUndecided = record.cases.some((item) => {
    const delta = decisiveDelta(item, record)?.delta;
    return delta?.verdict === 'no difference shown' && delta.low !== null;
  });
  return [
    ...(hasUndecided
      ? [`${UNDECIDED} No difference shown: the interval contains zero, or the sentence above says why not.`]
      : []),
    ...(options.delta === 'symmetric'
      ? ['Differences are symmetric: (value − baseline) ÷ mean of both.']
      : []),
    ...explainMarks(record, record.cases),
  ];
}

/** The tables of all groups, then what was shown, in sentences, and how the run ended. */
export function renderTerminal(original: RunRecord, options: RenderOptions): string {
  const record = printableRecord(original);
  const columns = options.columns ?? DEFAULT_COLUMNS;
  const paint = new Ansis(options.color === true ? 1 : 0);
  const groups = groupCases(record);
  const parts = groups.map((group) => {
    const told = group.cases.filter(({ server }) => server !== record.baseline || group.cases.length === 1);
    const sentences = told.map((item) => wrap(`• ${verdictSentence(item, record)}`, columns, '  '));
    const below = [
      ...lookupLines(record, group.cases, columns),
      ...percentileLines(record, group.cases, columns).map((line) => paint.dim(line)),
    ];
    const table = groupTable(record, group, options, paint);
    return [paint.bold(group.title), table, ...below, '', ...sentences].join('\n');
  });
  const notes = legend(record, options).map((line) => paint.dim(wrap(line, columns, '  ')));
  const status = runStatus(record);
  const headline = wrap(status.headline, columns, '');
  const failures = status.failures
    .slice(0, MAX_FAILURES)
    .map(({ key, failure }) => wrap(`${failure.code} in ${key}: ${failure.message}`, columns, '  '));
  const unshown = status.failures.length - failures.length;
  const more = unshown > 0 ? [`… and ${unshown} more`] : [];
  const found = findings(record).map((line) => wrap(line, columns, '  '));
  const closing = [
    ...notes,
    ...found,
    ...failures,
    ...more,
    status.state === 'complete' ? headline : paint.yellow(headline),
  ];
  return `${[...leadText(record, columns, paint), ...parts, closing.join('\n')].join('\n\n')}\n`;
}
