/** The page of a kind of server: its figures over versions and time, and where their level changed. */
import { parseServerName } from '../config/server-name.ts';
import { pointText } from '../history/axes.ts';
import { serverOf } from '../history/entry.ts';
import { type ListedFigure, rowOf } from '../history/listing.ts';
import { type FigureRow, figureRows, trendLines } from '../history/trend.ts';
import { csvText } from '../report/csv.ts';
import { pictureOf } from '../report/document/brief.ts';
import { type EstimandFacts, showFigure } from '../report/estimand.ts';
import { type Html, html, prose } from '../report/html/markup.ts';
import { formatFixed, formatP, signed } from '../report/numbers.ts';
import type { Picture, ReportFile } from '../report/renderer.ts';
import { VERSION_STEPS } from '../report/version-steps.ts';
import { serverTitle } from '../servers/registry.ts';
import { capitalized } from '../text.ts';
import { dayOf, pictureMarkup, runLinks } from './parts.ts';
import { siteShell } from './shell.ts';
import { type Group, kindOf, machineText, type Site, type SiteRun } from './site-run.ts';

/** So many groups are still legible in one picture. */
const MAX_DRAWN = 12;

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

/** Of the oldest run first, as trends need them. */
function rowsOf(title: string, runs: readonly SiteRun[], { name }: EstimandFacts): FigureRow[] {
  const listed = runs.map(({ entry }) => rowOf(entry, ''));
  return figureRows(listed, name).filter(({ item }) => {
    const server = serverOf(item);
    return server !== null && kindOf(server) === title;
  });
}

/** The figures of the runs, those that decide first. */
function estimandsOf(runs: readonly SiteRun[]): EstimandFacts[] {
  const all = runs.flatMap(({ entry }) => entry.estimands).filter(({ compared }) => compared !== 'no');
  return [...new Map(all.map((estimand) => [estimand.name, estimand])).values()];
}

function figureCell(estimand: EstimandFacts, row: FigureRow | undefined): Html {
  if (row === undefined) return html`<td></td>`;
  const { median, low, high, isBound, both } = row.figure;
  const show = (value: number) => showFigure(estimand, value);
  const interval = low === null || high === null ? '' : ` [${show(low)}, ${show(high)}]`;
  const spread = both === undefined ? interval : ` ${both.map(show).join(', ')}`;
  const bound = estimand.better === 'more' ? 'at least ' : 'at most ';
  return html`<td>${isBound && bound}${show(median)}<small>${spread}</small></td>`;
}

/** A table for each experiment, point and machine. */
function tables({ title, runs }: Group): Html[] {
  const rows = estimandsOf(runs).flatMap((estimand) =>
    rowsOf(title, runs, estimand).map((row) => ({ estimand, row })),
  );
  const runOf = new Map(runs.map((run) => [run.entry.id, run]));
  const byPlace = Map.groupBy(rows, ({ row }) => placeKeyOf(row));
  return [...byPlace.values()].map((members) => {
    const [first] = members;
    const place = first === undefined ? '' : placeOf(first.row);
    const estimands = [...new Set(members.map(({ estimand }) => estimand))];
    const byCase = Map.groupBy(members, ({ row: { run, item } }) => JSON.stringify([run.id, item.key]));
    const newestFirst = [...byCase.values()].toSorted((a, b) =>
      (b[0]?.row.run.startedAt ?? '').localeCompare(a[0]?.row.run.startedAt ?? ''),
    );
    const body = newestFirst.map((own) => {
      const [one] = own;
      const run = runOf.get(one?.row.run.id ?? '');
      const cells = estimands.map((estimand) =>
        figureCell(estimand, own.find((each) => each.estimand === estimand)?.row),
      );
      return html`<tr><th scope="row">${one === undefined ? '' : nameOf(one.row)}<br><small>${run !== undefined && html`<a href="../runs/${run.slug}.html">${dayOf(run)}</a>`}</small></th>${cells}</tr>`;
    });
    const heads = estimands.map((estimand) => html`<th scope="col">${capitalized(estimand.title)}</th>`);
    return html`<h3>${place}</h3><div class="table-box" tabindex="0" role="region" aria-label="${place}"><table class="levels"><thead><tr><th scope="col">Server</th>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
  });
}

/** Where a level changed, by the test of `bench trend`. */
function changes({ title, runs }: Group): Html {
  const slugs = new Map(runs.map((run) => [run.entry.id, run]));
  const items = estimandsOf(runs).flatMap((estimand) =>
    trendLines(rowsOf(title, runs, estimand), estimand.name).flatMap(
      ({ changes: found, points, subject, machine }) =>
        found.map(({ position, relativeChange, pValue }) => {
          const run = slugs.get(points[position]?.runId ?? '');
          const size = `${signed(formatFixed(relativeChange * 100, 1))} %`;
          return html`<li>${prose(`${capitalized(estimand.title)} of ${serverTitle(subject ?? title)}: ${size} (p ${formatP(pValue)}) on ${machine}`)}${run !== undefined && html`, from <a href="../runs/${run.slug}.html">${dayOf(run)}</a> on`}</li>`;
        }),
    ),
  );
  const steps = runs.flatMap((run) =>
    run.brief.findings
      .filter(({ group }) => group === VERSION_STEPS)
      .map(
        ({ sentence }) =>
          html`<li>${prose(sentence)} <small><a href="../runs/${run.slug}.html">${dayOf(run)}</a></small></li>`,
      ),
  );
  return html`${steps.length > 0 && html`<h3>${VERSION_STEPS}</h3><ul class="prose">${steps}</ul><h3>From run to run</h3>`}${
    items.length === 0
      ? html`<p class="lead">No change of level was found. It takes at least six runs of the same case on the same machine.</p>`
      : html`<ul class="prose">${items}</ul>`
  }`;
}

/** CPU per query does not depend on the load generator. */
const DRAWN_FIRST = 'cpu';

/** Of two trials both, drawn as points. */
function endsOf({ low, high, both }: ListedFigure, scale: number) {
  const scaled = (value: number | null) => (value === null || both !== undefined ? null : value * scale);
  return { low: scaled(low), high: scaled(high), samples: (both ?? []).map((value) => value * scale) };
}

const versionOf = ({ item }: FigureRow) => parseServerName(serverOf(item) ?? '')?.version ?? null;

const versionsIn = (rows: readonly FigureRow[]) => new Set(rows.flatMap((row) => versionOf(row) ?? [])).size;

/** What stands side by side: versions from the oldest on, each with its newest figure; without several, the newest runs. */
function drawnOf(rows: readonly FigureRow[]) {
  const hasVersions = versionsIn(rows) > 1;
  const newest = [...new Map(rows.map((row) => [nameOf(row), row])).values()];
  const versions = newest.filter((row) => versionOf(row) !== null);
  versions.sort((a, b) => (versionOf(a) ?? '').localeCompare(versionOf(b) ?? '', 'en', { numeric: true }));
  return (hasVersions ? versions : rows).slice(-MAX_DRAWN).map((row) => ({
    row,
    label: (hasVersions ? versionOf(row) : row.run.startedAt.slice(0, 10)) ?? '',
    group: hasVersions ? versionOf(row) : row.run.id,
    series: hasVersions ? nameOf(row).replace(` ${versionOf(row)}`, '') : nameOf(row),
  }));
}

/** The case and machine with figures of the most versions, or without several, with the most figures. */
async function pictureFor({ title, runs }: Group): Promise<Picture | null> {
  const estimands = estimandsOf(runs).toSorted(
    (a, b) => Number(b.name === DRAWN_FIRST) - Number(a.name === DRAWN_FIRST),
  );
  for (const estimand of estimands) {
    const alike = Map.groupBy(rowsOf(title, runs, estimand), placeKeyOf);
    const [rows = []] = [...alike.values()].toSorted(
      (a, b) => versionsIn(b) - versionsIn(a) || b.length - a.length,
    );
    const [first] = rows;
    if (first === undefined || rows.length < 2) continue;
    const drawn = drawnOf(rows);
    const names = [...new Set(drawn.map(({ series }) => series))];
    const isTime = estimand.unit === 'seconds';
    const scale = isTime ? 1e6 : 1;
    const groups = [...Map.groupBy(drawn, ({ group }) => group).values()].map((members) => ({
      label: members[0]?.label ?? '',
      points: members.map(({ row, series }) => ({
        series,
        value: row.figure.median * scale,
        ...endsOf(row.figure, scale),
        tip: `${nameOf(row)}: ${showFigure(estimand, row.figure.median)}`,
      })),
    }));
    return pictureOf(
      {
        type: 'intervals',
        name: 'figures',
        title: capitalized(estimand.title),
        caption: `Medians of the trials of each run with their 95 % intervals: ${placeOf(first)}. Only those of the same run are a comparison.`,
        axis: isTime ? `${estimand.title} (µs)` : estimand.title,
        groups,
      },
      { series: names.map((name) => ({ name, title: name })) },
    );
  }
  return null;
}

/** The page of the group, and its picture. */
export async function* serverPages(group: Group, site: Site): AsyncGenerator<ReportFile> {
  const { title, slug, runs } = group;
  const picture = await pictureFor(group);
  const shown = tables(group);
  const main = html`<header class="page-head"><p class="kind">Server</p><h1>${title}</h1><p class="lead">Over versions and time. Figures in one table are of the same case and machine; only servers of the same run are compared.</p></header>
${picture !== null && html`<section id="picture"><h2>In short</h2><div class="card">${pictureMarkup(slug, picture)}</div></section>`}
${shown.length > 0 && html`<section id="changes"><h2>Changes of level</h2>${changes(group)}</section><section id="figures"><h2>Figures</h2>${shown}</section>`}
<section id="runs"><h2>Runs</h2>${runLinks(runs, '../')}</section>`;
  yield {
    path: `servers/${slug}.html`,
    content: siteShell({ title: `${title}: DNS benchmark results`, root: '../', main }, site),
  };
  if (picture === null) return;
  yield { path: `servers/${slug}.svg`, content: picture.svg };
  yield { path: `servers/${slug}.csv`, content: csvText(picture.columns, picture.rows) };
}
