/** What only a disrupt run can say. Pure. */
import type { DocumentParts } from '../../engine/document.ts';
import { type EngineCase, evidencesOf } from '../../engine/record.ts';
import { caseTitle } from '../../engine/words.ts';
import { type Block, chart, type Finding, numbers, table } from '../../report/document/document.ts';
import { formatCount, formatPercent, formatTime } from '../../report/numbers.ts';
import { RESOLVER_NAMES } from '../../stats/resolver-retries.ts';
import { counted, listed, unbroken } from '../../text.ts';
import type { DisruptRecord } from './evidence.ts';
import { repeatsNames } from './factors.ts';
import { FAULT_SECONDS, FAULTS, faultsOf, isOfUpstream } from './faults.ts';
import { lookupsName } from './figures.ts';
import { isFault, overTime, socketPicture } from './pictures.ts';
import { causeOf, medianOf, serversOf, verdictsOf } from './verdicts.ts';

function endText(record: DisruptRecord, item: EngineCase): string {
  const all = evidencesOf(record, item.key);
  const open = all.filter(({ recoveredSeconds }) => recoveredSeconds === null).length;
  const { recovered } = item.summary;
  if (all.every(({ recoveredSeconds }) => recoveredSeconds === 0)) return 'No interruption.';
  const when =
    recovered == null ? '' : `Clients recovered ${formatTime(recovered.median)} after the fault began.`;
  const never =
    open === 0 ? '' : `In ${open} of ${counted(all.length, 'trial')} they had not when the load ended.`;
  return [when, never].filter((text) => text !== '').join(' ');
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
    "Each trial starts a copy of the cluster's DNS behind a Service of its own, and checks its answers; the load comes from a pod, through the Service.",
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
  const names = repeatsNames(settings.factors)
    ? 'the same names are asked again and again, all of them before the fault'
    : 'each name is asked once, so that no cache has it';
  return [
    `${PLACES[target]} It is sent ${formatCount(rate)} queries per second for ${duration} s in an open loop: on schedule, whether or not answers come. The fault begins ${FAULT_SECONDS} s after the first query. Its control is the same load of the same round without it.`,
    `A query without an answer after ${timeout} s is lost. Latency counts from when a query was due. An error is an answer with a response code that its name does not predict, such as SERVFAIL. All shares and percentiles are of the whole load, not of the fault alone.`,
    'The longest gap is the longest time without a good answer (NOERROR or NXDOMAIN), by the arrival times at the load generator. Clients have recovered when from then on nothing is lost or wrong and no query waits longer than 0.25 s.',
    target === 'local'
      ? `${faults.join('; ')}. --outage is ${outage} s, --delay ${delay} s. Servers with an upstream forward everything to it and cache; ${names}.`
      : `${faults.join('; ')}. It ends when all pods run as their Deployment says and none is ending, or with the load. Endpoints are those of EndpointSlices, as reported by the API server; kube-proxy learns of them no earlier.`,
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

/** The question of a post. */
function questionOf({ settings, cases }: DisruptRecord): string {
  const names = faultsOf(settings);
  const cause = names.every(isOfUpstream) ? 'a failing upstream' : 'a failing server';
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
      { title: 'Endpoints', estimands: ['gone', 'back'] },
      { title: 'Connection tracking', estimands: ['stale-entries', 'stale-until'] },
    ],
    opening: {
      title: 'Over time',
      blocks: [...overTime(record), socketPicture(record) ?? []].flat().map(chart),
    },
    sections: [{ title: 'Response codes', blocks: [codesTable(record)] }],
    warnings,
    series: record.subjects,
    post: { title: questionOf(record), excerpt: verdicts.join(' '), caveats: caveatsOf(record) },
    method: methodOf(record),
    tags: ['availability'],
  };
}
