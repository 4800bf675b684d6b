/** The table of cases: sortable, filterable, and on a phone a list of cards. */
import type { CaseRecord, Delta, SummaryStatistic } from '../../results/record.ts';
import { deltaFigures } from '../../stats/deltas.ts';
import type { ComparedMetric } from '../../stats/metrics.ts';
import { groupCases, serverTitle, shapeOf } from '../cases.ts';
import { shownOf } from '../decisive.ts';
import { type Mark, marksOfCase } from '../marks.ts';
import {
  formatBytes,
  formatCpus,
  formatFixed,
  formatOutwards,
  formatP,
  formatQps,
  formatShare,
  formatTime,
  signed,
} from '../numbers.ts';
import { type Content, type Html, html } from './markup.ts';
import type { PageData } from './page-data.ts';
import { markSign, serverSign } from './signs.ts';
import { toneOf } from './verdicts.ts';

interface Column {
  readonly title: string;
  /** On hover and focus of the heading. */
  readonly tip: string;
  readonly isNumber: boolean;
  /** The value to sort by; null goes to the end. */
  sort(item: CaseRecord): number | string | null;
  cell(item: CaseRecord): Content;
}

/** A longer baseline name would make its column wider than a phone. */
const MAX_HEADING_LENGTH = 22;

const NONE = html`<span class="none">–</span>`;

function statistic(value: SummaryStatistic | null | undefined, format: (value: number) => string): Content {
  if (value === null || value === undefined) return NONE;
  const { median, low, high } = value;
  if (low === null || high === null) return [format(median), html`<small>one trial</small>`];
  return [format(median), html`<small><span>${format(low)} –</span> <span>${format(high)}</span></small>`];
}

function verdictTip({ n, pValue, adjustedPValue, effectSize }: Delta): string {
  const parts = [`${n} paired trials`];
  if (pValue !== null) parts.push(`p ${formatP(pValue)}`);
  if (adjustedPValue !== null)
    parts.push(`${formatP(adjustedPValue)} after correction for the number of comparisons`);
  if (effectSize !== null)
    parts.push(
      `effect size ${formatFixed(effectSize.value, 2)} (${effectSize.measure}): ${effectSize.magnitude}`,
    );
  return `${parts.join('; ')}.`;
}

function deltaCell(item: CaseRecord, metric: ComparedMetric, page: PageData): Content {
  const shown = shownOf(item, page.record, metric);
  if (shown === null) return NONE;
  const { delta, verdict } = shown;
  const { value, low, high } = deltaFigures(delta, page.delta);
  const size = `${signed(formatFixed(value * 100, 1))} %`;
  if (low === null || high === null) return [size, html`<small>no interval</small>`];
  const ends = formatOutwards(low * 100, high * 100, 0);
  return [
    html`<span class="delta ${toneOf(verdict)}">${size}</span>`,
    html`<small>${signed(ends.low)} … ${signed(ends.high)} %</small>`,
    html`<button type="button" class="verdict ${toneOf(verdict)}" data-tip="${verdictTip(delta)}">${verdict}</button>`,
  ];
}

function percentileColumns(page: PageData): Column[] {
  return [99, 99.9].flatMap((wanted) => {
    const of = (item: CaseRecord) =>
      item.summary?.latencyPercentiles?.find(({ percentile }) => percentile === wanted)?.seconds;
    if (!page.record.cases.some((item) => of(item) !== undefined)) return [];
    return [
      {
        title: `p${wanted}`,
        tip: `${wanted} % of answered queries took no longer; median of the trials.`,
        isNumber: true,
        sort: (item: CaseRecord) => of(item)?.median ?? null,
        cell: (item: CaseRecord) => statistic(of(item), formatTime),
      },
    ];
  });
}

function column(
  isNumber: boolean,
  title: string,
  tip: string,
  sort: Column['sort'],
  cell: Column['cell'],
): Column {
  return { title, tip, isNumber, sort, cell };
}

const numbers = column.bind(null, true);
const words = column.bind(null, false);

/** What was measured; workload, transport and rate only if the cases differ in them. */
function caseColumns(page: PageData): Column[] {
  const differ = (pick: (item: CaseRecord) => string | number | null) =>
    new Set(page.record.cases.map(pick)).size > 1;
  const workload = words(
    'Workload',
    'Which names and types were queried.',
    (item) => item.workload,
    (item) => item.workload,
  );
  const transport = words(
    'Transport',
    'The transport of the queries.',
    (item) => item.transport,
    (item) => item.transport,
  );
  const rate = numbers(
    'Rate',
    'Queries sent per second; max is as many as the server answers.',
    ({ ratePerSecond }) => ratePerSecond ?? Number.MAX_SAFE_INTEGER,
    ({ ratePerSecond }) => (ratePerSecond === null ? 'max' : formatQps(ratePerSecond)),
  );
  return [
    words(
      'Server',
      'The DNS server under test.',
      (item) => serverTitle(page.record, item.server),
      (item) => [
        html`<span class="who">${serverSign(page, item.server)}${serverTitle(page.record, item.server)}</span>`,
      ],
    ),
    numbers(
      'Tier',
      'vCPUs in total.',
      ({ tier }) => tier,
      (item) => [formatCpus(item.tier), html`<small>${shapeOf(page.record, item)}</small>`],
    ),
    words(
      'Mode',
      'single: one single-threaded instance per vCPU of the tier; multi: one instance with the whole tier.',
      ({ mode }) => mode,
      ({ mode }) => mode,
    ),
    ...(differ((item) => item.workload) ? [workload] : []),
    ...(differ((item) => item.transport) ? [transport] : []),
    ...(differ((item) => item.ratePerSecond) ? [rate] : []),
  ];
}

function throughputColumns(page: PageData): Column[] {
  const { record } = page;
  const baseline = serverTitle(record, record.baseline);
  return [
    numbers(
      'QPS',
      'Completed queries per second: median of the trials and its 95 % interval.',
      ({ summary }) => summary?.qps.median ?? null,
      ({ summary }) => statistic(summary?.qps, formatQps),
    ),
    numbers(
      [...baseline].length <= MAX_HEADING_LENGTH ? `vs ${baseline}` : 'vs baseline',
      `Difference in queries per second from ${baseline} at the same point of the matrix (${page.delta}), with its 95 % interval. A winner is named only where the interval excludes zero.`,
      ({ comparison }) => comparison?.qps.relative ?? null,
      (item) =>
        item.comparison === null && item.server === record.baseline
          ? html`<span class="none">baseline</span>`
          : deltaCell(item, 'qps', page),
    ),
  ];
}

function latencyColumns(page: PageData): Column[] {
  return [
    numbers(
      'Latency',
      'Mean latency of answered queries: median of the trials and its 95 % interval.',
      ({ summary }) => summary?.latencySeconds?.median ?? null,
      ({ summary }) => statistic(summary?.latencySeconds, formatTime),
    ),
    ...percentileColumns(page),
  ];
}

function resourceColumns(): Column[] {
  return [
    numbers(
      'CPU per query',
      'User and system time of all processes of the server per answered query.',
      ({ summary }) => summary?.cpuSecondsPerQuery?.median ?? null,
      ({ summary }) => statistic(summary?.cpuSecondsPerQuery, formatTime),
    ),
    numbers(
      'Cores',
      'Average CPU use, out of the tier.',
      ({ summary }) => summary?.cpuCores?.median ?? null,
      ({ summary, tier }) =>
        summary?.cpuCores
          ? [formatFixed(summary.cpuCores.median, 2), html`<small>of ${formatCpus(tier)}</small>`]
          : NONE,
    ),
    numbers(
      'Memory',
      'Memory of all processes of the server.',
      ({ summary }) => summary?.memoryBytes?.median ?? null,
      ({ summary }) => (summary?.memoryBytes ? formatBytes(summary.memoryBytes.median) : NONE),
    ),
  ];
}

/** How far the figures can be trusted. */
function qualityColumns(page: PageData, marksByKey: ReadonlyMap<string, readonly Mark[]>): Column[] {
  return [
    numbers(
      'Lost',
      'Share of sent queries that were not answered within the timeout.',
      ({ summary }) => summary?.lostRatio.median ?? null,
      ({ totals }) =>
        totals.queriesSent === 0 ? NONE : formatShare(totals.queriesLost / totals.queriesSent),
    ),
    words(
      'Marks',
      'What limits or qualifies a figure. Hover over a mark for an explanation.',
      (item) => marksByKey.get(item.key)?.length ?? 0,
      (item) => {
        const marks = marksByKey.get(item.key) ?? [];
        return marks.length === 0 ? NONE : html`<span class="marks">${marks.map(markSign)}</span>`;
      },
    ),
    numbers(
      'Trials',
      'Successful trials; follow the link to see each, with the raw output of the tools.',
      ({ trials }) => trials.ok,
      (item) => [html`<a href="#${trialsId(page, item)}">${item.trials.ok} of ${item.trials.planned}</a>`],
    ),
  ];
}

function columnsOf(page: PageData, marksByKey: ReadonlyMap<string, readonly Mark[]>): Column[] {
  return [
    ...caseColumns(page),
    ...throughputColumns(page),
    ...latencyColumns(page),
    ...resourceColumns(),
    ...qualityColumns(page, marksByKey),
  ];
}

/** Id of the section that lists the trials of a case. */
export function trialsId({ record }: PageData, item: CaseRecord): string {
  return `case-${record.cases.indexOf(item) + 1}`;
}

function row(item: CaseRecord, columns: readonly Column[], page: PageData, order: number): Html {
  const cells = columns.map(({ title, isNumber, sort, cell }, index) => {
    const tag = index === 0 ? 'th' : 'td';
    const key = sort(item);
    const attributes = html`class="${isNumber ? 'number' : 'text'}" data-label="${title}" data-sort="${key === null ? '' : key}"`;
    return tag === 'th'
      ? html`<th scope="row" ${attributes}>${cell(item)}</th>`
      : html`<td ${attributes}>${cell(item)}</td>`;
  });
  const server = page.charts.servers.findIndex((candidate) => candidate.server === item.server);
  return html`<tr data-order="${order}" data-server="${server}" data-tier="${item.tier}" data-mode="${item.mode}" data-workload="${item.workload}" data-transport="${item.transport}" data-rate="${rateOf(item)}" data-verdict="${shownOf(item, page.record, 'qps')?.verdict ?? ''}">${cells}</tr>
`;
}

function rateOf({ ratePerSecond }: CaseRecord): string {
  return ratePerSecond === null ? 'max' : String(ratePerSecond);
}

function choice(
  label: string,
  name: string,
  values: readonly (readonly [value: string, text: string])[],
): Html | false {
  if (values.length < 2) return false;
  return html`<label>${label} <select data-filter="${name}"><option value="">all</option>${values.map(
    ([value, text]) => html`<option value="${value}">${text}</option>`,
  )}</select></label>`;
}

export function casesTable(page: PageData): Html {
  const { record } = page;
  const cases = groupCases(record).flatMap((group) => group.cases);
  const marksByKey = new Map(
    cases.map((item) => [item.key, marksOfCase(record, item, page.charts.trialsOf(item))]),
  );
  const columns = columnsOf(page, marksByKey);
  const distinct = (values: readonly string[]) =>
    [...new Set(values)].map((value) => [value, value] as const);
  const verdicts = cases.flatMap((item) => shownOf(item, record, 'qps')?.verdict ?? []);
  const explained = [
    ...new Map([...marksByKey.values()].flat().map((mark) => [mark.explanation, mark])).values(),
  ];
  return html`<section id="cases"><h2>Cases</h2>
<div class="filters needs-script" role="search" aria-label="Filter the table">
<label>Search <input type="search" data-filter="text" placeholder="server, mode, mark …"></label>
${choice(
  'Tier',
  'tier',
  [...new Set(cases.map(({ tier }) => tier))].map((tier) => [String(tier), formatCpus(tier)]),
)}
${choice('Mode', 'mode', distinct(cases.map(({ mode }) => mode)))}
${choice('Workload', 'workload', distinct(cases.map(({ workload }) => workload)))}
${choice('Transport', 'transport', distinct(cases.map(({ transport }) => transport)))}
${choice('Rate', 'rate', distinct(cases.map(rateOf)))}
${choice('Verdict', 'verdict', distinct(verdicts))}
<label class="sort-narrow">Sort by <select data-sort-by><option value="">plan</option>${columns.map(({ title }, index) => html`<option value="${index}">${title}</option>`)}</select></label>
<span class="count" role="status" data-count></span>
</div>
<div class="table-box" tabindex="0" role="region" aria-label="Table of cases"><table class="cases">
<caption class="hidden">Every case with its figures; medians of the trials with 95 % intervals</caption>
<thead><tr>${columns.map(
    ({ title, tip, isNumber }) =>
      html`<th scope="col" class="${isNumber ? 'number' : 'text'}"><button type="button" data-tip="${tip}">${title}</button></th>`,
  )}</tr></thead>
<tbody>
${cases.map((item, index) => row(item, columns, page, index))}</tbody></table></div>
<p class="empty" hidden>No case matches the filters.</p>
${
  explained.length > 0 &&
  html`<details class="legend" open><summary>Marks</summary><ul>${explained.map(
    ({ symbol, label, explanation }) =>
      html`<li><b>${symbol === null ? label : `${symbol} ${label}`}</b>: ${explanation}</li>`,
  )}</ul></details>`
}
</section>`;
}
