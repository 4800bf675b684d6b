/** A site of static files from runs: a page for all, and one for each run, server and question. Pure but for its own style and script. */
import { ownText } from '../own-files.ts';
import { html, trusted } from '../report/html/markup.ts';
import type { ReportFile } from '../report/renderer.ts';
import { questionPage, runPage, startPage } from './pages.ts';
import { serverPages } from './servers.ts';
import { type Site, type SiteRun, siteOf } from './site-run.ts';

/** The file by which a later `bench site` knows that the directory is its own. */
export const MARKER = '.bench-site';

const own = (...paths: readonly string[]) =>
  paths.map((path) => `${ownText(new URL(path, import.meta.url)).trim()}\n`).join('');

/** As many as a reader wants to see at once. */
const MAX_ENTRIES = 50;

/** An entry keeps its identity where the site moves to another address. */
const idOf = ({ entry }: SiteRun) => `urn:dinodns-bench:run:${encodeURIComponent(entry.id)}`;

/** The runs as an Atom feed (RFC 4287); links are relative without a `url`. */
function feed({ runs }: Site, url: string): string {
  const entries = runs.slice(0, MAX_ENTRIES).map(
    (run) => html`<entry>
<id>${idOf(run)}</id>
<title>${run.brief.question}: ${run.brief.title}</title>
<updated>${run.entry.startedAt}</updated>
<link rel="alternate" type="text/html" href="${url}runs/${run.slug}.html"/>
<summary>${run.brief.sentence}</summary>
</entry>
`,
  );
  return html`${trusted('<?xml version="1.0" encoding="utf-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${url === '' ? 'urn:dinodns-bench:site' : url}</id>
<title>DNS benchmark results</title>
<author><name>dinodns-bench</name></author>
<updated>${runs[0]?.entry.startedAt ?? '1970-01-01T00:00:00Z'}</updated>
<link rel="self" type="application/atom+xml" href="${url}feed.xml"/>
<link rel="alternate" type="text/html" href="${url}index.html"/>
${entries}</feed>
`.markup;
}

/** Every file, in the order in which links lead to them. Runs are the newest first; `url` ends with a slash or is empty. */
export async function* siteFiles(
  runs: readonly SiteRun[],
  { url, version }: { readonly url: string; readonly version: string },
): AsyncGenerator<ReportFile> {
  const site = siteOf(runs, version);
  yield { path: MARKER, content: `Made by dinodns-bench ${version}; bench site replaces this directory.\n` };
  yield { path: 'site.css', content: own('../report/html/page/page.css', 'files/site.css') };
  yield { path: 'site.js', content: own('files/site.js') };
  yield* startPage(site);
  yield { path: 'feed.xml', content: feed(site, url) };
  for (const run of runs) yield* runPage(run, site);
  for (const group of site.questions) yield* questionPage(group, site);
  for (const group of site.servers) yield* serverPages(group, site);
}
