/**
 * What every page is in: head, navigation, style and script. Only its own style and script are allowed, by their
 * hashes (Content Security Policy Level 3, 2.3.1), so that even injected markup could neither run nor load anything.
 */
import { createHash } from 'node:crypto';
import { ownText } from '../../own-files.ts';
import { type ChartServer, darkRules } from '../charts/index.ts';
import { type Content, type Html, html, trusted } from './markup.ts';

const [STYLE, SCRIPT] = ['page.css', 'page.js'].map((name) =>
  ownText(new URL(`page/${name}`, import.meta.url)).trim(),
);

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Dark charts where the reader or their system prefers dark; print is always light. */
function chartRules(servers: number): string {
  const dark = darkRules(servers, ':root[data-theme=dark]');
  const byDefault = darkRules(servers, ':root:not([data-theme])');
  return `@media screen{${dark}}\n@media screen and (prefers-color-scheme: dark){${byDefault}}`;
}

function marksOf({ color }: ChartServer): string {
  return `.plot :is([fill="${color}"],[stroke="${color}"])`;
}

/**
 * Hides or highlights one server in every chart, by its unique colour. `hide-N` and `bring-N` are classes of the body; N is the
 * server's place.
 */
function serverRules(servers: readonly ChartServer[]): string {
  return servers
    .map((server, index) => {
      const others = servers
        .filter((other) => other !== server)
        .map((other) => `.bring-${index} ${marksOf(other)}`);
      const fade = others.length === 0 ? '' : `${others.join(',')}{opacity:.12}`;
      return `.hide-${index} ${marksOf(server)}{display:none}${fade}`;
    })
    .join('\n');
}

export interface PageContent {
  readonly title: string;
  /** Of bench. */
  readonly version: string;
  /** What charts tell apart. */
  readonly servers: readonly ChartServer[];
  /** Where the first link of the page leads, for readers without a pointer. */
  readonly skip: { readonly id: string; readonly text: string };
  /** Sections by their id. */
  readonly links: readonly (readonly [id: string, text: string])[];
  readonly main: Html;
}

interface Frame extends Pick<PageContent, 'title' | 'version' | 'skip' | 'main'> {
  readonly policy: string;
  /** The style and the rest of the head. */
  readonly head: Html;
  /** Navigation. */
  readonly top: Html;
  /** After the version. */
  readonly footer: Content;
  /** After the footer. */
  readonly end?: Html;
}

/** What pages of runs and those of a site have in common. */
export function frame({ title, version, policy, head, skip, top, main, footer, end }: Frame): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}
</head>
<body>
<a class="skip" href="#${skip.id}">${skip.text}</a>
<div class="top">${top}</div>
<main id="main">
${main}
</main>
<footer>Made by dinodns-bench ${version}${footer}</footer>
${end ?? null}
</body>
</html>
`.markup;
}

export function pageShell({ title, version, servers, skip, links, main }: PageContent): string {
  const style = [STYLE ?? '', chartRules(servers.length), serverRules(servers)].join('\n');
  const script = SCRIPT ?? '';
  return frame({
    ...{ title, version, skip, main },
    policy:
      `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
      "base-uri 'none'; form-action 'none'",
    head: html`<meta name="generator" content="dinodns-bench ${version}">
<style>${trusted(style)}</style>`,
    top: html`<nav aria-label="Contents">${links.map(([id, text]) => html`<a href="#${id}">${text}</a>`)}</nav><button type="button" class="theme needs-script" data-theme-button>Theme: system</button>`,
    footer: html` from <a href="run.json">run.json</a>, which holds every figure unrounded.`,
    end: html`<div id="tip" role="status" hidden></div>
<script>${trusted(script)}</script>`,
  });
}
