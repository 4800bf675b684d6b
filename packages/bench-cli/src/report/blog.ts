/**
 * The run as a post for a Docusaurus blog: a folder with `index.md` and its charts, ready to be copied into `blog/`.
 * Docusaurus reads Markdown as MDX, in which braces and angle brackets mean something: text from the record is
 * escaped against that, too (`plain`).
 */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { type DeltaDefinition, deltaFigures } from '../stats/deltas.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import { listed } from '../text.ts';
import {
  caveats,
  figureSentence,
  furtherVerdicts,
  isAtFixedRate,
  notes,
  origin,
  verdicts,
} from './blog-text.ts';
import { groupAcrossModes, marksOf, serverTitle, shapeOf } from './cases.ts';
import { chartData, type DrawnPlots, drawPlots, FILE_LOOK, standaloneSvg } from './charts/index.ts';
import { NOT_COMPARED, shownOf } from './decisive.ts';
import { methodLines } from './facts.ts';
import { frontMatter } from './front-matter.ts';
import { leadOf } from './lead.ts';
import { repeatCommands, stockNote } from './markdown-facts.ts';
import { blocks, bullets, codeBlock, plain, table } from './markdown-text.ts';
import { formatBytes, formatFixed, formatQps, formatTime, signed } from './numbers.ts';
import { publishedTable } from './published-table.ts';
import type { RenderOptions, ReportFile } from './renderer.ts';

function picture({ drawn }: DrawnPlots, name: string): string {
  const plot = drawn.find((candidate) => candidate.name === name);
  return plot === undefined ? '' : `![${plain(`${plot.title}. ${plot.caption}`)}](./${plot.name}.svg)`;
}

const NOTHING = '–';

/** `+19.7 % [+17.6, +22.6]`, in bold where it is a verdict. */
function difference(
  item: CaseRecord,
  record: RunRecord,
  metric: ComparedMetric,
  definition: DeltaDefinition,
): string {
  const shown = shownOf(item, record, metric);
  if (shown === null) return NOTHING;
  if (shown.verdict === NOT_COMPARED) return NOT_COMPARED;
  const { value, low, high } = deltaFigures(shown.delta, definition);
  const percent = (ratio: number) => signed(formatFixed(ratio * 100, 1));
  if (low === null || high === null) return `${percent(value)} %, one trial`;
  const text = `${percent(value)} % [${percent(low)}, ${percent(high)}]`;
  return shown.verdict === 'no difference shown' ? `${text}, no difference shown` : `**${text}**`;
}

interface Measure {
  readonly title: string;
  readonly metric: ComparedMetric;
  readonly figure: (value: number) => string;
}

const MEASURES: readonly Measure[] = [
  { title: 'QPS', metric: 'qps', figure: formatQps },
  { title: 'CPU per query', metric: 'cpuSecondsPerQuery', figure: formatTime },
  { title: 'Average latency', metric: 'latencySeconds', figure: formatTime },
  { title: 'Memory', metric: 'memoryBytes', figure: formatBytes },
];

/** Medians, and how they differ from the baseline of the same mode, from paired trials. */
function figureTable(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): string {
  const first: ComparedMetric = isAtFixedRate(record) ? 'cpuSecondsPerQuery' : 'qps';
  const ordered = MEASURES.toSorted((a, b) => Number(b.metric === first) - Number(a.metric === first));
  const measures = ordered.filter(({ metric }) => cases.some(({ summary }) => summary?.[metric]));
  const rows = cases.map((item) => [
    plain(`${serverTitle(record, item.server)} (${item.mode}, ${shapeOf(record, item)})`),
    ...measures.flatMap(({ metric, figure }) => {
      const median = item.summary?.[metric]?.median;
      const mark = metric === 'qps' ? marksOf(item) : '';
      const isBaseline = item.server === record.baseline;
      return [
        median === undefined ? NOTHING : figure(median) + mark,
        isBaseline ? NOTHING : difference(item, record, metric, definition),
      ];
    }),
  ]);
  return table(['', ...measures.flatMap(({ title }) => [title, 'Δ [95 %]'])], rows);
}

type AcrossModes = ReturnType<typeof groupAcrossModes>[number];

function pointSection(record: RunRecord, point: AcrossModes, { delta }: RenderOptions): string {
  const { title, cases, baseline } = point;
  const form =
    delta === 'relative'
      ? 'relative: (value − baseline) ÷ baseline'
      : 'symmetric: (value − baseline) ÷ mean of both';
  return blocks(
    `### ${plain(title)}`,
    figureTable(record, cases, delta),
    baseline === undefined
      ? 'There is no case to compare with.'
      : `In the form of the published DinoDNS tables: differences of medians, against ${plain(serverTitle(record, record.baseline))} in \`${baseline.mode}\` mode (${form}).`,
    publishedTable(record, { cases, baselineCaseKey: baseline?.key ?? '', delta }),
  );
}

/** The chart of what the first sentences claim. */
function leadChart(record: RunRecord): string {
  const lead = leadOf(record);
  if (lead === null) return isAtFixedRate(record) ? 'cpu-per-query' : 'difference';
  return lead.metric === 'qps' ? 'qps' : 'cpu-per-query';
}

/** So many stand at the beginning; the rest is at the end. */
const FIRST_CAVEATS = 2;

function programs(record: RunRecord): string {
  const rows = record.servers.map(({ title, version, components }) => [
    plain(title),
    plain(version),
    plain(listed(Object.entries(components).map(([name, value]) => `${name} ${value}`))),
  ]);
  return rows.length === 0 ? '' : table(['Server', 'Version', 'Components'], rows, [1, 2]);
}

function post(record: RunRecord, options: RenderOptions, plots: DrawnPlots): string {
  const first = leadChart(record);
  const pictures = plots.drawn.filter(({ name }) => name !== first).map(({ name }) => picture(plots, name));
  const warned = caveats(record);
  const [keep, rest] = [warned.slice(0, FIRST_CAVEATS), warned.slice(FIRST_CAVEATS)];
  const leftOut = plots.missing.map(({ title, reason }) => `“${title}”, because ${reason}`);
  const { environment: host } = record;
  return blocks(
    frontMatter(record, options.post),
    plain([figureSentence(record), ...verdicts(record)].join(' ')),
    '<!-- truncate -->',
    picture(plots, first),
    plain(origin(record)),
    'Keep in mind:',
    bullets(keep.map(plain)),
    'Repeat it:',
    codeBlock(repeatCommands(record), 'sh'),
    '## Figures',
    bullets(furtherVerdicts(record).map(plain)),
    ...groupAcrossModes(record).map((point) => pointSection(record, point, options)),
    ...pictures,
    leftOut.length === 0 ? '' : `Not drawn: ${leftOut.map(plain).join('; ')}.`,
    '## How we measured',
    bullets(
      [
        ...methodLines(record),
        `The machine: ${host.cpuModel}, ${host.cpuCores} cores, ${formatBytes(host.memoryBytes)}, ${host.os}, kernel ${host.kernel}.`,
      ].map(plain),
    ),
    programs(record),
    stockNote(record),
    '## Read with care',
    bullets([...rest, ...notes(record)].map(plain)),
  );
}

/** The files of the post, the text first. */
export async function* blogFiles(record: RunRecord, options: RenderOptions): AsyncGenerator<ReportFile> {
  const data = chartData(record, options.delta);
  const plots = await drawPlots(data, FILE_LOOK);
  yield { path: 'blog/index.md', content: `${post(record, options, plots)}\n` };
  for (const plot of plots.drawn) {
    yield { path: `blog/${plot.name}.svg`, content: standaloneSvg(plot, data.servers, FILE_LOOK) };
  }
}
