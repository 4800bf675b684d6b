/** What every page of the site is in. Nothing is loaded from elsewhere, and markup from a record could neither run nor load anything. */
import { type Html, html, trusted } from '../report/html/markup.ts';
import type { Site } from './site-run.ts';

// Chromium gives a file from disk no origin that 'self' could mean.
const POLICY =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'";

interface SitePage {
  readonly title: string;
  /** The way to the site's root: empty, or `../`. */
  readonly root: '' | '../';
  readonly main: Html;
}

export function siteShell({ title, root, main }: SitePage, { version }: Pick<Site, 'version'>): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${root}site.css">
<link rel="alternate" type="application/atom+xml" title="New results" href="${root}feed.xml">
</head>
<body>
<a class="skip" href="#main">To the results</a>
<div class="top"><nav aria-label="Site"><a href="${root}index.html">All results</a><a href="${root}index.html#questions">Questions</a><a href="${root}index.html#servers">Servers</a><a href="${root}index.html#runs">Runs</a><a href="${root}feed.xml">Feed</a></nav></div>
<main id="main">
${main}
</main>
<footer>Made by dinodns-bench ${version}. Servers that are tied could not be told apart; nothing here is a ranking.</footer>
</body>
</html>
`.markup;
}
