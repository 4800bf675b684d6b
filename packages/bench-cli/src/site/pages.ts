/** The start page, and the pages of runs and questions. Pure. */
import { type Html, html, prose, trusted } from '../report/html/markup.ts';
import {
  barList,
  commandMarkup,
  conditions,
  dayOf,
  findingList,
  pictureMarkup,
  runCard,
  serverLinks,
} from './parts.ts';
import { siteShell } from './shell.ts';
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
      `${dayOf(run)} ${run.entry.servers.join(' ')} ${run.id}`,
    ]),
  ];
  const json = JSON.stringify(index).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="index">${trusted(json)}</script>`;
}

function groupLinks(groups: readonly Group[], folder: string): Html {
  const items = groups.map(
    ({ title, slug, runs }) =>
      html`<li><a href="${folder}/${slug}.html">${title}</a> <small>${runs.length === 1 ? '1 run' : `${runs.length} runs`}</small></li>`,
  );
  return html`<ul class="links">${items}</ul>`;
}

export function startPage(site: Site): string {
  const { comparisons, questions, servers, runs } = site;
  const newest = comparisons.flatMap(([run]) => run ?? []);
  const answers = new Map(newest.toReversed().map((run) => [run.brief.question, run]));
  const first = newest.filter((run) => answers.get(run.brief.question) === run);
  const others = newest.filter((run) => !first.includes(run));
  const list = runs.map(
    (run) =>
      html`<li><a href="runs/${run.slug}.html">${run.brief.question}: ${run.brief.title}</a> <small>${dayOf(run)}</small></li>`,
  );
  const main = html`<header class="page-head"><p class="kind">DNS benchmark</p><h1>Results</h1>
<p class="lead">The newest run of each comparison. A difference is named only where its 95&nbsp;% interval leaves out zero; nothing is ranked.</p></header>
<search class="search needs-script"><label for="search">Search</label> <input id="search" type="search" autocomplete="off" aria-controls="found"><ul id="found" class="links" aria-live="polite"></ul></search>
<section id="results"><h2>Newest results</h2><div class="cards">${first.map((run, index) => runCard(run, '', index < 2 ? 'eager' : 'lazy'))}</div></section>
${others.length > 0 && html`<section id="others"><h2>Other comparisons</h2><div class="cards">${others.map((run) => runCard(run, '', 'none'))}</div></section>`}
<section id="questions"><h2>Questions</h2>${groupLinks(questions, 'questions')}</section>
<section id="servers"><h2>Servers</h2>${groupLinks(servers, 'servers')}</section>
<section id="runs"><h2>Runs</h2><ul class="links">${list}</ul></section>
${indexMarkup(site)}
<script src="site.js"></script>`;
  return siteShell({ title: 'DNS benchmark results', root: '', main }, site);
}

export function runPage(run: SiteRun, site: Site): string {
  const { brief, slug, id } = run;
  const { question, title, lead, findings, warnings, picture } = brief;
  const group = site.questions.find((each) => each.title === question);
  const older = site.comparisons
    .flatMap((runs) => (runs.includes(run) ? runs : []))
    .filter((other) => other !== run)
    .map(
      (other) => html`<li><a href="${other.slug}.html">${dayOf(other)}</a> <small>${other.id}</small></li>`,
    );
  const main = html`<header class="page-head"><p class="kind"><a href="../questions/${group?.slug ?? ''}.html">${question}</a></p><h1>${title}</h1>${conditions(run)}</header>
${warnings.length > 0 && html`<section class="notice" id="care"><h2>Read with care</h2><ul>${warnings.map((note) => html`<li>${prose(note)}</li>`)}</ul></section>`}
<section id="findings"><h2>What was shown</h2><div class="card">
${lead !== null && html`<p>${prose(lead.text)}</p>`}
${barList(lead)}${pictureMarkup(slug, picture, 'eager')}
${findingList(findings)}
${findings.length === 0 && html`<p>${prose(brief.headline)}</p>`}</div></section>
${older.length > 0 && html`<section id="others"><h2>Other runs of this comparison</h2><ul class="links">${older}</ul></section>`}
<section id="again"><h2>The same run again</h2>${commandMarkup(run)}<p>Run ${id}. All tables and trials: <code>bench open ${id}</code></p>${serverLinks(run, site)}</section>`;
  return siteShell({ title: `${title}: ${question}`, root: '../', main }, site);
}

/** What every run showed that asked the question. */
export function questionPage({ title, runs }: Group, site: Site): string {
  const cards = runs.map((run, index) => runCard(run, '../', index < 2 ? 'eager' : 'lazy'));
  const main = html`<header class="page-head"><p class="kind">Question</p><h1>${title}</h1><p class="lead">All runs that answer this question, newest first. Runs of different machines are not compared.</p></header>
<section id="results"><h2>Runs</h2><div class="cards">${cards}</div></section>`;
  return siteShell({ title: `${title}: DNS benchmark results`, root: '../', main }, site);
}
