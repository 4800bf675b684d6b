/** A document as a page: one file that opens from disk, without network, and looks like every page of bench. */
import { type ChartServer, PAGE_LOOK } from '../charts/chart.ts';
import { embeddedSvg } from '../charts/index.ts';
import type { DrawnPlot } from '../charts/render.ts';
import { factList } from '../html/facts-section.ts';
import { type Content, type Html, html, joined, prose, trusted } from '../html/markup.ts';
import { pageShell } from '../html/shell.ts';
import { serverSign } from '../html/signs.ts';
import { type Block, cellOf, type ReportDocument, type Section, type TableBlock } from './document.ts';
import { drawCharts, seriesOf } from './draw.ts';

interface Page {
  readonly document: ReportDocument;
  readonly series: readonly ChartServer[];
  readonly plots: readonly DrawnPlot[];
}

function header({ kind, title, state, headline, facts }: ReportDocument): Html {
  return html`<header class="page-head">
<p class="kind">${kind}</p>
<h1>${title}</h1>
<p class="meta"><span class="status ${state}">${headline}</span> ${joined(
    facts.map((fact) => html`<span>${fact}</span>`),
    ' ',
  )}</p>
</header>`;
}

function findings({ findings: found, warnings }: ReportDocument): Html {
  const rows = found.map(
    ({ subject, badge, sentence }) => html`<li>
<div class="verdict-head"><span class="who">${subject}</span><span class="badge ${badge.tone ?? 'even'}">${badge.text}</span></div>
<p>${prose(sentence)}</p></li>`,
  );
  return html`<section id="findings"><h2>What was shown</h2>
${found.length > 0 && html`<div class="card"><ul class="verdicts">${rows}</ul></div>`}
${warnings.length > 0 && html`<div class="notice"><b>Read with care</b><ul>${warnings.map((note) => html`<li>${prose(note)}</li>`)}</ul></div>`}
</section>`;
}

function tableMarkup({ title, columns, rows }: TableBlock): Html {
  const classOf = (index: number) => (columns[index]?.isNumber === true ? 'number' : '');
  const heads = columns.map(
    (column, index) => html`<th scope="col" class="${classOf(index)}">${column.title}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.map(cellOf).map(({ text, tone }, index) => {
      const content: Content = tone === undefined ? text : html`<span class="tone ${tone}">${text}</span>`;
      return index === 0
        ? html`<th scope="row">${content}</th>`
        : html`<td class="${classOf(index)}" data-label="${columns[index]?.title ?? ''}">${content}</td>`;
    });
    return html`<tr>${cells}</tr>`;
  });
  return html`<div class="table-box" tabindex="0" role="region" aria-label="${title}"><table class="figures-table"><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function figure(name: string, { plots }: Page): Html {
  const plot = plots.find((candidate) => candidate.name === name);
  if (plot === undefined) return html``;
  return html`<figure class="card chart" id="chart-${plot.name}">
<h3>${plot.title}</h3>
<div class="plot" tabindex="0" role="application" aria-roledescription="chart" aria-label="${plot.title}. ${plot.caption} Arrow keys move from figure to figure.">${trusted(embeddedSvg(plot))}</div>
<figcaption>${prose(plot.caption)}</figcaption>
</figure>`;
}

function blockMarkup(block: Block, page: Page, id: string): Html {
  switch (block.kind) {
    case 'text':
      return html`<p class="lead">${prose(block.text)}</p>`;
    case 'list':
      return html`<ul class="prose">${block.items.map((item) => html`<li>${prose(item)}</li>`)}</ul>`;
    case 'facts':
      return factList(block.facts);
    case 'code':
      return html`<div class="copy"><pre id="${id}">${block.text}</pre><button type="button" class="needs-script" data-copy="${id}">Copy</button></div>`;
    case 'table':
      return tableMarkup(block);
    case 'chart':
      return figure(block.chart.name, page);
  }
}

function chips(page: Page): Html {
  const buttons = page.series.map(
    ({ title, server }, index) =>
      html`<button type="button" class="chip" aria-pressed="true" data-server="${index}">${serverSign({ charts: { servers: page.series } }, server)}${title}</button>`,
  );
  return html`<div class="servers" role="group" aria-label="Shown in charts"><span class="hint needs-script">In charts, click to hide:</span> ${buttons}</div>`;
}

interface Run {
  readonly isCharts: boolean;
  readonly members: (readonly [place: number, block: Block])[];
}

/** Charts that follow each other stand side by side. */
function runsOf(blocks: readonly Block[]): Run[] {
  const runs: Run[] = [];
  for (const [place, block] of blocks.entries()) {
    const isCharts = block.kind === 'chart';
    const last = runs.at(-1);
    if (last?.isCharts === isCharts) last.members.push([place, block]);
    else runs.push({ isCharts, members: [[place, block]] });
  }
  return runs;
}

function sectionMarkup({ title, blocks }: Section, index: number, page: Page): Html {
  const hasCharts = blocks.some(({ kind }) => kind === 'chart');
  const parts = runsOf(blocks).map(({ isCharts, members }) => {
    const markup = members.map(([place, block]) => blockMarkup(block, page, `code-${index}-${place}`));
    return isCharts ? html`<div class="figures">${markup}</div>` : html`${markup}`;
  });
  return html`<section id="section-${index}"><h2>${title}</h2>
${hasCharts && page.series.length > 1 && chips(page)}
${parts}
</section>`;
}

/** The page. Pure but for its own style and script, which are files of this program. */
export async function documentPage(document: ReportDocument): Promise<string> {
  const series = seriesOf(document);
  const page: Page = { document, series, plots: await drawCharts(document, PAGE_LOOK) };
  const { sections, title, version } = document;
  return pageShell({
    title: `${title}: DNS benchmark`,
    version,
    servers: series,
    skip: { id: 'findings', text: 'To what was shown' },
    links: [
      ['findings', 'Findings'],
      ...sections.map((section, index): [string, string] => [`section-${index}`, section.title]),
    ],
    main: html`${header(document)}
${findings(document)}
${sections.map((section, index) => sectionMarkup(section, index, page))}`,
  });
}
