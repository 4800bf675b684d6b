/** The report of a lookup record, without its form. Pure. */
import {
  chart,
  code,
  facts,
  list,
  type ReportDocument,
  table,
  text,
} from '../../../report/document/document.ts';
import { formatCount, formatTime } from '../../../report/numbers.ts';
import { counted, formatDuration } from '../../../text.ts';
import { percentileOf } from '../distribution.ts';
import type { LookupRecord } from '../record.ts';
import { hasNewNames } from '../sampling/sampler.ts';
import { distributionChart } from './chart.ts';
import { lookupFindings } from './findings.ts';
import { readable, subjectTitle } from './readable.ts';
import {
  agreementTable,
  comparisonsTable,
  duplicatesTable,
  firstTable,
  phasesTable,
  samplesTable,
  timesTable,
} from './tables.ts';
import { titleOf } from './words.ts';

const SIMULATED =
  'A program of bench played the policy agent with a programmed delay. The figures test the measurement; they say nothing about any product.';

/** How the run ended, in one sentence. */
export function headlineOf({ results, trials, status, simulation }: LookupRecord): string {
  const samples = results.reduce((sum, { samples: own }) => sum + own.taken, 0);
  const failed = trials.filter(({ failure }) => failure !== null).length;
  const ended =
    failed > 0 ? `${failed} of ${trials.length} trials failed` : `${counted(trials.length, 'trial')}`;
  const first = results.find(({ phases }) => phases !== null);
  const median =
    first?.phases == null
      ? ''
      : `; ${subjectTitle(first.subject)}: median lookup ${formatTime(percentileOf(first.phases.lookup, 50))}`;
  const simulated = simulation === null ? '' : 'SIMULATION: ';
  return `${simulated}${status === 'interrupted' ? 'interrupted; ' : ''}${ended}, ${samples} samples${median}.`;
}

function stateOf({ status, trials }: LookupRecord): ReportDocument['state'] {
  if (trials.some(({ failure }) => failure !== null)) return 'failed-trials';
  return status === 'complete' ? 'complete' : 'interrupted';
}

/** Percentiles of thousands of samples do not show the delay that only the first of them met. */
function dilutionOf({ url, results }: LookupRecord): string[] {
  if (hasNewNames(new URL(url))) return [];
  const diluted = results.filter(({ first, samples }) => first !== null && samples.taken > first.lookup.n);
  const [most] = diluted.toSorted((a, b) => b.samples.taken - a.samples.taken);
  if (most?.first == null) return [];
  const { first, samples } = most;
  return [
    `Only ${formatCount(first.lookup.n)} of ${formatCount(samples.taken)} samples of ${most.subject} are the first of their pod: the percentiles of all do not show what a policy delays. Read the table of first samples, or give the URL of a wildcard record whose addresses change, such as http://*.example.com, which is a new name in each sample. An agent remembers a name that it has seen, so even the first samples of later trials may not show it.`,
  ];
}

function warningsOf(record: LookupRecord): string[] {
  const { warnings, simulation, trials, results } = record;
  const lost = trials.filter(({ packets }) => packets !== null && !packets.isWhole).length;
  const differing = results.filter(({ duplicates }) => duplicates?.kernelAgrees === false);
  return [
    ...(simulation === null ? [] : [SIMULATED]),
    ...warnings,
    ...dilutionOf(record),
    ...trials.flatMap(({ key, failure }) => (failure === null ? [] : [`${key} failed: ${failure}.`])),
    ...(lost === 0
      ? []
      : [`The capture lost packets in ${counted(lost, 'trial')}: duplicates and queries are lower bounds.`]),
    ...differing.map(
      ({ subject }) => `${subject}: the kernel counted other numbers of repeated packets than the capture.`,
    ),
  ];
}

/** Queries for each name, of the first trial of each subject that has them. */
function searches({ subjects, trials }: LookupRecord) {
  const rows = subjects.flatMap(({ key }) => {
    const seen = trials.find(({ subject, packets }) => subject === key && packets?.searches != null);
    return (seen?.packets?.searches?.questions ?? []).map(({ name, type, queries }) => [
      key,
      name,
      type,
      String(queries),
      String(seen?.samples.taken ?? 0),
    ]);
  });
  return table(
    'What was asked',
    [
      { title: 'measured' },
      { title: 'name' },
      { title: 'type' },
      { title: 'queries', isNumber: true },
      { title: 'samples', isNumber: true },
    ],
    rows,
  );
}

function methodOf({ rounds, durationSeconds, subjects, results }: LookupRecord): string[] {
  return [
    `Each sample is a new process that looks the name up and connects: curl -m 8, or a copy of the built-in client, which calls getaddrinfo and connect itself. They follow one another, ${formatDuration(durationSeconds)} for each of the ${subjects.length} compared, in ${rounds} rounds; every second round runs backwards.`,
    ...(results.some(({ first }) => first !== null)
      ? [
          'Before its first sample, a pod asks nothing: the first sample is the first that a policy sees of it. Its times are compared as figures of their own, the median over the pods of a trial.',
        ]
      : []),
    'Lookup: from the start to the address. Connect: from the address to the connection. First byte: from the connection to the first byte of the answer. Total: from the start to the end. Only samples that succeeded count.',
    'Differences are those of trials of the same round: Hodges and Lehmann with the signed-rank test where there are enough rounds for it, else Student’s t. Shares of connections with a repeated SYN: the interval of Clopper and Pearson, compared by Fisher’s exact test. All p values of the run are corrected together (Holm).',
    'A repeated SYN has the addresses, the ports and the sequence number of one before it. tiger-bench’s rule, beside it, leaves out IPv6 and SYNs that ask for ECN.',
  ];
}

function csvRows({ trials, simulation }: LookupRecord) {
  return trials.map((trial) => {
    const { phases, packets, kernel, samples } = trial;
    const at = (phase: 'lookup' | 'connect', percentile: number) =>
      phases === null ? null : percentileOf(phases[phase], percentile);
    return [
      trial.subject,
      trial.round,
      trial.startedAt,
      trial.seconds,
      trial.failure,
      samples.taken,
      samples.succeeded,
      ...(['lookup', 'connect'] as const).flatMap((phase) => [50, 90, 99].map((p) => at(phase, p))),
      packets?.handshakes.connections ?? null,
      packets?.handshakes.duplicateSyn ?? null,
      packets?.handshakes.duplicateSynAck ?? null,
      kernel?.syn ?? null,
      packets?.searches?.queries ?? null,
      simulation?.programDelaySeconds ?? null,
    ];
  });
}

const CSV_COLUMNS = [
  ...['subject', 'round', 'started_at', 'seconds', 'failure', 'samples', 'succeeded'],
  ...['lookup_p50_seconds', 'lookup_p90_seconds', 'lookup_p99_seconds'],
  ...['connect_p50_seconds', 'connect_p90_seconds', 'connect_p99_seconds'],
  ...['connections', 'duplicate_syn', 'duplicate_syn_ack', 'kernel_syn_repeats', 'dns_queries'],
  'simulated_delay_seconds',
];

function environmentFacts({ environment: host, tools, resolvConf, target, serverRecords }: LookupRecord) {
  const optional = (name: string, value: string | null): (readonly [string, string])[] =>
    value === null ? [] : [[name, value]];
  return facts([
    ['target', target],
    ['host', `${host.os}, ${host.kernel}, ${host.architecture}`],
    ['CPU', `${host.cpuModel}, ${counted(host.availableCpus, 'core')} of ${host.cpuCores}`],
    ...optional('curl', tools.curl),
    ...optional('tcpdump', tools.tcpdump),
    ...optional(
      'resolv.conf',
      resolvConf === null
        ? null
        : `search ${resolvConf.search.join(' ') || '(none)'}, ndots:${resolvConf.ndots}`,
    ),
    ...serverRecords.map(({ title, version }) => [title, version] as const),
  ]);
}

export function lookupDocument(kept: LookupRecord): ReportDocument {
  const record = readable(kept);
  const { startedAt, target, environment, id, generator, command } = record;
  const date = startedAt.slice(0, 10);
  return {
    kind: 'Lookup and connect times',
    title: titleOf(record),
    state: stateOf(record),
    headline: headlineOf(record),
    facts: [date, `${target} on ${environment.hostname}`, id],
    findings: lookupFindings(record),
    warnings: warningsOf(record),
    series: record.subjects.map(({ key }) => ({ name: key, title: key })),
    sections: [
      { title: 'Times', blocks: [timesTable(record), chart(distributionChart(record))] },
      { title: 'First sample of each pod', blocks: [firstTable(record)] },
      { title: 'Programmed and measured', blocks: [agreementTable(record)] },
      { title: 'Differences', blocks: [comparisonsTable(record)] },
      { title: 'Repeated packets', blocks: [duplicatesTable(record)] },
      { title: 'Samples', blocks: [samplesTable(record)] },
      { title: 'Every phase', isBrief: false, blocks: [phasesTable(record)] },
      { title: 'What was asked', isBrief: false, blocks: [searches(record)] },
      { title: 'Method', isBrief: false, blocks: [list(methodOf(record))] },
      { title: 'Environment', isBrief: false, blocks: [environmentFacts(record)] },
      { title: 'Again', isBrief: false, blocks: [text('The same run again:'), code(command)] },
    ],
    data: { columns: CSV_COLUMNS, rows: csvRows(kept) },
    post: {
      slug: `lookup-${id}`,
      description: headlineOf(record),
      tags: ['dns', 'lookup'],
      date,
    },
    version: generator.version,
  };
}
