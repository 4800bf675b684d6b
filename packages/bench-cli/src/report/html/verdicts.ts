/** The head of the page: what was compared, and what was shown. */
import type { CaseRecord, RunRecord } from '../../results/record.ts';
import { deltaFigures } from '../../stats/deltas.ts';
import { type CaseGroup, groupCases, serverTitle } from '../cases.ts';
import { decisiveDelta, isUndecidable, NOT_COMPARED } from '../decisive.ts';
import { findings } from '../findings.ts';
import { leadOf } from '../lead.ts';
import { formatFixed, formatOutwards, signed } from '../numbers.ts';
import { runStatus } from '../status.ts';
import { verdictSentence } from '../verdict-sentence.ts';
import { type Html, html, joined, prose } from './markup.ts';
import type { PageData } from './page-data.ts';
import { serverSign } from './signs.ts';

const TONES = {
  faster: 'good',
  slower: 'bad',
  [NOT_COMPARED]: 'even',
  less: 'good',
  more: 'bad',
  'no difference shown': 'even',
} as const;

export function toneOf(verdict: keyof typeof TONES): 'good' | 'bad' | 'even' {
  return TONES[verdict];
}

/** `+31.8 %` with its verdict, as a badge. */
function badge(item: CaseRecord, page: PageData): Html {
  const { comparison } = item;
  if (comparison === null) {
    const isBaseline = item.server === page.record.baseline;
    return html`<span class="badge even">${isBaseline ? 'baseline' : item.summary === null ? 'no result' : NOT_COMPARED}</span>`;
  }
  const decisive = decisiveDelta(item, page.record);
  if (decisive === null || isUndecidable(decisive))
    return html`<span class="badge even">${NOT_COMPARED}</span>`;
  const { metric, delta } = decisive;
  const { value, low, high } = deltaFigures(delta, page.delta);
  const size = `${signed(formatFixed(value * 100, 1))} %${metric === 'qps' ? '' : ' CPU'}`;
  if (low === null || high === null) return html`<span class="badge even">${size}, one trial</span>`;
  const ends = formatOutwards(low * 100, high * 100, 0);
  const { verdict } = delta;
  const word = verdict === 'no difference shown' ? '≈' : value >= 0 ? '▲' : '▼';
  return html`<span class="badge ${toneOf(verdict)}"><b>${word} ${size}</b> <small>${signed(ends.low)} … ${signed(ends.high)} %</small></span>`;
}

function groupCard(group: CaseGroup, page: PageData): Html {
  const { record } = page;
  const told = group.cases.filter(({ server }) => server !== record.baseline || group.cases.length === 1);
  const rows = told.map(
    (item) => html`<li>
<div class="verdict-head"><span class="who">${serverSign(page, item.server)}${serverTitle(record, item.server)}</span>${badge(item, page)}</div>
<p>${prose(verdictSentence(item, record))}</p></li>`,
  );
  return html`<section class="card"><h3>${group.title}</h3><ul class="verdicts">${rows}</ul></section>`;
}

/** "CoreDNS, DinoDNS (stock) and DinoDNS" */
export function titleOf(record: RunRecord): string {
  const titles = [...new Set(record.cases.map(({ server }) => serverTitle(record, server)))];
  const last = titles.pop();
  if (last === undefined) return `Run ${record.id}`;
  return titles.length === 0 ? last : `${titles.join(', ')} and ${last}`;
}

export function header(page: PageData): Html {
  const { record } = page;
  const status = runStatus(record);
  const { environment: host } = record;
  const where = record.target === 'kubernetes' ? 'Kubernetes' : `${host.cpuModel}, ${host.cpuCores} cores`;
  const facts = [
    record.startedAt.slice(0, 10),
    where,
    `${record.loader.kind} ${record.loader.version}`,
    `run ${record.id}`,
  ];
  return html`<header class="page-head">
<p class="kind">DNS server benchmark</p>
<h1>${titleOf(record)}</h1>
<p class="meta"><span class="status ${status.state}">${status.headline}</span> ${joined(
    facts.map((fact) => html`<span>${fact}</span>`),
    ' ',
  )}</p>
</header>`;
}

/** One sentence and one picture, for a reader who knows no statistics. */
function leadCard(page: PageData): Html {
  const lead = leadOf(page.record);
  if (lead === null) return html``;
  const bars = lead.bars.map(
    ({ server, title, share, value }) => html`<li><span class="who">${serverSign(page, server)}${title}</span>
<svg class="length" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${(share * 100).toFixed(2)}" height="8"/></svg><b>${value}</b></li>`,
  );
  return html`<div class="card in-short"><p>${prose(`${lead.figures} ${lead.sentence}`.trim())}</p><ul>${bars}</ul><p class="caption">${lead.caption}</p></div>`;
}

export function verdicts(page: PageData): Html {
  const { record } = page;
  const groups = groupCases(record);
  const found = findings(record);
  const notes = [...record.warnings, ...found];
  return html`<section id="verdicts"><h2>What was shown</h2>
${leadCard(page)}
${notes.length > 0 && html`<div class="notice"><b>Read with care</b><ul>${notes.map((note) => html`<li>${prose(note)}</li>`)}</ul></div>`}
<p class="lead">Against ${serverTitle(record, record.baseline)} of the same tier, mode, workload, transport and rate: throughput where the servers were the limit,
else CPU per query. A winner is named only where the
95&nbsp;% interval of the difference leaves out zero; ≈ means that no difference was shown, which is not the same as equal.</p>
<div class="cards">${groups.map((group) => groupCard(group, page))}</div>
</section>`;
}
