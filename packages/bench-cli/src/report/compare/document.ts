/** A comparison as a report: `bench run` and `bench matrix`. Pure. */

import type { CaseRecord, RunRecord } from '../../results/record.ts';
import { decisiveOf, isUndecidable, NOT_COMPARED } from '../../stats/decisive.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import { asSentence, listed, shellCommand } from '../../text.ts';
import { explainCaseMarks, groupCases, serverTitle } from '../cases.ts';
import { trialData } from '../csv.ts';
import { deltaLine, deltaTexts } from '../delta-texts.ts';
import {
  type Block,
  type Cell,
  chart,
  code,
  type Finding,
  facts,
  list,
  numbers,
  only,
  type ReportDocument,
  type Section,
  table,
  text,
} from '../document/document.ts';
import { environmentFacts, methodLines, originSentence, repeatCommands, settingText } from '../facts.ts';
import { cautions, procedureNotes } from '../findings.ts';
import { leadOf } from '../lead.ts';
import { CONTENDED, NOT_SERVER_LIMITED } from '../marks.ts';
import { warningsDuring } from '../neighbours.ts';
import { formatBytes } from '../numbers.ts';
import { runStatus } from '../status.ts';
import { THROTTLED_EXPLANATION } from '../throttling.ts';
import { verdictSentences } from '../verdict-sentence.ts';
import { seriesTitle, VERSION_STEPS, versionSteps, versionsOf } from '../version-steps.ts';
import { casesBlock } from './cases.ts';
import { toneOf } from './cells.ts';
import { seriesOf } from './charts/data.ts';
import { chartsOf } from './charts.ts';
import { podBlocks } from './pods.ts';
import { caveats, contestants, isAtFixedRate, postFigures, verdicts } from './post.ts';
import { acrossModes } from './published-tables.ts';
import { legend, summaryTable } from './summary.ts';
import { groupTables } from './tables.ts';

/** In a run where everything fails, the record has the rest. */
const MAX_FAILURES = { terminal: 10, report: 100 };

/** The difference that decides, in a word or a figure: `+19.7 % [+17, +23]`. */
function badgeOf(record: RunRecord, item: CaseRecord, definition: DeltaDefinition): Cell {
  const decisive = decisiveOf(item, record);
  if (item.summary === null) return { text: 'no result', tone: 'warn' };
  if (item.server === record.baseline) return { text: 'baseline', tone: 'even' };
  if (decisive === null || isUndecidable(decisive)) return { text: NOT_COMPARED, tone: 'even' };
  const { delta, metric } = decisive;
  const texts = deltaTexts(record, item, metric, decisive, definition);
  const line = deltaLine(texts, ', one trial', metric === 'qps' ? '' : ' CPU');
  if (texts.ends === null) return { text: line, tone: 'even' };
  const sign = delta.verdict === 'no difference shown' ? '≈ ' : '';
  return { text: sign + line, tone: toneOf(delta.verdict) };
}

/** Of a run of many versions: where they changed. */
function stepFindings(record: RunRecord): Finding[] {
  return (versionSteps(record) ?? []).map(({ subject, sentence, isStep }) => ({
    ...{ subject, sentence, group: VERSION_STEPS },
    badge: { text: isStep ? 'step' : 'no step shown', tone: 'even' },
  }));
}

function findingsOf(record: RunRecord, definition: DeltaDefinition): Finding[] {
  return verdictSentences(record).map(({ group, item, sentence }) => ({
    subject: serverTitle(record, item.server),
    group,
    series: item.server,
    badge: badgeOf(record, item, definition),
    sentence,
  }));
}

function failedTrials(record: RunRecord): Block[] {
  const { failures } = runStatus(record);
  const more = (most: number) =>
    failures.length > most ? [text(`… and ${failures.length - most} more, in run.json.`)] : [];
  if (failures.length === 0) return [];
  const rows = failures
    .slice(0, MAX_FAILURES.report)
    .map(({ key, failure }) => [key, failure.code, failure.message]);
  return [
    ...only(
      ['terminal'],
      list(
        failures
          .slice(0, MAX_FAILURES.terminal)
          .map(({ key, failure }) => `${failure.code} in ${key}: ${failure.message}`),
      ),
      ...more(MAX_FAILURES.terminal),
    ),
    ...only(
      ['markdown'],
      text('A failed trial is a result with a reason; no figure above includes it.'),
      table('Failed trials', ['Trial', 'Code', 'Reason'], rows),
      ...more(MAX_FAILURES.report),
    ),
  ];
}

/** The faults of DinoDNS 0.0.13 as published. */
function stockNote(record: RunRecord): string {
  if (!record.cases.some(({ server }) => server === 'dinodns-stock')) return '';
  return (
    `${serverTitle(record, 'dinodns-stock')} is the unmodified framework from npm with its DefaultStore and ` +
    'DNSOverUDP, run as documented. It is included to keep the comparison honest, not because it ' +
    'answers like the others: in version 0.0.13 names are compared case-sensitively, an existing name queried for ' +
    'another type gets NXDOMAIN instead of an empty answer, the AA bit is never set, every TTL is 0, client cookies ' +
    "are echoed as if they were the server's, refused() sends FORMERR, and one UDP datagram of 3 bytes ends the " +
    'process.'
  );
}

const CORRECTED =
  'the test still agrees after correction for the number of comparisons: of runs of equal servers, at most one in 20 names a winner in a figure';

function howToRead(record: RunRecord, definition: DeltaDefinition): string[] {
  const isCorrected = record.cases.every(({ comparison }) => comparison?.qps.comparisons !== null);
  const used = (name: DeltaDefinition) => (name === definition ? ' This report uses this one.' : '');
  const baseline = serverTitle(record, record.baseline);
  return [
    `Differences are from ${baseline} of the same tier, mode, workload, transport and rate: of throughput where the servers were the limit, otherwise of CPU per query. ` +
      '≈ means that no difference was shown, which is not the same as equal.',
    `A relative difference is (value − baseline) ÷ baseline.${used('relative')} A symmetric one is (value − baseline) ÷ mean of both, the definition of the ` +
      `published DinoDNS tables: 18,584 against 20,855 QPS is −10.89% relative and −11.52% symmetric.${used('symmetric')}`,
    'Figures in square brackets are 95 % confidence intervals. A verdict is given only if the interval of the difference ' +
      `excludes zero${isCorrected ? ` and ${CORRECTED}` : '. This record is older than the correction for the number of comparisons'}. ` +
      'The intervals are valid for this machine on this day, not for other machines.',
    'Success is completed ÷ sent. NXDOMAIN and REFUSED are answers and count as completed. Latency is the mean of ' +
      'completed queries only, without lost ones.',
    `${NOT_SERVER_LIMITED} marks a throughput that the server did not limit, or not in every trial: it is a lower bound on what the server ` +
      'can do. Such a throughput, and the latency that mirrors it, gets no verdict: it is not compared, or, beyond a baseline that was its own limit, ' +
      `told as "at least". ${CONTENDED} marks servers and load generators that had to share cores.`,
    'CPU and memory cover all processes of the server over the whole trial; memory is the proportional set size ' +
      `where the kernel provides it, otherwise the resident set size. ${THROTTLED_EXPLANATION}`,
  ];
}

function method(record: RunRecord): Block[] {
  const { environment: host } = record;
  const command = record.trials.find((trial) => trial.loaderCommands.length > 0)?.loaderCommands[0];
  const machine = `The machine: ${host.cpuModel}, ${host.cpuCores} cores, ${formatBytes(host.memoryBytes)}, ${host.os}, kernel ${host.kernel}.`;
  return [
    list(methodLines(record)),
    ...only(['post'], list([machine])),
    ...(command === undefined
      ? []
      : only(['markdown'], text('The load generator, in the first trial:'), code(shellCommand(command)))),
  ];
}

function programs(record: RunRecord): Block[] {
  const componentsOf = (components: Readonly<Record<string, string>>) =>
    Object.entries(components)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ');
  return [
    table(
      'Servers',
      ['Server', 'Version', 'Components', 'Program'],
      record.servers.map(({ title, version, components, executable }) => [
        title,
        version,
        componentsOf(components),
        executable,
      ]),
    ),
    ...only(
      ['markdown'],
      text(
        record.servers.length === 0
          ? ''
          : 'Their configuration files are in run.json, under servers[].files.',
      ),
    ),
    ...only(
      ['page'],
      ...record.servers.flatMap(({ title, files }) =>
        Object.entries(files).map(
          ([name, content]): Block => ({
            kind: 'code',
            text: content,
            language: '',
            summary: `${title}: ${name}`,
          }),
        ),
      ),
    ),
    ...only(
      ['markdown', 'page'],
      table(
        'Tools',
        ['Tool', 'Version', 'Source', 'Origin', ...numbers('Size')],
        record.provisioned.map(({ tool, version, source, origin, sizeBytes }) => [
          tool,
          version,
          source,
          origin,
          sizeBytes === null ? '' : formatBytes(sizeBytes),
        ]),
      ),
    ),
  ];
}

/** The chart of what the first sentences claim. */
function firstChart(record: RunRecord): string {
  const lead = leadOf(record);
  if (lead === null) return isAtFixedRate(record) ? 'cpu-per-query' : 'difference';
  return lead.metric === 'qps' ? 'qps' : 'cpu-per-query';
}

function chartBlocks(record: RunRecord, definition: DeltaDefinition): Block[] {
  const { drawn, missing } = chartsOf(record, definition, firstChart(record));
  const reasons = missing.map(([title, reason]) => `“${title}”, because ${reason}`);
  return only(
    ['page', 'post'],
    ...drawn.map(chart),
    text(reasons.length === 0 ? '' : `Omitted for lack of data: ${reasons.join('; ')}.`),
  );
}

function sectionsOf(record: RunRecord, definition: DeltaDefinition): Section[] {
  const settings = Object.entries(record.configuration).map(
    ([name, value]) => [name, settingText(value)] as const,
  );
  return [
    ...groupCases(record).map((group) => ({
      title: group.title,
      blocks: [
        ...only(['terminal'], ...summaryTable(record, group, definition)),
        ...only(['markdown'], ...groupTables(record, group, definition)),
      ],
    })),
    { title: '', blocks: only(['terminal'], ...legend(record, definition)) },
    { title: 'Notes', blocks: only(['terminal', 'markdown', 'page'], list(procedureNotes(record))) },
    { title: 'Figures', blocks: only(['post'], ...postFigures(record, definition)) },
    { title: 'Across modes', blocks: only(['markdown'], ...acrossModes(record, definition)) },
    { title: 'Charts', blocks: chartBlocks(record, definition) },
    { title: 'Cases', blocks: only(['page'], casesBlock(record, definition)) },
    { title: 'Pods', isBrief: false, blocks: only(['markdown', 'page'], ...podBlocks(record)) },
    { title: 'Failed trials', blocks: failedTrials(record) },
    {
      title: 'How to read this',
      isBrief: false,
      blocks: only(['markdown', 'page'], list(howToRead(record, definition)), text(stockNote(record))),
    },
    { title: 'Method', isBrief: false, blocks: method(record) },
    { title: 'Settings', isBrief: false, blocks: only(['markdown', 'page'], facts(settings)) },
    {
      title: 'Environment',
      isBrief: false,
      blocks: only(['markdown', 'page'], facts(environmentFacts(record))),
    },
    {
      title: 'Programs',
      isBrief: false,
      blocks: [...programs(record), ...only(['post'], text(stockNote(record)))],
    },
    { title: 'Reproduce', isBrief: false, blocks: [code(repeatCommands(record))] },
  ];
}

function postOf(record: RunRecord): ReportDocument['post'] {
  const date = record.startedAt.slice(0, 10);
  const servers = [...new Set(record.cases.map(({ server }) => server))];
  const told = verdicts(record);
  const versions = versionsOf(record);
  return {
    slug: ['dns-benchmark', date, ...(versions === null ? servers : [seriesTitle(versions)])].join('-'),
    title:
      versions === null
        ? `How fast do ${listed(servers.map((server) => serverTitle(record, server)))} answer?`
        : `What changed from ${seriesTitle(versions)}?`,
    description: told[0] ?? runStatus(record).headline,
    excerpt: [leadOf(record)?.figures ?? '', ...told].join(' ').trim(),
    origin: originSentence(record, contestants(record), record.target === 'kubernetes'),
    caveats: [
      ...caveats(record),
      ...new Set([
        ...warningsDuring(record),
        ...cautions(record),
        ...explainCaseMarks(record),
        ...procedureNotes(record),
      ]),
    ].map(asSentence),
    tags: ['benchmark', 'dns', ...servers],
    date,
  };
}

export function compareDocument(
  record: RunRecord,
  { delta }: { readonly delta: DeltaDefinition },
): ReportDocument {
  const { environment: host, loader, target } = record;
  const { state, headline, ok } = runStatus(record);
  const titles = [...new Set(record.cases.map(({ server }) => serverTitle(record, server)))];
  const lead = leadOf(record);
  return {
    kind: isAtFixedRate(record) ? 'Cost at a fixed rate' : 'Throughput',
    title: titles.length === 0 ? `Run ${record.id}` : listed(titles),
    state,
    headline,
    facts: [
      record.startedAt.slice(0, 10),
      target === 'kubernetes' ? 'Kubernetes' : `${host.cpuModel}, ${host.cpuCores} cores`,
      `${ok} trials`,
      `load from ${loader.kind} ${loader.version}`,
      `run ${record.id}`,
    ],
    ...(lead === null ? {} : { lead }),
    findings: [...stepFindings(record), ...findingsOf(record, delta)],
    warnings: [...warningsDuring(record), ...cautions(record)],
    series: seriesOf(record),
    sections: sectionsOf(record, delta),
    data: trialData(record),
    post: postOf(record),
    version: record.generator.version,
  };
}
