/** What only a disrupt run can say. Pure. */
import type { DocumentParts } from '../../engine/document.ts';
import { type EngineCase, evidencesOf } from '../../engine/record.ts';
import { caseTitle, pointText, sharedText, valueText } from '../../engine/words.ts';
import { alignedMedians, BUCKET_SECONDS } from '../../measure/client-losses.ts';
import {
  type Block,
  chart,
  type Finding,
  type LineChart,
  numbers,
  table,
} from '../../report/document/document.ts';
import { formatCount, formatPercent, formatTime } from '../../report/numbers.ts';
import { RESOLVER_NAMES } from '../../stats/resolver-retries.ts';
import { counted, listed, unbroken } from '../../text.ts';
import type { DisruptEvidence, DisruptRecord } from './evidence.ts';
import { repeatsNames } from './factors.ts';
import { CONTROL, FAULT_SECONDS, FAULTS, type FaultName, faultsOf } from './faults.ts';
import { lookupsName } from './figures.ts';

const isFault = ({ subject, aa }: EngineCase) => subject !== CONTROL && !aa;

const medianOf = ({ summary }: EngineCase, name: string) => summary[name]?.median ?? 0;

function endText(record: DisruptRecord, item: EngineCase): string {
  const all = evidencesOf(record, item.key);
  const open = all.filter(({ recoveredSeconds }) => recoveredSeconds === null).length;
  const { recovered } = item.summary;
  if (all.every(({ recoveredSeconds }) => recoveredSeconds === 0)) return 'No interruption.';
  const parts = [
    ...(recovered == null
      ? []
      : [`Clients recovered ${formatTime(recovered.median)} after the fault began.`]),
    ...(open === 0
      ? []
      : [`In ${open} of ${counted(all.length, 'trial')} they had not when the load ended.`]),
  ];
  return parts.join(' ');
}

function findingOf(record: DisruptRecord, item: EngineCase): Finding {
  const subject = caseTitle(record, item);
  const answered = item.summary.answered;
  if (answered == null)
    return { subject, badge: { text: 'failed', tone: 'bad' }, sentence: 'No trial succeeded.' };
  const [lost, errors, late] = ['lost', 'errors', 'over1s'].map((name) => formatCount(medianOf(item, name)));
  const control = record.cases.find(({ key }) => key === item.comparison?.baseline);
  const before = control === undefined ? '' : `; without the fault ${formatTime(medianOf(control, 'gap'))}`;
  return {
    subject,
    badge: {
      text: unbroken(`${formatPercent(answered.median)} answered`),
      tone: answered.median < 1 ? 'bad' : 'good',
    },
    sentence: `${lost} queries lost, ${errors} answered with an error, ${late} answered later than 1 s. The longest gap without a good answer was ${formatTime(medianOf(item, 'gap'))}${before}. ${endText(record, item)}`,
  };
}

/** Medians over the trials, without those on a level stretch of the line: it is the same without them. */
export const pointsOf = (evidences: readonly DisruptEvidence[], key: 'answered' | 'lost', title: string) => {
  const medians = alignedMedians(evidences, key);
  const isLevel = (y: number, index: number) =>
    [index - 1, index + 1].every((beside) => medians[beside]?.y === y);
  return medians
    .filter(({ y }, index) => !isLevel(y, index))
    .map(({ x, y }) => ({ ...{ x, y }, tip: `${title}, ${x} s: ${formatCount(y)} per second` }));
};

const PICTURES = [
  {
    name: 'answers',
    title: 'Answers over time',
    key: 'answered',
    yAxis: 'answers without an error per second',
  },
  {
    name: 'losses',
    title: 'Lost queries over time',
    key: 'lost',
    yAxis: 'lost queries per second, when sent',
  },
] as const;

/** A panel for each server; the fault is shaded. */
function pictures(record: DisruptRecord): LineChart[] {
  const panels = [...Map.groupBy(record.cases, (item) => pointText(record, item))];
  return PICTURES.map(({ name, title, key, yAxis }) => ({
    type: 'lines',
    name,
    title,
    caption:
      'One point for each tenth of a second: the median of the trials. The shaded stretch is the fault, or the longest of several.',
    xAxis: 'seconds since the fault began',
    yAxis,
    panels: panels.map(([point, cases]) => {
      const faults = cases.filter(isFault).flatMap((item) => evidencesOf(record, item.key));
      const lengths = faults.map(({ fault }) => fault.end - fault.begin);
      return {
        title: point,
        lines: cases
          .filter(({ aa }) => !aa)
          .map((item) => ({
            series: item.subject,
            isMarked: false,
            points: pointsOf(evidencesOf(record, item.key), key, caseTitle(record, item)),
          })),
        bands: [{ from: 0, to: Math.max(BUCKET_SECONDS, ...lengths), label: 'fault' }],
      };
    }),
  }));
}

/** A line for each socket, in the first trial of each fault: where it was answered, and what it lost. Null for many sockets. */
function socketPicture(record: DisruptRecord): LineChart | null {
  const panels = record.cases.filter(isFault).flatMap((item) => {
    const [first] = evidencesOf(record, item.key);
    if (first?.sockets?.each === undefined) return [];
    const { begin, end } = first.fault;
    const lines = first.sockets.each.flatMap(({ gaps, lostAtSeconds }, index) => {
      const pointAt = (seconds: number, what: string) => {
        const x = Number((seconds - begin).toFixed(3));
        return { x, y: index + 1, tip: `socket ${index + 1}, ${x} s: ${what}` };
      };
      const starts = [0, ...gaps.map(({ toSeconds }) => toSeconds)];
      const ends = [...gaps.map(({ fromSeconds }) => fromSeconds), record.settings.duration];
      const answered = starts.map((from, at) => [from, ends[at] ?? from]);
      return [
        ...answered.map((stretch) => ({
          series: item.subject,
          isMarked: false,
          points: stretch.map((seconds) => pointAt(seconds, 'answered')),
        })),
        {
          series: item.subject,
          isJoined: false,
          points: lostAtSeconds.map((seconds) => pointAt(seconds, 'lost')),
        },
      ];
    });
    const bands = [{ from: 0, to: Math.max(BUCKET_SECONDS, end - begin), label: 'fault' }];
    return [{ title: caseTitle(record, item), lines, bands }];
  });
  if (panels.length === 0) return null;
  return {
    type: 'lines',
    name: 'sockets',
    title: 'Each socket over time',
    caption:
      'One line for each client socket, in the first trial of each fault. It is broken while a query waited at least 0.25 s for the next answer that its name predicts; points are lost queries, when sent.',
    xAxis: 'seconds since the fault began',
    yAxis: 'client socket',
    panels,
  };
}

/** Every response code that came, summed over the trials. */
function codesTable(record: DisruptRecord): Block {
  return table(
    'Response codes',
    ['Fault', 'Code', ...numbers('Answers')],
    record.cases.flatMap((item) => {
      const all = evidencesOf(record, item.key).flatMap(({ responseCodes }) => Object.entries(responseCodes));
      return [...Map.groupBy(all, ([code]) => code)].map(([code, counts]) => [
        caseTitle(record, item),
        code,
        formatCount(counts.reduce((sum, [, count]) => sum + count, 0)),
      ]);
    }),
  );
}

const PLACES = {
  local: 'Each trial starts a server and checks its answers.',
  kubernetes:
    'Each trial starts a copy of the cluster’s DNS behind a Service of its own, and checks its answers; the load comes from a pod, through the Service.',
} as const;

const SOCKETS =
  'Sockets are reused, as by few resolvers that run for long; fresh means as many sockets as queries, as of programs that open one for each.';

const BY_SOCKET =
  'Only reused ones have figures by socket: how many lost a query, and the longest time that one of them waited, from its first query after an answer that its name predicts until the next such answer.';

const STALE =
  'Each address that the upstream gives tells when it was made. An answer is stale if it is older than its TTL, in which --factors cache limits 30 s, by more than a second. Stale answers count as answered.';

const CONNTRACK =
  'Entries of the connection tracking are read each second on the nodes that may send: those by which the Service led a client to a pod that was no ready endpoint all that second, and that a packet used in it; the most of one node, and when the last was seen, after the fault began. There is no figure where the network plugin keeps no entries of the Service.';

/** What the load generator has to do with the figures; nothing where it kept up. */
function limitsOf(record: DisruptRecord): string[] {
  const all = record.cases.flatMap(({ key }) => evidencesOf(record, key));
  const limited = all.filter((evidence) => evidence.limited === true).length;
  if (limited === 0) return [];
  return [
    `In ${limited} of ${counted(all.length, 'trial')} the load generator sent one query in a hundred more than a millisecond late, or was busy all the time: ` +
      'times of a few milliseconds are partly its own, and so are losses if the controls have some. Give it more CPU, or use a lower --rate.',
  ];
}

function methodOf({ settings, cases }: DisruptRecord): string[] {
  const { rate, duration, outage, delay, timeout, target } = settings;
  const faults = faultsOf(settings).map((name) => `${FAULTS[name].title}: ${FAULTS[name].what}`);
  return [
    `${PLACES[target]} It is sent ${formatCount(rate)} queries per second for ${duration} s in an open loop: on schedule, whether or not answers come. The fault begins ${FAULT_SECONDS} s after the first query. Its control is the same load of the same round without it.`,
    `A query without an answer after ${timeout} s is lost. Latency counts from when a query was due. An error is an answer with a response code that its name does not predict, such as SERVFAIL. All shares and percentiles are of the whole load, not of the fault alone.`,
    'The longest gap is the longest time without a good answer (NOERROR or NXDOMAIN), by the arrival times at the load generator. Clients have recovered when from then on nothing is lost or wrong and no query waits longer than 0.25 s.',
    ...(target === 'local'
      ? [
          `${faults.join('; ')}. --outage is ${outage} s, --delay ${delay} s. Servers with an upstream forward everything to it and cache; each name is asked once, so that no cache has it.`,
        ]
      : [
          `${faults.join('; ')}. It ends when all pods run as their Deployment says and none is ending, or with the load. Endpoints are those of EndpointSlices, as reported by the API server; kube-proxy learns of them no earlier.`,
        ]),
    'Failed lookups are computed from the lost queries and the errors: as if each query began a lookup of a resolver with this one name server, which asks again after its time-out (glibc and Go after 5 s, musl after 2.5 s) or, glibc and Go, at once after an error, and each failed with the share of those of the same tenth of a second. There is no figure where answers took so long that they may have come too late for the resolver, nor where queries were lost after a --timeout below 5 s.',
    'Memory is resident memory: of all servers together before and after the load, and the peak of one process since its start.',
    // Records of earlier versions have no figures by socket.
    cases.some(({ summary }) => summary.losing != null) ? `${SOCKETS} ${BY_SOCKET}` : SOCKETS,
    ...(settings.conntrack ? [CONNTRACK] : []),
    ...(repeatsNames(settings.factors) ? [STALE] : []),
  ];
}

/** To stand within a sentence. */
const lowered = (sentence: string) =>
  sentence.slice(0, 1).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

/** Queries without a good answer. */
const missed = (item: EngineCase) => medianOf(item, 'lost') + medianOf(item, 'errors');

/** Counts as close as this are told as one. */
const ALIKE = 0.02;

const isAlike = (a: number, b: number) => Math.abs(a - b) <= ALIKE * Math.max(a, b);

/** What a fault cost those of one server, or of one combination of factors. */
interface Cost {
  readonly cases: readonly EngineCase[];
  /** In the worst of the cases. */
  readonly missed: number;
}

const costOf = (cases: readonly EngineCase[]): Cost => ({ cases, missed: Math.max(...cases.map(missed)) });

/** The worst first; those that cost as much are one. */
function grouped(costs: readonly Cost[]): Cost[] {
  const groups: Cost[] = [];
  for (const cost of costs.toSorted((a, b) => b.missed - a.missed)) {
    const last = groups.at(-1);
    if (last === undefined || !isAlike(last.missed, cost.missed)) groups.push(cost);
    else groups.splice(-1, 1, { ...last, cases: [...last.cases, ...cost.cases] });
  }
  return groups;
}

/** In words, in the order of the run. */
const serversOf = (cases: readonly EngineCase[]) => [
  ...new Set(cases.map(({ point }) => valueText('server', point.server ?? ''))),
];

/** ` with Unbound`, or what only these cases have in common. */
function whereText(record: DisruptRecord, { cases }: Cost, all: readonly EngineCase[]): string {
  if (serversOf(all).length === 1) return sharedText(record, cases, all);
  if (cases.length === all.length) return ' with every server';
  return ` with ${listed(serversOf(all.filter((item) => cases.includes(item))))}`;
}

/** What faults cost that cost as much: those of one kind share a sentence. */
interface Outcome {
  readonly names: readonly FaultName[];
  readonly cases: readonly EngineCase[];
  readonly isOfServers: boolean;
  readonly groups: readonly Cost[];
}

function outcomeOf(names: readonly FaultName[], cases: readonly EngineCase[]): Outcome {
  const byServer = [...Map.groupBy(cases, ({ point }) => point.server).values()];
  const isOfServers = byServer.length > 1;
  const groups = grouped((isOfServers ? byServer : cases.map((item) => [item])).map(costOf));
  return { names, cases, isOfServers, groups };
}

/** `the upstream was slow or silent`; null for phrases that do not begin alike. */
function sharedBeginning(phrases: readonly string[]): string | null {
  const [first = [], ...others] = phrases.map((phrase) => phrase.split(' '));
  const differs = first.findIndex((word, at) => others.some((words) => words[at] !== word));
  if (differs < 2) return null;
  const ends = [first, ...others].map((words) => words.slice(differs).join(' '));
  return `${first.slice(0, differs).join(' ')} ${listed(ends, 'or')}`;
}

function causeOf(names: readonly FaultName[]): string | null {
  const causes = names.map((name) => FAULTS[name].cause);
  return causes.length === 1 ? causes.join() : sharedBeginning(causes);
}

function whenOf(names: readonly FaultName[]): string {
  const phrases = names.map((name) => FAULTS[name].when);
  return sharedBeginning(phrases) ?? listed(phrases, 'or');
}

/** Of each fault with a trial that succeeded. */
function outcomesOf(record: DisruptRecord, faults: readonly EngineCase[]): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const name of faultsOf(record.settings)) {
    const cases = faults.filter(({ subject, summary }) => subject === name && summary.answered != null);
    if (cases.length === 0) continue;
    const own = outcomeOf([name], cases);
    const last = outcomes.at(-1);
    const [a, b] = [last?.groups, own.groups].map((groups) => (groups?.length === 1 ? groups[0] : undefined));
    const names = [...(last?.names ?? []), name];
    const isSame = last !== undefined && a !== undefined && b !== undefined && isAlike(a.missed, b.missed);
    if (isSame && causeOf(names) !== null)
      outcomes.splice(-1, 1, outcomeOf(names, [...last.cases, ...cases]));
    else outcomes.push(own);
  }
  return outcomes;
}

/** With which servers clients lost most, and when that made no difference; only of several servers and faults. */
function leadOf(outcomes: readonly Outcome[]): string[] {
  const namesOf = (some: readonly Outcome[]) => some.flatMap(({ names }) => names);
  const worst = ({ cases, groups: [first] }: Outcome) =>
    listed(serversOf(cases.filter((item) => first?.cases.includes(item))));
  const differing = outcomes.filter(({ isOfServers, groups }) => isOfServers && groups.length > 1);
  if (differing.length === 0 || namesOf(outcomes).length === 1) return [];
  const parts = [...Map.groupBy(differing, worst)].map(
    ([servers, some]) => `with ${servers} when ${whenOf(namesOf(some))}`,
  );
  const even = namesOf(outcomes.filter((outcome) => !differing.includes(outcome)));
  const rest = even.length === 0 ? '' : `; they lost as many with every server when ${whenOf(even)}`;
  return [`Clients lost most ${listed(parts)}${rest}.`];
}

/** `none`, `at most 24`, `90 to 114` */
function rangeText(least: number, most: number): string {
  if (most === 0) return 'none';
  if (least === most) return formatCount(most);
  return least === 0 ? `at most ${formatCount(most)}` : `${formatCount(least)} to ${formatCount(most)}`;
}

/** The values of the factor that decides what a fault costs, whatever the others are, the worst first; none where none does. */
function decidingValues({ settings }: DisruptRecord, cases: readonly EngineCase[]) {
  const varied = Object.keys(settings.factors).filter(
    (name) => new Set(cases.map(({ point }) => point[name])).size > 1,
  );
  // Of a single one, the worst and the best case say as much.
  if (varied.length < 2) return [];
  const ranges = varied.map((name) =>
    [...Map.groupBy(cases, ({ point }) => point[name])]
      .map(([value = '', own]) => {
        const counts = own.map(missed);
        return { text: valueText(name, value), least: Math.min(...counts), most: Math.max(...counts) };
      })
      .toSorted((one, other) => other.most - one.most),
  );
  const isApart = (values: (typeof ranges)[number]) =>
    values.every(({ least }, at) => least > (values[at + 1]?.most ?? -1));
  return ranges.find(isApart) ?? [];
}

const gapText = ({ cases, missed: count }: Cost) =>
  count === 0 ? '' : ` (longest gap ${formatTime(Math.max(...cases.map((item) => medianOf(item, 'gap'))))})`;

/** What it cost, by the factor that decides; and a sentence about its worst and its best case. */
function byFactor(record: DisruptRecord, { cases, groups }: Outcome, of: string): readonly string[] | null {
  const values = decidingValues(record, cases);
  const [worst, best] = [groups[0], groups.at(-1)];
  if (values.length === 0 || worst === undefined || best === undefined) return null;
  const parts = values.map(
    ({ text, least, most }, at) => `${rangeText(least, most)}${at === 0 ? of : ''} with ${text}`,
  );
  const [most, fewest] = [worst, best].map((cost) => whereText(record, cost, cases));
  const ends =
    most === '' || fewest === '' ? [] : [`Most were lost${most}${gapText(worst)}, fewest${fewest}.`];
  return [listed(parts), ...ends];
}

/** What it cost each server or, of one, where that was worst and best. */
function byGroup(record: DisruptRecord, { names, cases, isOfServers, groups }: Outcome, of: string): string {
  const told = isOfServers ? groups : groups.filter((_, at) => at === 0 || at === groups.length - 1);
  const isWorst = isOfServers && cases.length > names.length * serversOf(cases).length;
  const parts = told.map((group, index) => {
    const count = group.missed === 0 ? 'none' : `${isWorst ? 'up to ' : ''}${formatCount(group.missed)}`;
    const where = whereText(record, group, cases) || (told.length > 1 && index > 0 ? ' at best' : '');
    if (index > 0) return `${count}${where}`;
    return `${count}${of}${group.missed === 0 ? '' : where}${gapText(group)}`;
  });
  const [last = '', ...before] = parts.toReversed();
  return [...before.toReversed(), before.length === 0 ? last : `and ${last}`].join(', ');
}

/** A sentence for each fault, or for those of one kind that cost as much; before several, what they come to. */
function verdictsOf(record: DisruptRecord, faults: readonly EngineCase[]): string[] {
  const { rate, duration, factors } = record.settings;
  // What is the same in all cases is part of the question.
  const fixed = Object.entries(factors).flatMap(([name, [value, ...others]]) =>
    value === undefined || others.length > 0 ? [] : [valueText(name, value)],
  );
  const outcomes = outcomesOf(record, faults);
  const sentences = outcomes.flatMap((outcome) => {
    const { names, cases } = outcome;
    const late = Math.max(...cases.map((item) => medianOf(item, 'over1s')));
    const subject = `${causeOf(names)}${fixed.length === 0 ? '' : ` with ${listed(fixed)}`}`;
    const of = ` of ${formatCount(rate * duration)} queries`;
    const [costs, ...rest] = byFactor(record, outcome, of) ?? [byGroup(record, outcome, of)];
    const lateText = late === 0 ? '' : `; up to ${formatCount(late)} answers took longer than 1\u00a0s`;
    return [`${subject} cost ${costs}${lateText}.`, ...rest];
  });
  return [...leadOf(outcomes), ...sentences];
}

/** The question of a post. */
function questionOf({ settings, cases }: DisruptRecord): string {
  const names = faultsOf(settings);
  const cause = names.every((name) => FAULTS[name].behaviour !== undefined)
    ? 'a failing upstream'
    : 'a failing server';
  return `What does ${names.length === 1 ? lowered(causeOf(names) ?? '') : cause} cost clients of ${listed(serversOf(cases))}?`;
}

/** What matters most to readers of a post. */
function caveatsOf({ settings: { target }, cases }: DisruptRecord): string[] {
  const trials = Math.max(0, ...cases.map((item) => item.trials.ok));
  return [
    trials < 5
      ? `There ${trials === 1 ? 'was one trial' : `were ${trials} trials`} of each: losses of whole seconds show, milliseconds do not.`
      : 'How many queries are lost depends on the rate, and the share also on how long the load lasts.',
    target === 'local'
      ? 'Servers and load generator shared one machine: no network lay between them.'
      : 'The figures are of this cluster: nodes, network plugin and kube-proxy of another one may take longer to learn that a pod is gone.',
  ];
}

export function disruptDocument(record: DisruptRecord): DocumentParts {
  const faults = record.cases.filter(isFault);
  const servers = serversOf(record.cases);
  const verdicts = verdictsOf(record, faults);
  const warnings = limitsOf(record);
  const isCaching = repeatsNames(record.settings.factors);
  return {
    kind: 'Disruption',
    title: `What clients lose: ${servers.join(', ')}`,
    subject: 'Fault',
    result: verdicts[0] === undefined ? undefined : lowered(verdicts[0]),
    findings: faults.map((item) => findingOf(record, item)),
    tables: [
      {
        title: 'Queries',
        estimands: [
          'answered',
          'lost',
          'errors',
          ...(isCaching ? ['stale'] : []),
          'over1s',
          'over2s',
          'over5s',
        ],
      },
      { title: 'Times', estimands: ['gap', 'recovered', 'p50', 'p99'] },
      { title: 'Sockets', estimands: ['losing', 'socket-gap'] },
      { title: 'Lookups', estimands: RESOLVER_NAMES.map(lookupsName) },
      { title: 'Memory', estimands: ['memory-before', 'memory-peak', 'memory-after'] },
      ...(record.settings.target === 'local' ? [] : [{ title: 'Endpoints', estimands: ['gone', 'back'] }]),
      ...(record.settings.conntrack
        ? [{ title: 'Connection tracking', estimands: ['stale-entries', 'stale-until'] }]
        : []),
    ],
    opening: {
      title: 'Over time',
      blocks: [...pictures(record), socketPicture(record) ?? []].flat().map(chart),
    },
    sections: [{ title: 'Response codes', blocks: [codesTable(record)] }],
    warnings,
    series: record.subjects,
    post: { title: questionOf(record), excerpt: verdicts.join(' '), caveats: caveatsOf(record) },
    method: methodOf(record),
    tags: ['availability'],
  };
}
