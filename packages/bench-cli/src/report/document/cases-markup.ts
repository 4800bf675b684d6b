/** The table of cases on a page: sortable, filterable, and on a phone a list of cards; below it the trials of each. */
import type { RawOutput } from '../../results/raw-output.ts';
import { capitalized } from '../../text.ts';
import type { ChartServer } from '../charts/chart.ts';
import { type Content, type Html, html } from '../html/markup.ts';
import { serverSign } from '../html/signs.ts';
import { type CaseCell, type CasesBlock, cellOf, type TrialRow } from './document.ts';

type Row = CasesBlock['rows'][number];

const numberClass = (isNumber = false) => (isNumber ? 'number' : 'text');

function cellMarkup({ text, tone, below, verdict, marks }: CaseCell): Content {
  if (marks !== undefined)
    return html`<span class="marks">${marks.map(
      ({ name, text: label, tip }) =>
        html`<button type="button" class="mark ${name}" data-tip="${tip}">${label}</button>`,
    )}</span>`;
  // An interval may be broken between its ends, but not within them.
  const parts = below?.split(/(?<=–) /) ?? [];
  const ends = parts.length < 2 ? parts : parts.map((end) => html`<span>${end}</span> `);
  return [
    tone === undefined
      ? text
      : html`<span class="${verdict === undefined ? 'none' : `delta ${tone}`}">${text}</span>`,
    below === undefined ? null : html`<small>${ends}</small>`,
    verdict === undefined
      ? null
      : html`<button type="button" class="verdict ${verdict.tone}" data-tip="${verdict.tip}">${verdict.text}</button>`,
  ];
}

function rowMarkup(
  { series, filters, cells }: Row,
  index: number,
  { columns }: CasesBlock,
  servers: readonly ChartServer[],
): Html {
  const shown = cells.map((cell, place) => {
    const { title = '', isNumber } = columns[place] ?? {};
    const attributes = html`class="${numberClass(isNumber)}" data-label="${title}" data-sort="${cell.sort ?? ''}"`;
    if (place === 0)
      return html`<th scope="row" ${attributes}><span class="who">${serverSign(servers, series)}${cell.text}</span></th>`;
    const content = cellMarkup(cell);
    const isLast = place === cells.length - 1;
    return html`<td ${attributes}>${isLast ? html`<a href="#case-${index + 1}">${content}</a>` : content}</td>`;
  });
  const server = servers.findIndex(({ name }) => name === series);
  return html`<tr data-order="${index}" data-server="${server}" data-filters="${JSON.stringify(filters)}">${shown}</tr>
`;
}

/** A field for what differs between the cases. */
function filterMarkup(name: string, rows: readonly Row[]): Html | false {
  const values = [...new Set(rows.map(({ filters }) => filters[name] ?? ''))].filter((value) => value !== '');
  if (values.length < 2) return false;
  return html`<label>${capitalized(name)} <select data-filter="${name}"><option value="">all</option>${values.map(
    (value) => html`<option value="${value}">${value}</option>`,
  )}</select></label>`;
}

/** A path in the run's folder as a link: each part encoded, so that none can lead elsewhere. */
const href = (path: string) => path.split('/').map(encodeURIComponent).join('/');

function output({ key, commands, parts }: TrialRow, raw: RawOutput): Content {
  const files = raw.get(key) ?? [];
  const texts = files.map(({ path, text }) =>
    text === null
      ? html`<p><a href="${href(path)}">${path}</a> (too long for this page)</p>`
      : html`<h4><a href="${href(path)}">${path}</a></h4><pre>${text}</pre>`,
  );
  if (commands.length + texts.length === 0 && parts === null) return html`<span class="none">none</span>`;
  const table =
    parts !== null &&
    html`<table class="inner"><thead><tr>${parts.columns.map(({ title }) => html`<th>${title}</th>`)}</tr></thead><tbody>${parts.rows.map(
      (row) => html`<tr>${row.map((cell) => html`<td>${cellOf(cell).text}</td>`)}</tr>`,
    )}</tbody></table>`;
  return html`<details class="raw"><summary>${files.length > 0 ? 'raw output' : 'command'}</summary><div>${commands.map((command) => html`<pre class="command">$ ${command}</pre>`)}${table}${texts}</div></details>`;
}

function trialMarkup(trial: TrialRow, titles: readonly string[], raw: RawOutput): Html {
  const { cells, failure } = trial;
  const shown = cells.map((cell, index) =>
    index === 0
      ? html`<th scope="row">${cell}</th>`
      : html`<td data-label="${titles[index] ?? ''}">${cell}</td>`,
  );
  const reason =
    failure !== null &&
    html`<td colspan="${titles.length - cells.length}" data-label="Failed"><b>${failure.code}</b> ${failure.text}${failure.evidence.length > 0 && html`<pre>${failure.evidence.join('\n')}</pre>`}</td>`;
  return html`<tr class="${failure === null ? '' : 'failed'}">${shown}${reason}<td data-label="Output">${output(trial, raw)}</td></tr>
`;
}

export function casesMarkup(block: CasesBlock, servers: readonly ChartServer[], raw: RawOutput): Html {
  const { columns, trialColumns, rows, legend } = block;
  const cases = rows.filter(({ cells }) => cells.length > 0);
  const names = [...new Set(cases.flatMap(({ filters }) => Object.keys(filters)))];
  const trials = rows.map(
    (
      row,
      index,
    ) => html`<details class="trials" id="case-${index + 1}"><summary>${serverSign(servers, row.series)}<b>${row.title}</b> <span>${row.group}</span> <small>${row.trials.length} trials</small></summary>
<div class="table-box" tabindex="0" role="region" aria-label="Trials"><table><thead><tr>${[...trialColumns, 'Output'].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead><tbody>
${row.trials.map((trial) => trialMarkup(trial, trialColumns, raw))}</tbody></table></div></details>`,
  );
  return html`<div class="filters needs-script" role="search" aria-label="Filter the table">
<label>Search <input type="search" data-filter="text" placeholder="server, mode, mark …"></label>
${names.map((name) => filterMarkup(name, cases))}
<label class="sort-narrow">Sort by <select data-sort-by><option value="">plan</option>${columns.map(({ title }, index) => html`<option value="${index}">${title}</option>`)}</select></label>
<span class="count" role="status" data-count></span>
</div>
<div class="table-box" tabindex="0" role="region" aria-label="Table of cases"><table class="cases">
<caption class="hidden">Every case with its figures; medians of the trials with 95 % intervals</caption>
<thead><tr>${columns.map(
    ({ title, tip, isNumber }) =>
      html`<th scope="col" class="${numberClass(isNumber)}"><button type="button" data-tip="${tip}">${title}</button></th>`,
  )}</tr></thead>
<tbody>
${cases.map((row, index) => rowMarkup(row, index, block, servers))}</tbody></table></div>
<p class="empty" hidden>No case matches the filters.</p>
${
  legend.length > 0 &&
  html`<details class="legend" open><summary>Marks</summary><ul>${legend.map(
    ([label, explanation]) => html`<li><b>${label}</b>: ${explanation}</li>`,
  )}</ul></details>`
}
<h3 id="trials">Trials</h3><p class="lead">All trials, in the order of the rounds, with the load generator's command and the output of the tools.</p>${trials}`;
}
