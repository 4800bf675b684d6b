/** The page of a kind of server: its figures over versions and time, and where their level changed. */
import { type FigureRow, figureRows } from '../history/database.ts';
import { trendLines } from '../history/trend.ts';
import { csvText } from '../report/csv.ts';
import { pictureOf } from '../report/document/brief.ts';
import { type Html, html, prose } from '../report/html/markup.ts';
import {
  formatBytes,
  formatCpus,
  formatFixed,
  formatP,
  formatQps,
  formatTime,
  signed,
} from '../report/numbers.ts';
import type { Picture, ReportFile } from '../report/renderer.ts';
import { isServersOwn } from '../stats/decisive.ts';
import { COMPARED_METRICS, type ComparedMetric, METRIC_TITLES } from '../stats/metrics.ts';
import { dayOf, pictureMarkup, runCard } from './parts.ts';
import { siteShell } from './shell.ts';
import { type Group, kindOf, type Site, type SiteRun } from './site-run.ts';

/** So many groups are still legible in one picture. */
const MAX_DRAWN = 12;

const FORMATS: Readonly<Record<ComparedMetric, (value: number) => string>> = {
  qps: formatQps,
  latencySeconds: formatTime,
  cpuSecondsPerQuery: formatTime,
  memoryBytes: formatBytes,
};

const capitalized = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1);

/** `tier 1, single, half, udp`: what must be equal in figures that stand side by side. */
function pointText({ tier, mode, workload, transport, ratePerSecond }: FigureRow): string {
  return [
    tier === null ? null : `tier ${formatCpus(tier)}`,
    mode,
    workload,
    transport,
    ratePerSecond === null ? null : `${formatQps(ratePerSecond)} queries/s`,
  ]
    .filter((part) => part !== null)
    .join(', ');
}

/** Of the oldest run first, as trends need them. */
function rowsOf(title: string, runs: readonly SiteRun[], metric: ComparedMetric): FigureRow[] {
  return runs
    .toReversed()
    .flatMap(({ entry }) => figureRows(entry, metric))
    .filter(({ server }) => server !== null && kindOf(server) === title);
}

function tables({ title, runs }: Group): Html[] {
  const figures = new Map(COMPARED_METRICS.map((metric) => [metric, rowsOf(title, runs, metric)]));
  const keyOf = ({ runId, caseKey }: FigureRow) => JSON.stringify([runId, caseKey]);
  const cells = new Map(
    [...figures].map(([metric, rows]) => [metric, new Map(rows.map((row) => [keyOf(row), row]))]),
  );
  const rows = (figures.get('qps') ?? []).toReversed();
  const placeOf = (row: FigureRow) => `${pointText(row)}; ${row.machine}`;
  const runOf = new Map(runs.map((run) => [run.entry.id, run]));
  return [...Map.groupBy(rows, placeOf)].map(([place, members]) => {
    const body = members.map((row) => {
      const run = runOf.get(row.runId);
      const values = COMPARED_METRICS.map((metric) => {
        const found = cells.get(metric)?.get(keyOf(row));
        const format = FORMATS[metric];
        const interval =
          found?.low == null || found.high == null ? '' : ` [${format(found.low)}, ${format(found.high)}]`;
        const item = run?.entry.cases.find(({ key }) => key === row.caseKey);
        const isBound = metric === 'qps' && !isServersOwn(metric, [item?.limitedBy ?? null]);
        return html`<td class="number" data-label="${capitalized(METRIC_TITLES[metric])}">${isBound && 'at least '}${found === undefined ? '' : format(found.median)}<small>${interval}</small></td>`;
      });
      return html`<tr><th scope="row">${row.server ?? ''}<br><small>${run !== undefined && html`<a href="../runs/${run.slug}.html">${dayOf(run)}</a>`}</small></th>${values}</tr>`;
    });
    const heads = COMPARED_METRICS.map(
      (metric) => html`<th scope="col" class="number">${capitalized(METRIC_TITLES[metric])}</th>`,
    );
    return html`<h3>${place}</h3><div class="table-box" tabindex="0" role="region" aria-label="${place}"><table class="figures-table"><thead><tr><th scope="col">Server</th>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
  });
}

/** Where a level changed, by the test of `bench trend`. */
function changes({ title, runs }: Group): Html {
  const slugs = new Map(runs.map((run) => [run.entry.id, run]));
  const items = COMPARED_METRICS.flatMap((metric) =>
    trendLines(rowsOf(title, runs, metric), metric).flatMap(({ changes: found, points, server, machine }) =>
      found.map(({ position, relativeChange, pValue }) => {
        const run = slugs.get(points[position]?.runId ?? '');
        const size = `${signed(formatFixed(relativeChange * 100, 1))} %`;
        return html`<li>${prose(`${capitalized(METRIC_TITLES[metric])} of ${server ?? title}: ${size} (p ${formatP(pValue)}) on ${machine}`)}${run !== undefined && html`, from <a href="../runs/${run.slug}.html">${dayOf(run)}</a> on`}</li>`;
      }),
    ),
  );
  return items.length === 0
    ? html`<p class="lead">No change of level was found. It takes at least six runs of the same case on the same machine.</p>`
    : html`<ul class="prose">${items}</ul>`;
}

/** The case and machine with the most figures of one metric: CPU per query, which does not depend on the load generator. */
async function pictureFor({ title, runs }: Group): Promise<Picture | null> {
  for (const metric of ['cpuSecondsPerQuery', 'qps'] as const) {
    const alike = Map.groupBy(rowsOf(title, runs, metric), (row) => `${pointText(row)}; ${row.machine}`);
    const [[place, rows] = ['', []]] = [...alike].toSorted(([, a], [, b]) => b.length - a.length);
    if (rows.length < 2) continue;
    const drawn = rows.slice(-MAX_DRAWN);
    const names = [...new Set(drawn.flatMap(({ server }) => server ?? []))];
    const isTime = metric !== 'qps';
    const scale = isTime ? 1e6 : 1;
    const groups = [...Map.groupBy(drawn, ({ runId }) => runId)].map(([, members]) => ({
      label: members[0]?.startedAt.slice(0, 10) ?? '',
      points: members.map(({ server, median, low, high }) => ({
        series: server ?? '',
        value: median * scale,
        low: low === null ? null : low * scale,
        high: high === null ? null : high * scale,
        tip: `${server}: ${FORMATS[metric](median)}`,
      })),
    }));
    return pictureOf(
      {
        type: 'intervals',
        name: 'figures',
        title: capitalized(METRIC_TITLES[metric]),
        caption: `Medians of the trials of each run with their 95 % intervals: ${place}. Only those of the same run are a comparison.`,
        axis: isTime ? 'CPU time per query (µs)' : METRIC_TITLES[metric],
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
  const others = runs.filter(({ entry }) => entry.cases.length === 0);
  const main = html`<header class="page-head"><p class="kind">Server</p><h1>${title}</h1><p class="lead">Over versions and time. Figures in one table are of the same case and machine; only servers of the same run are compared.</p></header>
${picture !== null && html`<section id="picture"><h2>In short</h2><div class="card">${pictureMarkup(slug, picture, true)}</div></section>`}
${shown.length > 0 && html`<section id="changes"><h2>Changes of level</h2>${changes(group)}</section><section id="figures"><h2>Figures</h2>${shown}</section>`}
${others.length > 0 && html`<section id="others"><h2>Other measurements</h2><div class="cards">${others.map((run) => runCard(run, run.brief.title, '../', false))}</div></section>`}
<section id="runs"><h2>Runs</h2><ul class="links">${runs.map((run) => html`<li><a href="../runs/${run.slug}.html">${run.brief.question}: ${run.brief.title}</a> <small>${dayOf(run)}</small></li>`)}</ul></section>`;
  yield {
    path: `servers/${slug}.html`,
    content: siteShell({ title: `${title}: DNS benchmark results`, root: '../', main }, site),
  };
  if (picture === null) return;
  yield { path: `servers/${slug}.svg`, content: picture.svg };
  yield { path: `servers/${slug}.csv`, content: csvText(picture.columns, picture.rows) };
}
