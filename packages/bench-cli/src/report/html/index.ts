/**
 * `report.html`: one file that opens from disk, without network. Only its own style and script are allowed, by their
 * hashes (Content Security Policy Level 3, 2.3.1), so that even injected markup could neither run nor load anything.
 */
import { createHash } from 'node:crypto';
import { ownText } from '../../own-files.ts';
import type { RunRecord } from '../../results/record.ts';
import { chartData, darkRules, drawPlots, PAGE_LOOK } from '../charts/index.ts';
import type { RenderOptions } from '../renderer.ts';
import { casesTable } from './cases-table.ts';
import { chartsSection } from './charts-section.ts';
import { factsSection } from './facts-section.ts';
import { html, trusted } from './markup.ts';
import type { PageData } from './page-data.ts';
import { serverRules } from './server-rules.ts';
import { trialsSection } from './trials-section.ts';
import { header, titleOf, verdicts } from './verdicts.ts';

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

/** The page. Pure but for its own style and script, which are files of this program. */
export async function renderHtml(record: RunRecord, options: RenderOptions): Promise<string> {
  const charts = chartData(record, options.delta);
  const plots = await drawPlots(charts, PAGE_LOOK);
  const page: PageData = { record, delta: options.delta, charts, plots, raw: options.raw ?? new Map() };
  const style = [STYLE ?? '', chartRules(charts.servers.length), serverRules(charts.servers)].join('\n');
  const script = SCRIPT ?? '';
  const policy =
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
    "base-uri 'none'; form-action 'none'";
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="dinodns-bench ${record.generator.version}">
<title>${titleOf(record)}: DNS server benchmark</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#cases">To the table of cases</a>
<div class="top"><nav aria-label="Contents"><a href="#verdicts">Verdicts</a><a href="#charts">Charts</a><a href="#cases">Cases</a><a href="#trials">Trials</a><a href="#method">Method</a><a href="#environment">Environment</a><a href="#repeat">Repeat</a></nav><button type="button" class="theme needs-script" data-theme-button>Theme: system</button></div>
<main>
${header(page)}
${verdicts(page)}
${chartsSection(page)}
${casesTable(page)}
${trialsSection(page)}
${factsSection(page)}
</main>
<footer>Made by dinodns-bench ${record.generator.version} from <a href="run.json">run.json</a>, which holds every figure unrounded.</footer>
<div id="tip" role="status" hidden></div>
<script>${trusted(script)}</script>
</body>
</html>
`;
  return markup;
}
