/** What only a lookup run can say. Pure. */
import type { DocumentParts } from '../../engine/document.ts';
import { bothText, deltaText, subjectTitle } from '../../engine/words.ts';
import { chart, type Finding } from '../../report/document/document.ts';
import { formatCount, formatTime } from '../../report/numbers.ts';
import { counted, formatDuration, listed } from '../../text.ts';
import { percentileOf } from './distribution.ts';
import type { Distribution, LookupRecord, PhaseDistributions } from './evidence.ts';
import { type Overall, overallsOf } from './overall.ts';
import { hasNewNames } from './sampling/sampler.ts';
import { policyKind, trialSeconds, urlOf } from './settings.ts';
import {
  agreementTable,
  askedTable,
  distributionChart,
  firstTable,
  phasesTable,
  repeatedTable,
  samplesTable,
} from './tables.ts';

const isSimulated = ({ settings }: LookupRecord) => settings.simulatePolicy !== undefined;

/** A simulation says so first. */
function titleOf(record: LookupRecord, overalls: readonly Overall[]): string {
  return isSimulated(record)
    ? `Simulated DNS policies (delay ${formatTime(record.settings.programDelay)}): lookup and connect times`
    : `Lookup and connect times of ${urlOf(record.settings)}: ${overalls.map((each) => each.title).join(', ')}`;
}

const mediansOf = ({ lookup, connect }: PhaseDistributions) => {
  const median = (phase: Distribution) => formatTime(percentileOf(phase, 50));
  return { lookup: median(lookup), connect: median(connect) };
};

function resultOf(record: LookupRecord, overalls: readonly Overall[]): string | undefined {
  const first = overalls.find(({ phases }) => phases !== null);
  if (first?.phases == null) return undefined;
  const samples = overalls.reduce((sum, { samples: { taken } }) => sum + taken, 0);
  const median = mediansOf(first.phases).lookup;
  return `${isSimulated(record) ? 'SIMULATION, ' : ''}${formatCount(samples)} samples; ${first.title}: median lookup ${median}`;
}

/** Verdicts that a sentence has room for; the table has all. */
const TOLD = ['lookupP50', 'connectP50', 'lookupFirst', 'connectFirst', 'repeatedSyn'];

function compared(record: LookupRecord, { subject }: Overall): string {
  const item = record.cases.find(({ key }) => key === subject.name);
  const clauses = record.estimands.flatMap((estimand) => {
    const delta = item?.comparison?.deltas[estimand.name];
    return item === undefined || delta == null || !TOLD.includes(estimand.name)
      ? []
      : [`${estimand.title} ${deltaText(record, estimand, item)}`];
  });
  return clauses.length === 0
    ? ''
    : ` Against ${subjectTitle(record, record.baseline ?? '')}: ${clauses.join('; ')}.`;
}

function findingOf(record: LookupRecord, overall: Overall): Finding {
  const { title: subject, phases, repeated } = overall;
  if (phases === null)
    return { subject, badge: { text: 'failed', tone: 'warn' }, sentence: 'No sample succeeded.' };
  const { lookup, connect } = mediansOf(phases);
  const seen =
    repeated?.share == null
      ? ''
      : `, ${formatCount(repeated.connectionsRepeated)} of ${formatCount(repeated.connections)} connections with a repeated SYN`;
  return {
    subject,
    badge: { text: `median lookup ${lookup}`, tone: 'even' },
    sentence: `Median lookup ${lookup}, median connect ${connect}${seen}.${compared(record, overall)}`,
  };
}

/** Percentiles of thousands of samples do not show the delay that only the first of them met. */
function dilutionOf({ settings }: LookupRecord, overalls: readonly Overall[]): string[] {
  // With a pod for each sample, all of them are the first: one that failed has no times.
  if (settings.podPerSample || hasNewNames(new URL(urlOf(settings)))) return [];
  const diluted = overalls.filter(({ first, samples }) => first !== null && samples.taken > first.lookup.n);
  const [most] = diluted.toSorted((a, b) => b.samples.taken - a.samples.taken);
  if (most?.first == null) return [];
  const { first, samples, title } = most;
  return [
    `Only ${formatCount(first.lookup.n)} of ${formatCount(samples.taken)} samples of ${title} are the first of their pod: the percentiles of all do not show what a policy delays. Read the table of first samples, or give the URL of a wildcard record whose addresses change, such as http://*.example.com, which is a new name in each sample. An agent remembers a name that it has seen, so even the first samples of later trials may not show it.`,
  ];
}

function warningsOf(record: LookupRecord, overalls: readonly Overall[]): string[] {
  const trials = overalls.flatMap(({ evidence }) => evidence);
  const lost = trials.filter(({ packets }) => packets !== null && !packets.isWhole).length;
  const differing = overalls.filter(({ repeated }) => repeated?.kernelAgrees === false);
  return [
    ...dilutionOf(record, overalls),
    ...(lost === 0
      ? []
      : [`The capture lost packets in ${counted(lost, 'trial')}: duplicates and queries are lower bounds.`]),
    ...differing.map(
      ({ title }) => `${title}: the kernel counted other numbers of repeated packets than the capture.`,
    ),
  ];
}

function methodOf({ settings, subjects }: LookupRecord, overalls: readonly Overall[]): string[] {
  // `--until` adds rounds to those of the settings.
  const rounds = Math.max(...overalls.map(({ trials }) => trials.ok + trials.failed));
  return [
    `Each sample is a new process that looks the name up and connects: curl -m 8, or a copy of the built-in client, which calls getaddrinfo and connect itself. They follow one another, ${formatDuration(trialSeconds(settings) * rounds)} for each of the ${subjects.length} compared, in ${counted(rounds, 'round')}; every second round runs backwards.`,
    ...(overalls.some(({ first }) => first !== null)
      ? [
          `Before its first sample, a pod asks nothing${policyKind(settings) === null ? '' : ': the first sample is the first that a policy sees of it'}. Its times are compared as figures of their own, the median over the pods of a trial.`,
        ]
      : []),
    'Lookup: from the start to the address. Connect: from the address to the connection. First byte: from the connection to the first byte of the answer. Total: from the start to the end. Only samples that succeeded count.',
    'A percentile is the median of those of the trials. p90 needs ten samples in a trial, and p99 a hundred: of fewer it would be the largest. Minimum, mean and maximum are those of all samples.',
    "Differences are those of trials of the same round: Hodges and Lehmann with the signed-rank test where there are enough rounds, otherwise Student's t. All times of the run are corrected together (Holm), and so are the shares of connections with a repeated SYN. The interval of such a share over all trials is that of Clopper and Pearson.",
    "A repeated SYN has the addresses, the ports and the sequence number of one before it. tiger-bench's rule, beside it, leaves out IPv6 and SYNs that ask for ECN.",
  ];
}

const PHASES = [
  { estimand: 'lookupP50', doing: 'Looking up a name', noun: 'lookup' },
  { estimand: 'connectP50', doing: 'Connecting', noun: 'connect' },
] as const;

/** `CoreDNS and Unbound`, `0 and 1,000 Services` */
function titlesText(titles: readonly string[], conjunction: 'and' | 'or' = 'and'): string {
  const isCount = (title: string) => /^[\d,]+ Services?$/.test(title);
  if (titles.length < 2 || !titles.every(isCount)) return listed(titles, conjunction);
  return `${listed(
    titles.map((title) => title.replace(/ Services?$/, '')),
    conjunction,
  )} Services`;
}

/** `Unbound or DinoDNS and CoreDNS` */
function pairText(open: readonly string[], baseline: string): string {
  return open.length === 1 ? titlesText([baseline, ...open]) : `${titlesText(open, 'or')} and ${baseline}`;
}

/** What the comparison of one phase shows: `20 ms to 21 ms less with Unbound`, and the titles of those without a difference. */
function phaseOutcome(record: LookupRecord, overalls: readonly Overall[], estimand: string) {
  const facts = record.estimands.find(({ name }) => name === estimand);
  const deltas = overalls.flatMap(({ title, subject }) => {
    const item = record.cases.find(({ key }) => key === subject.name);
    const delta = item?.comparison?.deltas[estimand];
    if (item === undefined || facts === undefined || delta == null) return [];
    const { low, high, verdict } = delta;
    return low === null || high === null
      ? []
      : [{ title, verdict, low, high, both: bothText(record, facts, item) }];
  });
  const shown = deltas.flatMap(({ title, verdict, low, high, both }) => {
    if (verdict === 'no difference shown') return [];
    const [least = 0, most = 0] = [Math.abs(low), Math.abs(high)].toSorted((a, b) => a - b);
    const isLess = verdict === 'faster';
    return both === null
      ? [`${formatTime(least)} to ${formatTime(most)} ${isLess ? 'less' : 'longer'} with ${title}`]
      : [`${isLess ? 'less time' : 'longer'} with ${title} (the two pairs: ${both})`];
  });
  const isEven = deltas.every(({ both }) => both === null);
  const open = deltas.flatMap(({ title, verdict }) => (verdict === 'no difference shown' ? [title] : []));
  return { shown, note: isEven ? ' (95 % intervals)' : '', open };
}

/** `Looking up a name took 20 ms to 21 ms less with Unbound than with CoreDNS`; phases without any difference share a sentence. */
function comparisonSentences(record: LookupRecord, overalls: readonly Overall[]): string[] {
  const baseline = subjectTitle(record, record.baseline ?? '');
  const outcomes = PHASES.map((phase) => ({ ...phase, ...phaseOutcome(record, overalls, phase.estimand) }));
  const told = outcomes.flatMap(({ doing, shown, note, open }) => {
    if (shown.length === 0) return [];
    const rest = open.length === 0 ? '' : `; no difference was shown with ${titlesText(open, 'or')}`;
    return [`${doing} took ${listed(shown)} than with ${baseline}${note}${rest}.`];
  });
  const even = outcomes.filter(({ shown, open }) => shown.length === 0 && open.length > 0);
  const pairs = [...Map.groupBy(even, ({ open }) => pairText(open, baseline))].map(([pair, alike]) => {
    const nouns = alike.map(({ noun }) => noun).join(' or ');
    return `No difference in ${nouns} times was shown between ${pair}.`;
  });
  return [...told, ...pairs];
}

/** The beginning of a post: what the comparison says, and both medians of each. */
function verdictOf(record: LookupRecord, overalls: readonly Overall[]): string {
  const parts = overalls.flatMap(({ title, phases }) => {
    if (phases === null) return [];
    const { lookup, connect } = mediansOf(phases);
    return [`${lookup} and ${connect} with ${title}`];
  });
  if (parts.length === 0) return '';
  const medians = `Median lookup and connect times: ${parts.join('; ')}.`;
  const sentences = [...comparisonSentences(record, overalls), medians];
  return `${isSimulated(record) ? 'SIMULATION. ' : ''}${sentences.join(' ')}`;
}

/** The question of a post. */
function questionOf(record: LookupRecord, overalls: readonly Overall[]): string {
  if (overalls.length === 1)
    return `How long does it take to look up and to reach ${new URL(urlOf(record.settings)).hostname}?`;
  const question = `ow long do lookups and connections take with ${titlesText(overalls.map(({ title }) => title))}?`;
  return isSimulated(record) ? `SIMULATION: h${question}` : `H${question}`;
}

export function lookupDocument(record: LookupRecord): DocumentParts {
  const overalls = overallsOf(record);
  const times = record.estimands.flatMap(({ name, unit }) => (unit === 'seconds' ? [name] : []));
  return {
    kind: 'Lookup and connect times',
    title: titleOf(record, overalls),
    subject: 'Measured',
    result: resultOf(record, overalls),
    findings: overalls.map((overall) => findingOf(record, overall)),
    tables: [{ title: 'Times', estimands: times }],
    warnings: warningsOf(record, overalls),
    sections: [
      { title: 'Distributions', blocks: [chart(distributionChart(overalls, isSimulated(record)))] },
      { title: 'First sample of each pod', blocks: [firstTable(overalls)] },
      { title: 'Programmed and measured', blocks: [agreementTable(overalls)] },
      { title: 'Repeated packets', blocks: [repeatedTable(overalls)] },
      { title: 'Samples', blocks: [samplesTable(overalls)] },
      { title: 'Every phase', isBrief: false, blocks: [phasesTable(overalls)] },
      { title: 'What was asked', isBrief: false, blocks: [askedTable(overalls)] },
    ],
    post: {
      title: questionOf(record, overalls),
      excerpt: verdictOf(record, overalls),
      caveats: [
        record.settings.local
          ? 'Client, DNS and web server shared one machine: no network lay between them.'
          : 'These are the times of one network on one day.',
      ],
    },
    method: methodOf(record, overalls),
    tags: ['lookup'],
  };
}
