/**
 * The run as a post for a Docusaurus blog: a folder with `index.md` and its charts, ready to be copied into `blog/`.
 * Docusaurus reads Markdown as MDX, in which braces and angle brackets mean something: text from the record is
 * escaped against that, too (`plain`).
 */
import type { CaseRecord, Delta, RunRecord, SummaryStatistic } from '../results/record.ts';
import { type DeltaDefinition, deltaFigures } from '../stats/deltas.ts';
import { caveats, conclusions, contestants, excerpt, listed, methodology, notes, tldr } from './blog-text.ts';
import { groupAcrossModes, marksOf, serverTitle, shapeOf } from './cases.ts';
import { chartData, type DrawnPlots, drawPlots, FILE_LOOK, standaloneSvg } from './charts/index.ts';
import { shownOf } from './decisive.ts';
import { frontMatter } from './front-matter.ts';
import { repeatCommands } from './markdown-facts.ts';
import { blocks, codeBlock, plain, table } from './markdown-text.ts';
import { formatDelta, formatQps } from './numbers.ts';
import { publishedTable } from './published-table.ts';
import type { RenderOptions, ReportFile } from './renderer.ts';

function picture({ drawn }: DrawnPlots, name: string): string {
  const plot = drawn.find((candidate) => candidate.name === name);
  return plot === undefined ? '' : `![${plain(`${plot.title}. ${plot.caption}`)}](./${plot.name}.svg)`;
}

const NOTHING = '–';

function intervalOf(delta: Delta | null | undefined, definition: DeltaDefinition): string {
  if (delta === null || delta === undefined) return NOTHING;
  const { value, low, high } = deltaFigures(delta, definition);
  return low === null || high === null
    ? formatDelta(value)
    : `${formatDelta(value)} [${formatDelta(low)}, ${formatDelta(high)}]`;
}

function figure({ median, low, high }: SummaryStatistic): string {
  return low === null || high === null
    ? formatQps(median)
    : `${formatQps(median)} [${formatQps(low)}, ${formatQps(high)}]`;
}

/** Both definitions of the difference, with intervals: the published form has neither. */
function sureTable(record: RunRecord, cases: readonly CaseRecord[]): string {
  const rows = cases.map((item) => {
    const shown = shownOf(item, record, 'qps');
    const delta = shown?.delta;
    return [
      plain(`${serverTitle(record, item.server)} (${item.mode}, ${shapeOf(record, item)})`),
      item.summary === null ? NOTHING : figure(item.summary.qps) + marksOf(item),
      intervalOf(delta, 'relative'),
      intervalOf(delta, 'symmetric'),
      shown === null ? NOTHING : shown.delta.low === null ? 'one trial, no interval' : shown.verdict,
    ];
  });
  return table(['', 'QPS', 'Δ QPS, relative', 'Δ QPS, symmetric', 'Verdict'], rows, [4]);
}

type AcrossModes = ReturnType<typeof groupAcrossModes>[number];

function pointSection(record: RunRecord, point: AcrossModes, options: RenderOptions): string {
  const { title, cases, baseline } = point;
  const against =
    baseline === undefined
      ? 'There is no case to compare with.'
      : `Differences are of medians, against ${plain(serverTitle(record, record.baseline))} in \`${baseline.mode}\` mode ` +
        `(${options.delta === 'relative' ? 'relative: (value − baseline) ÷ baseline' : 'symmetric: (value − baseline) ÷ mean of both'}).`;
  return blocks(
    `### ${plain(title)}`,
    against,
    publishedTable(record, { cases, baselineCaseKey: baseline?.key ?? '', delta: options.delta }),
    'Uncertainty: medians with 95 % intervals, and the difference from the baseline of the same mode in both definitions, from paired trials.',
    sureTable(record, cases),
  );
}

function post(record: RunRecord, options: RenderOptions, plots: DrawnPlots): string {
  const noted = notes(record);
  const leftOut = plots.missing.map(({ title, reason }) => `“${title}”, because ${reason}`);
  return blocks(
    frontMatter(record, options.post),
    plain(excerpt(record)),
    '<!-- truncate -->',
    '## TL;DR',
    tldr(record),
    picture(plots, 'difference'),
    '## How we measured',
    methodology(record),
    '## Results',
    picture(plots, 'qps'),
    picture(plots, 'latency'),
    picture(plots, 'latency-percentiles'),
    ...groupAcrossModes(record).map((point) => pointSection(record, point, options)),
    '## Cost',
    picture(plots, 'cpu-per-query'),
    picture(plots, 'memory'),
    plots.drawn.some(({ name }) => name === 'scaling') ? blocks('## Scaling', picture(plots, 'scaling')) : '',
    plots.drawn.some(({ name }) => name === 'over-time')
      ? blocks('## Within the trials', picture(plots, 'over-time'))
      : '',
    noted === '' ? '' : blocks('## Notes', noted),
    '## Conclusions',
    conclusions(record),
    '## Caveats',
    caveats(record),
    leftOut.length === 0 ? '' : `Charts omitted for lack of data: ${leftOut.map(plain).join('; ')}.`,
    '## Reproduce',
    `With ${plain(listed(contestants(record)))}:`,
    codeBlock(repeatCommands(record), 'sh'),
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
