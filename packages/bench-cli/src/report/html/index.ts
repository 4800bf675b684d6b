/** `report.html`: one file that opens from disk, without network. */
import type { RunRecord } from '../../results/record.ts';
import { chartData, drawPlots, PAGE_LOOK } from '../charts/index.ts';
import type { RenderOptions } from '../renderer.ts';
import { casesTable } from './cases-table.ts';
import { chartsSection } from './charts-section.ts';
import { factsSection } from './facts-section.ts';
import { html } from './markup.ts';
import type { PageData } from './page-data.ts';
import { pageShell } from './shell.ts';
import { trialsSection } from './trials-section.ts';
import { header, titleOf, verdicts } from './verdicts.ts';

/** The page. Pure but for its own style and script, which are files of this program. */
export async function renderHtml(record: RunRecord, options: RenderOptions): Promise<string> {
  const charts = chartData(record, options.delta);
  const plots = await drawPlots(charts, PAGE_LOOK);
  const page: PageData = { record, delta: options.delta, charts, plots, raw: options.raw ?? new Map() };
  return pageShell({
    title: `${titleOf(record)}: DNS server benchmark`,
    version: record.generator.version,
    servers: charts.servers,
    skip: { id: 'cases', text: 'To the table of cases' },
    links: [
      ['verdicts', 'Verdicts'],
      ['charts', 'Charts'],
      ['cases', 'Cases'],
      ['trials', 'Trials'],
      ['method', 'Method'],
      ['environment', 'Environment'],
      ['repeat', 'Repeat'],
    ],
    main: html`${header(page)}
${verdicts(page)}
${chartsSection(page)}
${casesTable(page)}
${trialsSection(page)}
${factsSection(page)}`,
  });
}
