/** What several pages show of a run. Pure. */
import { valueText } from '../history/axes.ts';
import type { Entry } from '../history/entry.ts';
import { leadBars } from '../report/document/page.ts';
import { type Html, html, joined, prose } from '../report/html/markup.ts';
import { counted, listed } from '../text.ts';
import { machineText, type SiteRun } from './site-run.ts';

export const dayOf = ({ entry }: SiteRun) => entry.startedAt.slice(0, 10);

/** The picture of a page's neighbour `path`, with a link to its figures; nothing without one. */
export function pictureMarkup(path: string, picture: SiteRun['brief']['picture']): Html {
  const [, width = '', height = ''] = / width="(\d+)" height="(\d+)"/.exec(picture?.svg ?? '') ?? [];
  return html`${picture !== null && html`<figure class="picture"><img src="${path}.svg" width="${width}" height="${height}" loading="lazy" alt="${`${picture.title}. ${picture.caption}`}"><figcaption><a href="${path}.csv">Figures (CSV)</a></figcaption></figure>`}`;
}

export const barList = ({ lead }: SiteRun['brief']) =>
  lead !== null && html`<div class="in-short">${leadBars(lead)}</div>`;

/** `tier 0.5 and tier 1`; nothing where no case has that axis. */
function valuesText({ cases }: Entry, axis: string): string {
  const values = new Set(cases.flatMap(({ point }) => point[axis] ?? []));
  return listed([...values].map((value) => valueText(axis, value) ?? ''));
}

const statusMark = ({ state, headline }: SiteRun['brief']) =>
  state !== 'complete' && html` <span class="status ${state}">${headline}</span> `;

/** When, where, of what size, how many trials, how it ended unless it is complete; and the command that repeats it. */
export function conditions(run: SiteRun): Html {
  const { brief, entry, command } = run;
  const others = brief.facts
    .slice(2)
    .filter((fact) => !fact.includes(entry.id) && !fact.startsWith('load from'));
  const sizes = ['tier', 'mode'].map((axis) => valuesText(entry, axis)).filter((text) => text !== '');
  const told = [dayOf(run), machineText(entry), ...sizes, ...others].map(
    (fact) => html`<span>${fact}</span>`,
  );
  return html`<p class="meta">${statusMark(brief)}${joined(told, ' ')}</p>
<pre class="command" tabindex="0" aria-label="Command">${command}</pre>`;
}

/** From the sentence on that compares, as many words as a card has room for. */
function inShort(sentence: string): string {
  const text = sentence.slice(Math.max(0, sentence.search(/(?<=\. )Compared with /)));
  // Where a clause ends, and not within an interval; otherwise after a word.
  const clause = text.replace(/^(.{60,139}\S)[,;.] (?![^([]*[)\]]).{60,}$/s, '$1 …');
  return prose(clause.replace(/^(.{139}\S*) .*$/s, '$1 …'));
}

/** A card has room for this many verdicts. */
const MAX_VERDICTS = 3;

/** The first verdicts. Where a subject has several, its badges do not say of what: their sentences do. */
function verdicts({ findings }: SiteRun['brief']): Html {
  const isOne = new Set(findings.map(({ subject }) => subject)).size === findings.length;
  const shown = findings.slice(0, MAX_VERDICTS).map(({ subject, badge, sentence }) => {
    const mark = html`<span class="badge ${badge.tone ?? 'even'}">${badge.text}</span>`;
    return html`<li>${subject}${isOne ? ' ' : ': '}${isOne ? mark : inShort(sentence)}</li>`;
  });
  return html`${shown.length > 0 && html`<ul class="in-brief">${shown}${findings.length > MAX_VERDICTS && html`<li>and ${findings.length - MAX_VERDICTS} more</li>`}</ul>`}`;
}

export function runLinks(runs: readonly SiteRun[], root: '' | '../'): Html {
  const items = runs.map(
    (run) =>
      html`<li><a href="${root}runs/${run.slug}.html">${run.brief.question}: ${run.brief.title}</a> <small>${dayOf(run)}</small></li>`,
  );
  return html`<ul class="links">${items}</ul>`;
}

/**
 * The result of a run, how sure it is, where and how it was measured, and its picture: on the start page in sight, unless bars
 * show the result. Folded: `others` of the same question.
 */
export function runCard(
  run: SiteRun,
  root: '' | '../',
  heading: Html | false,
  others: readonly SiteRun[] = [],
): Html {
  const { brief, slug } = run;
  const path = `${root}runs/${slug}`;
  const caveats = brief.warnings.length > 0 && counted(brief.warnings.length, 'caveat');
  const isInSight = root === '' && brief.lead === null && brief.picture !== null;
  const folded = [
    ...(isInSight ? [] : ['Picture']),
    ...(others.length > 0 ? [counted(others.length, 'other comparison')] : []),
  ].join(', ');
  return html`<article class="card">${heading !== false && html`<p class="when">${heading}</p>`}<h3><a href="${path}.html">${brief.title}</a></h3>
<p class="brief">${inShort(brief.sentence)}</p>
${barList(brief)}${verdicts(brief)}${isInSight && pictureMarkup(path, brief.picture)}
${conditions(run)}
${caveats && html`<p class="care"><a href="${path}.html#care">Read with care: ${caveats}</a></p>`}
${folded !== '' && html`<details><summary>${folded}</summary>${!isInSight && pictureMarkup(path, brief.picture)}${others.length > 0 && html`<ul class="prose">${others.map((other) => html`<li><a href="${root}runs/${other.slug}.html">${other.brief.title}</a> <small>${dayOf(other)}</small><br>${inShort(other.brief.sentence)}</li>`)}</ul>`}</details>`}</article>`;
}
