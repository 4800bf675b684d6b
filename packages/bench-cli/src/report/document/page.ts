/** A document as a page: one file that opens from disk, without network, and looks like every page of bench. */
import type { RawOutput } from '../../results/raw-output.ts';
import { type ChartServer, PAGE_LOOK, seriesFrom } from '../charts/chart.ts';
import { embeddedSvg } from '../charts/index.ts';
import type { DrawnPlot } from '../charts/render.ts';
import { slugFrom } from '../front-matter.ts';
import { type Content, type Html, html, joined, prose, trusted, withLinks } from '../html/markup.ts';
import { pageShell } from '../html/shell.ts';
import { serverSign } from '../html/signs.ts';
import { casesMarkup } from './cases-markup.ts';
import {
  type Block,
  type CodeBlock,
  cellOf,
  type DocumentLead,
  type Finding,
  type ReportDocument,
  type Section,
  sectionsOn,
  type TableBlock,
} from './document.ts';
import { drawCharts } from './draw.ts';

interface Page {
  readonly document: ReportDocument;
  readonly series: readonly ChartServer[];
  readonly plots: readonly DrawnPlot[];
  readonly raw: RawOutput;
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

/** `servers` are those of the charts, whose signs stand before their names. */
export function findingList(found: readonly Finding[], servers: readonly ChartServer[] = []): Html {
  const rows = found.map(
    ({ subject, series = '', badge, sentence }) => html`<li>
<div class="verdict-head"><span class="who">${serverSign(servers, series)}${subject}</span><span class="badge ${badge.tone ?? 'even'}">${badge.text}</span></div>
<p>${prose(sentence)}</p></li>`,
  );
  return html`<ul class="verdicts">${rows}</ul>`;
}

/** In a card; those of several groups in a card each. */
function findingCards({ findings: found }: ReportDocument, servers: readonly ChartServer[]): Html | false {
  if (found.length === 0) return false;
  const groups = [...Map.groupBy(found, ({ group }) => group ?? '')];
  const cards = groups.map(
    ([title, members]) =>
      html`<div class="card">${title !== '' && html`<h3>${title}</h3>`}${findingList(members, servers)}</div>`,
  );
  return html`<div class="cards">${cards}</div>`;
}

/** In the order of the run. */
export function leadBars({ bars, caption }: DocumentLead, servers: readonly ChartServer[] = []): Html {
  const rows = bars.map(
    ({
      series,
      title,
      share,
      value,
    }) => html`<li><span class="who">${serverSign(servers, series)}${title}</span>
<svg class="length" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${(share * 100).toFixed(2)}" height="8"/></svg><b>${value}</b></li>`,
  );
  return html`<ul>${rows}</ul><p class="caption">${caption}</p>`;
}

function findings({ document, series }: Page): Html {
  const { lead, warnings } = document;
  return html`<section id="findings"><h2>What was shown</h2>
${lead !== undefined && html`<div class="card in-short"><p>${prose(lead.text)}</p>${leadBars(lead, series)}</div>`}
${warnings.length > 0 && html`<div class="notice"><b>Read with care</b><ul>${warnings.map((note) => html`<li>${prose(note)}</li>`)}</ul></div>`}
${findingCards(document, series)}
</section>`;
}

function factList(facts: readonly (readonly [name: string, value: string])[]): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function codeMarkup({ text, summary }: CodeBlock, id: string): Html {
  if (summary !== undefined)
    return html`<details class="raw"><summary>${summary}</summary><pre>${text}</pre></details>`;
  return html`<div class="copy"><pre id="${id}">${text}</pre><button type="button" class="needs-script" data-copy="${id}">Copy</button></div>`;
}

export function tableMarkup({ title, columns, rows }: Omit<TableBlock, 'kind'>): Html {
  const classOf = (index: number) => (columns[index]?.isNumber === true ? 'number' : '');
  const heads = columns.map(
    ({ title: head, below = '' }, index) =>
      html`<th scope="col" class="${classOf(index)}">${head}${below !== '' && html`<small>${below}</small>`}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.map(cellOf).map(({ text, tone, below = '', address }, index) => {
      const content: Content = [
        tone === undefined ? text : html`<span class="tone ${tone}">${text}</span>`,
        below !== '' &&
          html`<small>${address === undefined ? below : html`<a href="${address}">${below}</a>`}</small>`,
      ];
      return index === 0
        ? html`<th scope="row">${content}</th>`
        : html`<td class="${classOf(index)}">${content}</td>`;
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
      return html`<p class="lead">${withLinks(prose(block.text))}</p>`;
    case 'heading':
      return html`<h3>${block.text}</h3>`;
    case 'list':
      return html`<ul class="prose">${block.items.map((item) => html`<li>${prose(item)}</li>`)}</ul>`;
    case 'facts':
      return factList(block.facts);
    case 'code':
      return codeMarkup(block, id);
    case 'table':
      return tableMarkup(block);
    case 'cases':
      return casesMarkup(block, page.series, page.raw);
    case 'chart':
      return figure(block.chart.name, page);
  }
}

/** For the series that these charts show. */
function chips({ series, plots }: Page, blocks: readonly Block[]): Html | false {
  const names = blocks.map((block) => (block.kind === 'chart' ? block.chart.name : ''));
  const shown = plots.filter(({ name }) => names.includes(name)).map((plot) => plot.series);
  const buttons = series.flatMap(({ title, name }, index) =>
    shown.some((some) => some.has(name))
      ? [
          html`<button type="button" class="chip" aria-pressed="true" data-server="${index}">${serverSign(series, name)}${title}</button>`,
        ]
      : [],
  );
  return (
    buttons.length > 1 &&
    html`<div class="servers" role="group" aria-label="Shown in charts"><span class="hint needs-script">In charts, click to hide:</span> ${buttons}</div>`
  );
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

function sectionMarkup({ title, blocks }: Section, index: number, id: string, page: Page): Html {
  const parts = runsOf(blocks).map(({ isCharts, members }) => {
    const markup = members.map(([place, block]) => blockMarkup(block, page, `code-${index}-${place}`));
    return isCharts ? html`<div class="figures">${markup}</div>` : html`${markup}`;
  });
  return html`<section id="${id}"><h2>${title}</h2>
${chips(page, blocks)}
${parts}
</section>`;
}

/** By their titles, so that links to a section last; each once. */
function idsOf(sections: readonly Section[]): string[] {
  const ids = sections.map(({ title }) => slugFrom([title]));
  return ids.map((id, index) =>
    id === '' || id === 'findings' || ids.indexOf(id) < index ? `${id}-${index}` : id,
  );
}

/** The page. Pure, except that its style and script are read from files of this program. */
export async function documentPage(document: ReportDocument, raw: RawOutput = new Map()): Promise<string> {
  const series = seriesFrom(document.series);
  const page: Page = { document, series, raw, plots: await drawCharts(document, PAGE_LOOK) };
  const { title, version } = document;
  const sections = sectionsOn(document, 'page');
  const ids = idsOf(sections);
  return pageShell({
    title: `${title}: DNS benchmark`,
    version,
    servers: series,
    skip: { id: 'findings', text: 'Skip to the findings' },
    links: [
      ['findings', 'Findings'],
      ...sections.map((section, index): [string, string] => [ids[index] ?? '', section.title]),
    ],
    main: html`${header(document)}
${findings(page)}
${sections.map((section, index) => sectionMarkup(section, index, ids[index] ?? '', page))}`,
  });
}
