/** The page of a kind of server: its figures over versions and time, and where their level changed. */
import { pointText } from '../history/axes.ts';
import { serverOf } from '../history/entry.ts';
import { levelsChart, versionsIn } from '../history/levels.ts';
import { rowOf } from '../history/listing.ts';
import { type FigureRow, figureRows, trendLines } from '../history/trend.ts';
import { pictureOf } from '../report/document/brief.ts';
import type { Cell } from '../report/document/document.ts';
import { tableMarkup } from '../report/document/page.ts';
import { showFigure } from '../report/estimand.ts';
import { type Html, html, prose } from '../report/html/markup.ts';
import { formatFixed, formatP, signed } from '../report/numbers.ts';
import type { Picture, ReportFile } from '../report/renderer.ts';
import { VERSION_STEPS } from '../report/version-steps.ts';
import { kindTitle, serverTitle } from '../servers/registry.ts';
import { capitalized } from '../text.ts';
import { dayOf, pictureMarkup, runLinks } from './parts.ts';
import { page } from './shell.ts';
import { type Group, machineText, type Site, type SiteRun } from './site-run.ts';

/** What must be equal in figures that stand side by side. */
function placeOf({ run, item: { point } }: FigureRow): string {
  const inWords = Object.entries(point).map(([name, value]) => {
    if (name === 'server') return [name, serverTitle(String(value))];
    return [name, name === 'workload' ? `workload ${value}` : value];
  });
  const text = capitalized(pointText({ point: Object.fromEntries(inWords) }));
  return [text, machineText(run)].filter((part) => part !== '').join('; ');
}

/** Equal where figures may stand side by side. */
const placeKeyOf = (row: FigureRow) => JSON.stringify([row.run.experiment, row.run.machine, placeOf(row)]);

const nameOf = ({ item: { title, subject } }: Pick<FigureRow, 'item'>) => title ?? serverTitle(subject ?? '');

/** By estimand, those that decide first; of the oldest run first, as trends need them. */
function figuresOf({ title, runs }: Group): FigureRow[][] {
  const listed = runs.map(({ entry }) => rowOf(entry, ''));
  const compared = listed.flatMap(({ estimands }) => estimands.filter((each) => each.compared !== 'no'));
  const isOwn = ({ item }: FigureRow) => {
    const server = serverOf(item);
    return server !== null && kindTitle(server) === title;
  };
  const names = new Set(compared.map(({ name }) => name));
  return [...names].map((name) => figureRows(listed, name).filter(isOwn));
}

function figureCell(row: FigureRow | undefined): Cell {
  if (row === undefined) return { text: '' };
  const { median, low, high, isBound, both } = row.figure;
  const show = (value: number) => showFigure(row.estimand, value);
  const interval = low === null || high === null ? '' : `[${show(low)}, ${show(high)}]`;
  const bound = row.estimand.better === 'more' ? 'at least ' : 'at most ';
  return { text: (isBound ? bound : '') + show(median), below: both?.map(show).join(', ') ?? interval };
}

function addressIn(runs: readonly SiteRun[], id: string | undefined) {
  const run = runs.find(({ entry }) => entry.id === id);
  return run === undefined ? {} : { below: dayOf(run), address: `../runs/${run.slug}.html` };
}

function dayLink(runs: readonly SiteRun[], id: string | undefined): Html {
  const { below = '', address = '' } = addressIn(runs, id);
  return html`<a href="${address}">${below}</a>`;
}

/** A table for each experiment, point and machine. */
function tables(runs: readonly SiteRun[], figures: readonly FigureRow[]): Html[] {
  return [...Map.groupBy(figures, placeKeyOf).values()].map((members) => {
    const place = members.slice(0, 1).map(placeOf).join('');
    const byEstimand = Map.groupBy(members, ({ estimand }) => estimand.name);
    const byCase = Map.groupBy(members, ({ run, item }) => JSON.stringify([run.id, item.key]));
    const newestFirst = [...byCase.values()].toSorted(([a], [b]) =>
      (b?.run.startedAt ?? '').localeCompare(a?.run.startedAt ?? ''),
    );
    const heads = [...byEstimand.values()].map(([one]) => capitalized(one?.estimand.title ?? ''));
    const rows = newestFirst.map((own) => [
      { text: own.slice(0, 1).map(nameOf).join(''), ...addressIn(runs, own[0]?.run.id) },
      ...[...byEstimand.keys()].map((name) => figureCell(own.find(({ estimand }) => estimand.name === name))),
    ]);
    const columns = [{ title: 'Server' }, ...heads.map((title) => ({ title, isNumber: true }))];
    return html`<h3>${place}</h3>${tableMarkup({ title: place, columns, rows })}`;
  });
}

/** Where a level changed, by the test of `bench trend`. */
function changes({ title, runs }: Group, figures: readonly (readonly FigureRow[])[]): Html {
  const items = figures
    .flatMap((rows) => trendLines(rows, rows[0]?.estimand.name ?? ''))
    .flatMap(({ changes: found, points, subject, machine, estimand }) =>
      found.map(({ position, relativeChange, pValue }) => {
        const size = `${signed(formatFixed(relativeChange * 100, 1))} %`;
        return html`<li>${prose(`${capitalized(estimand.title)} of ${serverTitle(subject ?? title)}: ${size} (p ${formatP(pValue)}) on ${machine}`)}, from ${dayLink(runs, points[position]?.runId)} on</li>`;
      }),
    );
  const steps = runs.flatMap((run) =>
    run.brief.findings
      .filter(({ group }) => group === VERSION_STEPS)
      .map(({ sentence }) => html`<li>${prose(sentence)} <small>${dayLink(runs, run.entry.id)}</small></li>`),
  );
  return html`${steps.length > 0 && html`<h3>${VERSION_STEPS}</h3><ul class="prose">${steps}</ul><h3>From run to run</h3>`}${
    items.length === 0
      ? html`<p class="lead">No change of level was found. It takes at least six runs of the same case on the same machine.</p>`
      : html`<ul class="prose">${items}</ul>`
  }`;
}

/** CPU per query does not depend on the load generator. */
const DRAWN_FIRST = 'cpu';

/** The case and machine with figures of the most versions, or without several, with the most figures. */
async function pictureFor(figures: readonly (readonly FigureRow[])[]): Promise<Picture | null> {
  const isFirst = (rows: readonly FigureRow[]) => Number(rows[0]?.estimand.name === DRAWN_FIRST);
  for (const all of figures.toSorted((a, b) => isFirst(b) - isFirst(a))) {
    const [rows = []] = [...Map.groupBy(all, placeKeyOf).values()].toSorted(
      (a, b) => versionsIn(b) - versionsIn(a) || b.length - a.length,
    );
    const [first] = rows;
    if (first === undefined || rows.length < 2) continue;
    const levels = rows.map((row) => ({ ...row, name: nameOf(row) }));
    const { chart, series } = levelsChart(levels, first.estimand, placeOf(first));
    return pictureOf(chart, { series });
  }
  return null;
}

/** The page of the group, and its picture. */
export async function* serverPages(group: Group, site: Site): AsyncGenerator<ReportFile> {
  const { title, slug, runs } = group;
  const figures = figuresOf(group);
  const picture = await pictureFor(figures);
  const shown = tables(runs, figures.flat());
  const main = html`<header class="page-head"><p class="kind">Server</p><h1>${title}</h1><p class="lead">Over versions and time. Figures in one table are of the same case and machine; only servers of the same run are compared.</p></header>
${picture !== null && html`<section id="picture"><h2>In short</h2><div class="card">${pictureMarkup(slug, picture)}</div></section>`}
${shown.length > 0 && html`<section id="changes"><h2>Changes of level</h2>${changes(group, figures)}</section><section id="figures"><h2>Figures</h2>${shown}</section>`}
<section id="runs"><h2>Runs</h2>${runLinks(runs, '../')}</section>`;
  yield* page({ path: `servers/${slug}`, title: `${title}: DNS benchmark results`, main, picture }, site);
}
