/** The page of a question: what every run showed that asked it. Pure. */
import { html } from '../report/html/markup.ts';
import { runCard } from './parts.ts';
import { siteShell } from './shell.ts';
import type { Group, Site } from './site-run.ts';

export function questionPage({ title, runs }: Group, site: Site): string {
  const cards = runs.map((run, index) => runCard(run, run.brief.title, '../', index < 2));
  const main = html`<header class="page-head"><p class="kind">Question</p><h1>${title}</h1><p class="lead">All runs that answer this question, newest first. Runs of different machines are not compared.</p></header>
<section id="results"><h2>Runs</h2><div class="cards">${cards}</div></section>`;
  return siteShell({ title: `${title}: DNS benchmark results`, root: '../', main }, site);
}
