/** How it was measured, where, with which programs, and how to repeat it. */
import type { RunRecord } from '../../results/record.ts';
import { serverTitle } from '../cases.ts';
import { environmentFacts, type Fact, methodLines, settingText } from '../facts.ts';
import { formatBytes } from '../numbers.ts';
import { type Html, html } from './markup.ts';
import type { PageData } from './page-data.ts';

export function factList(facts: readonly Fact[]): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function howToRead({ deltaDefinition }: RunRecord): string[] {
  return [
    `Differences are ${deltaDefinition === 'relative' ? '(value − baseline) ÷ baseline (relative)' : '(value − baseline) ÷ mean of both (symmetric)'} unless the report says otherwise.`,
    'NXDOMAIN and REFUSED are answers and count as completed. Latency covers completed queries only; lost ones are counted separately.',
  ];
}

function programs(record: RunRecord): Html {
  const servers = record.servers.map(({ name: server, version, executable, components, files }) => {
    const parts = Object.entries(components).map(([name, value]) => `${name} ${value}`);
    const texts = Object.entries(files).map(
      ([name, text]) => html`<details class="raw"><summary>${name}</summary><pre>${text}</pre></details>`,
    );
    return html`<tr><th scope="row">${serverTitle(record, server)}</th><td data-label="Version">${version}</td><td data-label="Components">${parts.join(', ')}</td><td data-label="Program"><code>${executable}</code></td><td data-label="Configuration">${texts}</td></tr>`;
  });
  const tools = record.provisioned.map(
    ({ tool, version, source, origin, sizeBytes }) =>
      html`<tr><th scope="row">${tool}</th><td data-label="Version">${version}</td><td data-label="Source">${source}</td><td data-label="Origin">${origin}</td><td data-label="Size">${sizeBytes === null ? '' : formatBytes(sizeBytes)}</td></tr>`,
  );
  const tableOf = (titles: readonly string[], rows: readonly Html[]) =>
    rows.length > 0 &&
    html`<div class="table-box" tabindex="0" role="region" aria-label="${titles[0] ?? ''}"><table><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
  return html`${tableOf(['Server', 'Version', 'Components', 'Program', 'Configuration'], servers)}${tableOf(['Tool', 'Version', 'Source', 'Origin', 'Size'], tools)}`;
}

export function factsSection({ record }: PageData): Html {
  const { git } = record.environment;
  const commands = `${git === null ? '' : `git checkout ${git.commit}\n`}${record.command}`;
  const settings = Object.entries(record.configuration).map(
    ([name, value]): Fact => [name, settingText(value)],
  );
  return html`<section id="method"><h2>Method</h2><ul class="prose">${[...methodLines(record), ...howToRead(record)].map((line) => html`<li>${line}</li>`)}</ul>
<details><summary>All settings</summary>${factList(settings)}</details></section>
<section id="environment"><h2>Environment</h2>${factList(environmentFacts(record))}</section>
<section id="programs"><h2>Programs</h2>${programs(record)}</section>
<section id="repeat"><h2>Reproduce</h2><div class="copy"><pre id="command">${commands}</pre><button type="button" class="needs-script" data-copy="command">Copy</button></div></section>`;
}
