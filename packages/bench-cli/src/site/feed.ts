/** The runs as an Atom feed (RFC 4287). Pure. */
import { html, trusted } from '../report/html/markup.ts';
import type { Site, SiteRun } from './site-run.ts';

/** As many as a reader wants to see at once. */
const MAX_ENTRIES = 50;

/** An entry keeps its identity where the site moves to another address. */
const idOf = ({ id }: SiteRun) => `urn:dinodns-bench:run:${encodeURIComponent(id)}`;

/** `url` is where the site will be; links are relative without one. */
export function feed({ runs }: Pick<Site, 'runs'>, url: string): string {
  const entries = runs.slice(0, MAX_ENTRIES).map(
    (run) => html`<entry>
<id>${idOf(run)}</id>
<title>${run.brief.question}: ${run.brief.title}</title>
<updated>${run.startedAt}</updated>
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
<updated>${runs[0]?.startedAt ?? '1970-01-01T00:00:00Z'}</updated>
<link rel="self" type="application/atom+xml" href="${url}feed.xml"/>
<link rel="alternate" type="text/html" href="${url}index.html"/>
${entries}</feed>
`.markup;
}
