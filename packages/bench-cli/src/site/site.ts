/** A site of static files from runs: a page for all, and one for each run, server and question. Pure but for its own style and script. */
import { ownText } from '../own-files.ts';
import { csvText } from '../report/csv.ts';
import type { ReportFile } from '../report/renderer.ts';
import { feed } from './feed.ts';
import { questionPage, runPage, startPage } from './pages.ts';
import { serverPages } from './servers.ts';
import { groupsOf, type SiteRun } from './site-run.ts';

/** The file by which a later `bench site` knows that the directory is its own. */
export const MARKER = '.bench-site';

const own = (...paths: readonly string[]) =>
  paths.map((path) => ownText(new URL(path, import.meta.url)).trim()).join('\n');

export interface SiteOptions {
  /** Where the site will be, with a slash at its end; empty if nobody knows yet. */
  readonly url: string;
  /** Of bench. */
  readonly version: string;
}

/** Every file, in the order in which links lead to them. Runs are the newest first. */
export async function* siteFiles(
  runs: readonly SiteRun[],
  { url, version }: SiteOptions,
): AsyncGenerator<ReportFile> {
  const site = { runs, version, ...groupsOf(runs) };
  yield { path: MARKER, content: `Made by dinodns-bench ${version}; bench site replaces this directory.\n` };
  yield { path: 'site.css', content: `${own('../report/html/page/page.css', 'files/site.css')}\n` };
  yield { path: 'site.js', content: `${own('files/site.js')}\n` };
  yield { path: 'index.html', content: startPage(site) };
  yield { path: 'feed.xml', content: feed(site, url) };
  for (const run of runs) {
    yield { path: `runs/${run.slug}.html`, content: runPage(run, site) };
    const { picture } = run.brief;
    if (picture === null) continue;
    yield { path: `runs/${run.slug}.svg`, content: picture.svg };
    yield { path: `runs/${run.slug}.csv`, content: csvText(picture.columns, picture.rows) };
  }
  for (const group of site.questions)
    yield { path: `questions/${group.slug}.html`, content: questionPage(group, site) };
  for (const group of site.servers) yield* serverPages(group, site);
}
