/** The start page, and the pages of runs and questions. Pure. */
import { findingList } from '../report/document/page.ts';
import { type Html, html, joined, prose, trusted } from '../report/html/markup.ts';
import type { ReportFile } from '../report/renderer.ts';
import { kindTitle } from '../servers/registry.ts';
import { counted } from '../text.ts';
import { barList, conditions, dayOf, pictureMarkup, runCard, runLinks } from './parts.ts';
import { page } from './shell.ts';
import type { Group, Site, SiteRun } from './site-run.ts';

/** What the search looks through: title, address, and words that find it. Within a script element, no text may end it. */
function indexMarkup({ runs, servers, questions }: Site): Html {
  const pages = (groups: readonly Group[], folder: string) =>
    groups.map(({ title, slug }) => [title, `${folder}/${slug}.html`, '']);
  const index = [
    ...pages(servers, 'servers'),
    ...pages(questions, 'questions'),
    ...runs.map((run) => [
      `${run.brief.question}: ${run.brief.title}`,
      `runs/${run.slug}.html`,
      `${dayOf(run)} ${run.entry.servers.join(' ')} ${run.entry.id}`,
    ]),
  ];
  const json = JSON.stringify(index).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="index">${trusted(json)}</script>`;
}

function groupLinks(groups: readonly Group[], folder: string): Html {
  const items = groups.map(
    ({ title, slug, runs }) =>
      html`<li><a href="${folder}/${slug}.html">${title}</a> <small>${counted(runs.length, 'run')}</small></li>`,
  );
  return html`<ul class="links">${items}</ul>`;
}

/** The newest run of each comparison of the question: those of which most is sure, first. */
const newestOf = ({ title }: Group, { comparisons }: Site) =>
  comparisons.flatMap(([run]) => (run?.brief.question === title ? run : []));

export function startPage(site: Site): Generator<ReportFile> {
  const { questions, servers, runs } = site;
  const cards = questions.flatMap((group) => {
    const [first, ...others] = newestOf(group, site);
    const heading = html`<a href="questions/${group.slug}.html">${group.title}</a>`;
    return first === undefined ? [] : [runCard(first, '', heading, others)];
  });
  const main = html`<header class="page-head"><h1>DNS benchmark results</h1>
<p class="lead">The newest result of each question. Where a test compares servers, a difference is named only if its 95&nbsp;% interval leaves out zero; nothing is ranked.</p></header>
<search class="search needs-script"><label for="search">Search</label> <input id="search" type="search" autocomplete="off" aria-controls="found"><ul id="found" class="links" aria-live="polite"></ul></search>
<section id="questions" class="cards small">${cards}</section>
<section id="servers"><h2>Servers</h2>${groupLinks(servers, 'servers')}</section>
<section id="runs"><h2>Runs</h2><details><summary>All ${counted(runs.length, 'run')}</summary>${runLinks(runs, '')}</details></section>
${indexMarkup(site)}
<script src="site.js"></script>`;
  return page({ path: 'index', title: 'DNS benchmark results', main }, site);
}

export function runPage(run: SiteRun, site: Site): Generator<ReportFile> {
  const { brief, slug, entry } = run;
  const { question, title, lead, findings, warnings, picture } = brief;
  const group = site.questions.find((each) => each.title === question);
  const older = site.comparisons
    .flatMap((runs) => (runs.includes(run) ? runs : []))
    .filter((other) => other !== run)
    .map((other) => html`<li><a href="${other.slug}.html">${dayOf(other)}</a></li>`);
  const kinds = new Set(entry.servers.map(kindTitle));
  const links = site.servers.flatMap((server) =>
    kinds.has(server.title) ? [html`<a href="../servers/${server.slug}.html">${server.title}</a>`] : [],
  );
  const main = html`<header class="page-head"><p class="kind"><a href="../questions/${group?.slug ?? ''}.html">${question}</a></p><h1>${title}</h1>${conditions(run)}</header>
${warnings.length > 0 && html`<section class="notice" id="care"><h2>Read with care</h2><ul>${warnings.map((note) => html`<li>${prose(note)}</li>`)}</ul></section>`}
<section id="findings"><h2>What was shown</h2><div class="card">
${lead !== null && html`<p>${prose(lead.text)}</p>`}
${barList(brief)}${pictureMarkup(slug, picture)}
${findings.length > 0 ? findingList(findings) : html`<p>${prose(brief.headline)}</p>`}</div></section>
${older.length > 0 && html`<section id="others"><h2>Other runs of this comparison</h2><ul class="links">${older}</ul></section>`}
<section id="again"><h2>More of this run</h2><p>Run ${entry.id}. All tables and trials: <code>bench open ${entry.id}</code></p>${links.length > 0 && html`<p>Servers: ${joined(links, ', ')}</p>`}</section>`;
  return page({ path: `runs/${slug}`, title: `${title}: ${question}`, main, picture }, site);
}

/** What the newest run of each comparison showed, and what came before. */
export function questionPage(group: Group, site: Site): Generator<ReportFile> {
  const { title, slug, runs } = group;
  const newest = newestOf(group, site);
  const older = runs.filter((run) => !newest.includes(run));
  const main = html`<header class="page-head"><p class="kind">Question</p><h1>${title}</h1><p class="lead">The newest run of each comparison. Runs of different machines are not compared.</p></header>
<section id="results" class="cards">${newest.map((run) => runCard(run, '../', false))}</section>
${older.length > 0 && html`<section id="others"><h2>Older runs</h2>${runLinks(older, '../')}</section>`}`;
  return page({ path: `questions/${slug}`, title: `${title}: DNS benchmark results`, main }, site);
}
