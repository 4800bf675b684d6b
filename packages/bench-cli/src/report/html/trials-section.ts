/** Every trial of every case, with what the tools printed. */
import type { CaseRecord, InstanceObservation, OkTrial, Trial } from '../../results/record.ts';
import { shellCommand } from '../../text.ts';
import { groupCases, serverTitle } from '../cases.ts';
import { formatBytes, formatCount, formatFixed, formatQps, formatTime } from '../numbers.ts';
import { formatThrottled, throttledShare } from '../throttling.ts';
import { trialsId } from './cases-table.ts';
import { type Content, type Html, html } from './markup.ts';
import type { PageData } from './page-data.ts';
import { serverSign } from './signs.ts';

const COLUMNS = [
  'Trial',
  'Started',
  'QPS',
  'Latency',
  'CPU per query',
  'Cores',
  'Memory',
  'Throttled',
  'Lost',
  'Limited by',
  'Remarks',
  'Output',
];

function orNone<T>(value: T | null | undefined, format: (value: T) => string): Content {
  return value === null || value === undefined ? html`<span class="none">–</span>` : format(value);
}

function remarks(trial: OkTrial, item: CaseRecord): string {
  const parts = [
    ...(item.outliers.includes(trial.key) ? ['outlier'] : []),
    ...(trial.steadyState?.settled === false ? [`unsettled: ${trial.steadyState.reason}`] : []),
  ];
  return parts.join('; ');
}

/** A path in the run's folder as a link: each part encoded, so that none can lead elsewhere. */
function href(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** An instance, and below it the containers beside it in its pod. */
function instanceRows(one: InstanceObservation): Html[] {
  const figures = (cpuCores: number | null, memoryBytes: number | null) =>
    html`<td>${orNone(cpuCores, (cores) => formatFixed(cores, 2))}</td><td>${orNone(memoryBytes, formatBytes)}</td>`;
  return [
    html`<tr><td>${one.name}</td><td>${one.node ?? '–'}</td><td>${orNone(one.queries, formatCount)}</td>${figures(one.cpuCores, one.memoryBytes)}</tr>`,
    ...(one.sidecars ?? []).map(
      ({ name, cpuCores, memoryBytes }) =>
        html`<tr><td>sidecar ${name}</td><td></td><td></td>${figures(cpuCores, memoryBytes)}</tr>`,
    ),
  ];
}

function output(trial: Trial, page: PageData): Content {
  const files = page.raw.get(trial.key) ?? [];
  const commands = trial.loaderCommands.map(
    (command) => html`<pre class="command">$ ${shellCommand(command)}</pre>`,
  );
  const instances =
    trial.status === 'ok' && trial.instanceObservations !== null
      ? html`<table class="inner"><thead><tr><th>Instance</th><th>Node</th><th>Queries</th><th>Cores</th><th>Memory</th></tr></thead><tbody>${trial.instanceObservations.map(instanceRows)}</tbody></table>`
      : null;
  const raw = files.map(({ path, text }) =>
    text === null
      ? html`<p><a href="${href(path)}">${path}</a> (too long for this page)</p>`
      : html`<h4><a href="${href(path)}">${path}</a></h4><pre>${text}</pre>`,
  );
  if (commands.length + raw.length === 0 && instances === null) return html`<span class="none">none</span>`;
  return html`<details class="raw"><summary>${files.length > 0 ? 'raw output' : 'command'}</summary><div>${commands}${instances}${raw}</div></details>`;
}

function row(trial: Trial, item: CaseRecord, page: PageData): Html {
  const time = trial.startedAt.slice(11, 19);
  if (trial.status === 'failed') {
    const { code, message, fix, evidence } = trial.failure;
    return html`<tr class="failed"><th scope="row">${trial.round + 1}</th><td data-label="Started">${time}</td><td colspan="9" data-label="Failed"><b>${code}</b> ${message} <i>${fix}</i>${evidence.length > 0 && html`<pre>${evidence.join('\n')}</pre>`}</td><td data-label="Output">${output(trial, page)}</td></tr>
`;
  }
  const { metrics, load } = trial;
  const cells: Content[] = [
    time,
    formatQps(metrics.qps),
    orNone(metrics.latencySeconds, formatTime),
    orNone(metrics.cpuSecondsPerQuery, formatTime),
    orNone(metrics.cpuCores, (cores) => formatFixed(cores, 2)),
    orNone(metrics.memoryBytes, formatBytes),
    orNone(throttledShare(trial.server), formatThrottled),
    formatCount(load.queriesLost),
    trial.limitedBy,
    remarks(trial, item),
    output(trial, page),
  ];
  return html`<tr><th scope="row">${trial.round + 1}</th>${cells.map((cell, index) => html`<td data-label="${COLUMNS[index + 1] ?? ''}">${cell}</td>`)}</tr>
`;
}

export function trialsSection(page: PageData): Html {
  const { record } = page;
  const byCase = Map.groupBy(record.trials, ({ caseKey }) => caseKey);
  const twins = record.cases.filter(({ aa }) => aa);
  const sections = [
    ...groupCases(record),
    ...(twins.length > 0 ? [{ title: 'Noise floor (A/A)', cases: twins }] : []),
  ].flatMap((group) =>
    group.cases.map((item) => {
      const trials = (byCase.get(item.key) ?? []).toSorted((a, b) => a.round - b.round);
      return html`<details class="trials" id="${trialsId(page, item)}"><summary>${serverSign(page, item.server)}<b>${serverTitle(record, item.server)}</b> <span>${group.title}</span> <small>${trials.length} trials</small></summary>
<div class="table-box" tabindex="0" role="region" aria-label="Trials"><table><thead><tr>${COLUMNS.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead><tbody>
${trials.map((trial) => row(trial, item, page))}</tbody></table></div></details>`;
    }),
  );
  return html`<section id="trials"><h2>Trials</h2><p class="lead">All trials, in the order of the rounds, with the load generator's command and the output of the tools.</p>${sections}</section>`;
}
