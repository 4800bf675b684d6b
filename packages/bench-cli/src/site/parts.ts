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
  loading: 'eager' | 'lazy' = 'eager',
): Html {
  const [, width = '', height = ''] = / width="(\d+)" height="(\d+)"/.exec(picture?.svg ?? '') ?? [];
  return html`${picture !== null && html`<figure class="picture"><img src="${path}.svg" width="${width}" height="${height}" loading="${loading}" alt="${`${picture.title}. ${picture.caption}`}"><figcaption><a href="${path}.csv">Figures (CSV)</a></figcaption></figure>`}`;
}

/** `tier 0.5 and tier 1`; nothing where no case has that axis. */
function valuesText({ cases }: Entry, axis: string): string {
  const values = new Set(cases.flatMap(({ point }) => point[axis] ?? []));
  return listed([...values].map((value) => valueText(axis, value) ?? ''));
}

const statusMark = ({ state, headline }: SiteRun['brief']) =>
  state !== 'complete' && html` <span class="status ${state}">${headline}</span> `;

/** When, where, of what size, how many trials; how it ended, unless it is complete. */
export function conditions({ brief, entry, ...run }: SiteRun): Html {
  const others = brief.facts
    .slice(2)
    .filter((fact) => !fact.includes(run.id) && !fact.startsWith('load from'));
  const sizes = ['tier', 'mode'].map((axis) => valuesText(entry, axis)).filter((text) => text !== '');
  const told = [dayOf(run), machineText(entry), ...sizes, ...others];
  return html`<p class="meta">${statusMark(brief)}${joined(
    told.map((fact) => html`<span>${fact}</span>`),
    ' ',
  )}</p>`;
}

export const commandMarkup = ({ command }: SiteRun): Html =>
  html`<pre class="command" tabindex="0" aria-label="Command that repeats the run">${command}</pre>`;

/** Longer ones are not read on a page of many. */
const MAX_SENTENCE = 160;

/** A mark such as `SIMULATION.`, which is no result. */
const SHORT_SENTENCE = 20;

const ASIDE = / \((?:95 % interval|the two pairs|longest gap|in millicores)[^)]*\)/g;

/** What a run found, without its intervals: as many of its sentences as fit, from the one that compares on. Its page says the rest. */
export function inShort(sentence: string): string {
  const sentences = sentence.replaceAll(ASIDE, '').split(/(?<=\.) (?=[A-Z])/);
  const from = Math.max(
    0,
    sentences.findIndex((each) => each.startsWith('Compared with ')),
  );
  const text = sentences.slice(from).join(' ');
  if (text.length <= MAX_SENTENCE) return text;
  const cut = text.slice(0, MAX_SENTENCE - 1);
  const whole = cut.lastIndexOf('. ');
  if (whole > SHORT_SENTENCE) return cut.slice(0, whole + 1);
  const isOutside = (part: string) => part.split('(').length === part.split(')').length;
  const parts = [...cut.matchAll(/[,;:] /g)].map(({ index }) => cut.slice(0, index)).filter(isOutside);
  return `${parts.at(-1) ?? cut.slice(0, cut.lastIndexOf(' '))} …`;
}

export function runLinks(runs: readonly SiteRun[], root: '' | '../'): Html {
  const items = runs.map(
    (run) =>
      html`<li><a href="${root}runs/${run.slug}.html">${run.brief.question}: ${run.brief.title}</a> <small>${dayOf(run)}</small></li>`,
  );
  return html`<ul class="links">${items}</ul>`;
}

/** The result of a run in short, and folded what it takes to judge and repeat it. `others` are of the same question. */
export function runCard(
  run: SiteRun,
  root: '' | '../',
  heading: Html | false,
  others: readonly SiteRun[] = [],
): Html {
  const { brief, slug } = run;
  const path = `${root}runs/${slug}`;
  const caveats = brief.warnings.length > 0 && counted(brief.warnings.length, 'caveat');
  const more = [caveats, others.length > 0 && counted(others.length, 'other comparison')];
  return html`<article class="card"><p class="when">${heading} <small>${dayOf(run)}</small>${statusMark(brief)}</p><h3><a href="${path}.html">${brief.title}</a></h3>
<p>${prose(inShort(brief.sentence))}</p>
<details><summary>${['Details', ...more].filter((part) => part !== false).join(', ')}</summary>
${conditions(run)}
${barList(brief.lead)}${pictureMarkup(path, brief.picture, 'lazy')}
${caveats && html`<p class="care"><a href="${path}.html#care">Read with care: ${caveats}</a></p>`}
${commandMarkup(run)}${others.length > 0 && html`<ul class="prose">${others.map((other) => html`<li><a href="${root}runs/${other.slug}.html">${other.brief.title}</a> <small>${dayOf(other)}</small><br>${prose(inShort(other.brief.sentence))}</li>`)}</ul>`}</details></article>`;
}

/** Links to the pages of a run's servers. */
export function serverLinks({ entry }: SiteRun, { servers }: Site): Html {
  const kinds = new Set(entry.servers.map(kindOf));
  const links = servers.flatMap(({ title, slug }) =>
    kinds.has(title) ? [html`<a href="../servers/${slug}.html">${title}</a>`] : [],
  );
  return html`${links.length > 0 && html`<p>Servers: ${joined(links, ', ')}</p>`}`;
}
