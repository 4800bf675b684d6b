/** What only a disrupt run can say. Pure. */
import type { DocumentParts } from '../../engine/document.ts';
import { type EngineCase, evidencesOf, okTrials } from '../../engine/record.ts';
import { caseTitle, figureText, valueText } from '../../engine/words.ts';
import { type Block, chart, type Finding, numbers, table } from '../../report/document/document.ts';
import { formatCount, formatPercent } from '../../report/numbers.ts';
import { RESOLVER_NAMES } from '../../stats/resolver-retries.ts';
import { capitalized, counted, listed, unbroken } from '../../text.ts';
import type { DisruptEvidence, DisruptRecord } from './evidence.ts';
import { repeatsNames } from './factors.ts';
import { FAULT_SECONDS, FAULTS, faultsOf, isOfUpstream } from './faults.ts';
import { lookupsName } from './figures.ts';
import { isFault, overTime, socketPicture } from './pictures.ts';

/** Figures that a finding tells. */
const TOLD = ['lost', 'errors', 'over1s', 'gap', 'recovered'];

/** What clients saw; how that differs from the control, the engine says of all figures. */
function findingOf(record: DisruptRecord, item: EngineCase): Finding {
  const [subject, { answered }] = [caseTitle(record, item), item.summary];
  if (answered == null)
    return { subject, badge: { text: 'failed', tone: 'bad' }, sentence: 'No trial succeeded.' };
  const trials = okTrials(record, item.key);
  const told = record.estimands
    .filter(({ name }) => TOLD.includes(name) && item.summary[name] != null)
    .map((estimand) => `${estimand.title} ${figureText(estimand, item, trials)}`);
  return {
    subject,
    badge: {
      text: unbroken(`${formatPercent(answered.median)} answered`),
      tone: answered.median < 1 ? 'bad' : 'good',
    },
    sentence: `${capitalized(told.join(', '))} (${counted(trials.length, 'trial')}).`,
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
  'Entries of the connection tracking are read each second on the nodes that may send: those by which the Service led a client to a pod that was no ready endpoint all that second, be it gone or still answering in its lameduck, and that a packet used in it; the most of one node, and when the last was seen, after the fault began. There is no figure where the network plugin keeps no entries of the Service.';

function warningsOf(record: DisruptRecord): string[] {
  const { duration } = record.settings;
  const warning = (
    isAsked: boolean,
    is: (evidence: DisruptEvidence) => boolean,
    which: string,
    what: string,
  ) => {
    const cases = record.cases.filter((item) => !item.aa && isFault(item) === isAsked);
    const all = cases.flatMap(({ key }) => evidencesOf(record, key));
    const found = all.filter(is).length;
    return found === 0 ? [] : [`In ${found} of ${all.length} trials ${which}, ${what}`];
  };
  return [
    ...warning(
      true,
      ({ fault }) => fault.end >= duration,
      'with a fault',
      'it lasted longer than the load: what more it costs, and when clients recover, is not known. Use a longer --duration.',
    ),
    ...warning(
      false,
      ({ queriesLost, errors }) => queriesLost + errors > 0,
      'without a fault',
      'queries were lost or answered with an error as well: the fault is not the only cause.',
    ),
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
    `A query without an answer after ${timeout} s is lost. Latency is that of answers with any code, and counts from when a query was due; p50 and p99 are told only of trials without errors. An error is an answer with a response code that its name does not predict, such as SERVFAIL. All shares and percentiles are of the whole load, not of the fault alone.`,
    'The longest gap is the longest time without a good answer (NOERROR or NXDOMAIN), by the arrival times at the load generator. Clients have recovered when from then on nothing is lost or wrong and no query waits longer than 0.25 s; that is not told where the fault lasted longer than the load.',
    target === 'local'
      ? `${faults.join('; ')}. --outage is ${outage} s, --delay ${delay} s. Servers with an upstream forward everything to it and cache; ${names}.`
      : `${faults.join('; ')}. It ends when all pods run as their Deployment says and none is ending, or with the load. Endpoints are those of EndpointSlices, as reported by the API server; kube-proxy learns of them no earlier.`,
    'Failed lookups are computed from the lost queries and the errors: as if each query began a lookup of a resolver with this one name server, which asks again after its time-out (glibc and Go after 5 s, musl after 2.5 s) or, glibc and Go, at once after an error or where an ICMP error says that nothing listens, and each failed with the share of those of the same tenth of a second, independently of the first one if it has a socket of its own. After a time-out, glibc and musl ask again from the same socket, which a Service leads to the same pod: there is no figure where a part of the queries, not all, failed at both times. Nor is there one where answers took so long that they may have come too late for the resolver, where queries were lost after a --timeout below 5 s, or where clients had not recovered when the load ended.',
    'Memory is resident memory of all processes of the servers together, before and after the load; the peak is the sum of their peaks since each started, before or after the load, whichever is more.',
    cases.some(({ summary }) => summary.losing != null) ? `${SOCKETS} ${BY_SOCKET}` : SOCKETS,
    ...(settings.conntrack ? [CONNTRACK] : []),
    ...(repeatsNames(settings.factors) ? [STALE] : []),
  ];
}

/** `0 to 233`, or `none`. */
function rangeText(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (most === 0) return 'none';
  return least === most ? formatCount(most) : `${formatCount(least)} to ${formatCount(most)}`;
}

/** `in 8 trials with a fault, 0 to 114 of 2,000 queries lost, none answered with an error`; undefined without any. */
function resultOf(record: DisruptRecord): string | undefined {
  const found = record.cases.filter(isFault).flatMap(({ key }) => evidencesOf(record, key));
  if (found.length === 0) return undefined;
  const sent = rangeText(found.map(({ queriesSent }) => queriesSent));
  const lost = rangeText(found.map(({ queriesLost }) => queriesLost));
  const errors = rangeText(found.map((each) => each.errors));
  return `in ${counted(found.length, 'trial')} with a fault, ${lost} of ${sent} queries lost, ${errors} answered with an error`;
}

/** What matters most to readers of a post. */
const CAVEATS = {
  local: 'Servers and load generator shared one machine: no network lay between them.',
  kubernetes:
    'The figures are of this cluster: nodes, network plugin and kube-proxy of another one may take longer to learn that a pod is gone.',
} as const;

export function disruptDocument(record: DisruptRecord): DocumentParts {
  const result = resultOf(record);
  const { target, factors } = record.settings;
  const servers = [...new Set(record.cases.map(({ point }) => valueText('server', point.server ?? '')))];
  const cause = faultsOf(record.settings).every(isOfUpstream) ? 'upstream' : 'server';
  return {
    kind: 'Disruption',
    title: `What clients lose: ${servers.join(', ')}`,
    subject: 'Fault',
    result,
    findings: record.cases.filter(isFault).map((item) => findingOf(record, item)),
    tables: [
      {
        title: 'Queries',
        estimands: [
          'answered',
          'lost',
          'errors',
          ...(repeatsNames(factors) ? ['stale'] : []),
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
    warnings: warningsOf(record),
    series: record.subjects,
    post: {
      ...(result !== undefined && { excerpt: `${capitalized(result)}.` }),
      title: `What does a failing ${cause} cost clients of ${listed(servers)}?`,
      caveats: [
        'How many queries are lost depends on the rate, and the share also on how long the load lasts.',
        CAVEATS[target],
      ],
    },
    method: methodOf(record),
    tags: ['availability'],
  };
}
