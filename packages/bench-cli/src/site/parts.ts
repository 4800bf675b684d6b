/** What several pages show of a run. Pure. */
import { valueText } from '../history/axes.ts';
import type { Entry } from '../history/entry.ts';
import type { Finding } from '../report/document/document.ts';
import { type Html, html, joined, prose } from '../report/html/markup.ts';
import { counted, listed } from '../text.ts';
import { kindOf, machineText, type Site, type SiteRun } from './site-run.ts';

export const dayOf = ({ startedAt }: Pick<SiteRun, 'startedAt'>) => startedAt.slice(0, 10);

/** Where no difference was shown, nobody is ahead. */
const badgeText = (text: string) => (text === 'no difference shown' || text.startsWith('≈') ? 'tied' : text);

export function findingList(findings: readonly Finding[]): Html {
  const items = findings.map(
    ({ subject, badge, sentence }) =>
      html`<li><div class="verdict-head"><span class="who">${subject}</span><span class="badge ${badge.tone ?? 'even'}">${badgeText(badge.text)}</span></div><p>${prose(sentence)}</p></li>`,
  );
  return html`${findings.length > 0 && html`<ul class="verdicts">${items}</ul>`}`;
}

/** The lead as bars, in the order of the run. */
export function barList(lead: SiteRun['brief']['lead']): Html {
  const items = lead?.bars.map(
    ({ title, share, value }) =>
      html`<li><span class="who">${title}</span><svg class="length" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${(share * 100).toFixed(1)}" height="8"/></svg><b>${value}</b></li>`,
  );
  return html`${lead !== null && html`<div class="in-short"><ul>${items ?? []}</ul><p class="caption">${lead.caption}</p></div>`}`;
}

/** The picture of a page's neighbour `path`, with a link to its figures; nothing without one. */
export function pictureMarkup(
  path: string,
  picture: SiteRun['brief']['picture'],
  loading: 'eager' | 'lazy' | 'none',
): Html {
  if (picture === null || loading === 'none') return html``;
  const [, width = '', height = ''] = / width="(\d+)" height="(\d+)"/.exec(picture.svg) ?? [];
  return html`<figure class="picture"><img src="${path}.svg" width="${width}" height="${height}" loading="${loading}" alt="${`${picture.title}. ${picture.caption}`}"><figcaption><a href="${path}.csv">Figures (CSV)</a></figcaption></figure>`;
}

/** `tier 0.5 and tier 1`; nothing where no case has that axis. */
function valuesText({ cases }: Entry, axis: string): string {
  const values = new Set(cases.flatMap(({ point }) => point[axis] ?? []));
  return listed([...values].map((value) => valueText(axis, value) ?? ''));
}

/** When, where, of what size, how many trials; how it ended, unless it is complete. */
export function conditions({ brief, entry, ...run }: SiteRun): Html {
  const { state, headline, facts } = brief;
  const others = facts.slice(2).filter((fact) => !fact.includes(run.id) && !fact.startsWith('load from'));
  const sizes = ['tier', 'mode'].map((axis) => valuesText(entry, axis)).filter((text) => text !== '');
  const told = [dayOf(run), machineText(entry), ...sizes, ...others];
  return html`<p class="meta">${state !== 'complete' && html`<span class="status ${state}">${headline}</span> `}${joined(
    told.map((fact) => html`<span>${fact}</span>`),
    ' ',
  )}</p>`;
}

export const commandMarkup = ({ command }: SiteRun): Html =>
  html`<pre class="command" tabindex="0" aria-label="Command that repeats the run">${command}</pre>`;

/** The result of a run in short, with everything that it takes to judge it; its page has the rest. */
export function runCard(run: SiteRun, root: '' | '../', loading: 'eager' | 'lazy' | 'none'): Html {
  const { brief, slug } = run;
  const path = `${root}runs/${slug}`;
  return html`<article class="card"><p class="kind">${brief.question}</p><h3><a href="${path}.html">${brief.title}</a></h3>
<p>${prose(brief.sentence)}</p>
${brief.lead === null ? pictureMarkup(path, brief.picture, loading) : html`${barList(brief.lead)}${brief.picture !== null && html`<p><a href="${path}.csv">Figures (CSV)</a></p>`}`}
${brief.warnings.length > 0 && html`<p class="care"><a href="${path}.html#care">Read with care: ${counted(brief.warnings.length, 'caveat')}</a></p>`}
${conditions(run)}
${commandMarkup(run)}</article>`;
}

/** Links to the pages of a run's servers. */
export function serverLinks({ entry }: SiteRun, { servers }: Site): Html {
  const kinds = new Set(entry.servers.map(kindOf));
  const links = servers.flatMap(({ title, slug }) =>
    kinds.has(title) ? [html`<a href="../servers/${slug}.html">${title}</a>`] : [],
  );
  return html`${links.length > 0 && html`<p>Servers: ${joined(links, ', ')}</p>`}`;
}
