/** A comparison in short: the verdict of each case, and the picture of their differences. */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { deltaFigures } from '../stats/deltas.ts';
import { groupCases, serverTitle } from './cases.ts';
import { differenceChart } from './charts/difference.ts';
import { CARD_LOOK, chartData, drawPlot, slimSvg, standaloneSvg } from './charts/index.ts';
import { throughputChart } from './charts/metrics.ts';
import { decisiveDelta, isUndecidable, NOT_COMPARED } from './decisive.ts';
import type { Cell, Finding } from './document/document.ts';
import { findings } from './findings.ts';
import { titleOf, toneOf } from './html/verdicts.ts';
import { leadOf } from './lead.ts';
import { formatFixed, formatOutwards, signed } from './numbers.ts';
import type { Brief, Picture, RenderOptions } from './renderer.ts';
import { runStatus } from './status.ts';
import { verdictSentence } from './verdict-sentence.ts';

function badgeOf(item: CaseRecord, record: RunRecord, definition: RenderOptions['delta']): Cell {
  const decisive = decisiveDelta(item, record);
  if (item.summary === null) return { text: 'no result', tone: 'warn' };
  if (decisive === null || isUndecidable(decisive)) return { text: NOT_COMPARED, tone: 'warn' };
  const { delta, metric } = decisive;
  const { value, low, high } = deltaFigures(delta, definition);
  if (low === null || high === null) return { text: 'one trial', tone: 'warn' };
  if (delta.verdict === 'no difference shown') return { text: delta.verdict, tone: 'even' };
  const ends = formatOutwards(low * 100, high * 100, 0);
  const of = metric === 'qps' ? '' : ' CPU';
  return {
    text: `${signed(formatFixed(value * 100, 1))} %${of} [${signed(ends.low)}, ${signed(ends.high)}]`,
    tone: toneOf(delta.verdict),
  };
}

function findingsOf(record: RunRecord, definition: RenderOptions['delta']): Finding[] {
  const groups = groupCases(record);
  return groups.flatMap(({ title, cases }) =>
    cases
      .filter(({ server }) => server !== record.baseline || cases.length === 1)
      .map((item) => ({
        subject: `${serverTitle(record, item.server)}${groups.length === 1 ? '' : `, ${title}`}`,
        badge: badgeOf(item, record, definition),
        sentence: verdictSentence(item, record),
      })),
  );
}

const COLUMNS = ['case', 'server', 'metric', 'median', 'low', 'high', 'trials', 'limited_by'] as const;
const FIGURES = ['qps', 'cpuSecondsPerQuery', 'latencySeconds', 'memoryBytes'] as const;

async function pictureOf(record: RunRecord, delta: RenderOptions['delta']): Promise<Picture | null> {
  const data = chartData(record, delta);
  const plot =
    (await drawPlot(differenceChart, data, CARD_LOOK)) ?? (await drawPlot(throughputChart, data, CARD_LOOK));
  if (plot === null) return null;
  const rows = record.cases.flatMap(({ key, server, summary, limitedBy }) =>
    FIGURES.flatMap((metric) => {
      const figure = summary?.[metric] ?? null;
      if (figure === null) return [];
      const { median, low, high, n } = figure;
      return [[key, server, metric, median, low, high, n, limitedBy]];
    }),
  );
  const { title, caption } = plot;
  const svg = slimSvg(standaloneSvg(plot, data.servers, CARD_LOOK));
  return { title, caption, svg, columns: COLUMNS, rows };
}

/** Of a run of `bench run` or `bench matrix`. */
export async function comparisonBrief(
  record: RunRecord,
  { delta }: Pick<RenderOptions, 'delta'>,
): Promise<Brief> {
  const { environment: host, cases, loader, target } = record;
  const { state, headline, ok } = runStatus(record);
  const lead = leadOf(record);
  return {
    question: cases.every(({ ratePerSecond }) => ratePerSecond === null)
      ? 'Throughput'
      : 'Cost at a fixed rate',
    title: titleOf(record),
    lead: lead === null ? '' : `${lead.figures} ${lead.sentence}`.trim(),
    bars: lead,
    headline,
    state,
    facts: [
      target === 'kubernetes' ? 'Kubernetes' : `${host.cpuModel}, ${host.cpuCores} cores`,
      `${ok} trials`,
      `load from ${loader.kind} ${loader.version}`,
    ],
    findings: findingsOf(record, delta),
    warnings: [...record.warnings, ...findings(record)],
    picture: await pictureOf(record, delta),
  };
}
