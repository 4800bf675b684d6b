/** What every page of the site is in. Nothing is loaded from elsewhere, and markup from a record could neither run nor load anything. */
import { csvText } from '../report/csv.ts';
import { type Html, html } from '../report/html/markup.ts';
import { frame } from '../report/html/shell.ts';
import type { Picture, ReportFile } from '../report/renderer.ts';
import type { Site } from './site-run.ts';

// Chromium gives a file from disk no origin that 'self' could mean.
const POLICY =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'";

interface SitePage {
  /** Within the site, without its ending: `runs/NAME`. */
  readonly path: string;
  readonly title: string;
  readonly main: Html;
  /** Lies beside the page, with its figures. Default: none. */
  readonly picture?: Picture | null;
}

/** The files of a page. */
export function* page(
  { path, title, main, picture = null }: SitePage,
  { version }: Pick<Site, 'version'>,
): Generator<ReportFile> {
  const root = path.includes('/') ? '../' : '';
  const content = frame({
    ...{ title, main, version },
    policy: POLICY,
    head: html`<link rel="stylesheet" href="${root}site.css">
<link rel="alternate" type="application/atom+xml" title="New results" href="${root}feed.xml">`,
    skip: { id: 'main', text: 'To the results' },
    top: html`<nav aria-label="Site"><a href="${root}index.html">All results</a><a href="${root}index.html#questions">Questions</a><a href="${root}index.html#servers">Servers</a><a href="${root}index.html#runs">Runs</a><a href="${root}feed.xml">Feed</a></nav>`,
    footer: '. Servers that are tied could not be told apart; nothing here is a ranking.',
  });
  yield { path: `${path}.html`, content };
  if (picture === null) return;
  yield { path: `${path}.svg`, content: picture.svg };
  yield { path: `${path}.csv`, content: csvText(picture.columns, picture.rows) };
}
