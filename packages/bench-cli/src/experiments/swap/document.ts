/** What only a swap can say of its record. Pure. */
import type { DocumentParts } from '../../engine/document.ts';
import type { EngineCase } from '../../engine/record.ts';
import { bothText, verdictText, versionOf } from '../../engine/words.ts';
import { NOTHING } from '../../report/compare/cells.ts';
import type { Finding } from '../../report/document/document.ts';
import { cellOf } from '../../report/document/document.ts';
import { chart, numbers, table } from '../../report/document/index.ts';
import { sizeText } from '../../report/estimand.ts';
import { formatFixed, formatMillicores, formatTime, signed } from '../../report/numbers.ts';
import { capitalized, counted, listed } from '../../text.ts';
import { costCharts, timeChart } from './charts.ts';
import { type CanaryFigures, NAME_SETS, type NameSet, type SwapRecord } from './evidence.ts';
import { estimandName, type FigureName, figuresOf, isLoaderLimited } from './figures.ts';
import { CANARY_RATE, CANARY_TIMEOUT_SECONDS, countsOf } from './in-place/canary-count.ts';
import { PROBE_SECONDS, rateAdvice } from './rate-held.ts';
import { podTable, readingsTable, senderBlocks } from './readings.ts';
import { namesWords, netDelta, placementsOf } from './words.ts';

/** `+4.6 %`, with a no-break space. */
const percent = (ratio: number) => `${signed(formatFixed(ratio * 100, 1))}\u00a0%`;
const signedMillicores = (cores: number) => signed(formatMillicores(cores));

const medianOf = ({ summary }: EngineCase, figure: FigureName, names: NameSet) =>
  summary[estimandName(figure, names)]?.median ?? null;

interface Sides {
  readonly a: EngineCase;
  readonly b: EngineCase;
}

function sidesOf({ cases, baseline }: SwapRecord): Sides | null {
  const a = cases.find(({ subject, aa }) => subject === baseline && !aa);
  const b = cases.find(({ subject }) => subject !== baseline);
  return a === undefined || b === undefined ? null : { a, b };
}

/** Why figures of a name set are missing; a load that does not show is said once for each version. */
function reasonsOf(record: SwapRecord, names: NameSet): string[] {
  const excluded = placementsOf(record).flatMap(({ number, version, evidence }) => {
    const reason = figuresOf(evidence, names, record.settings).excluded;
    return reason === null ? [] : [{ number, version, reason, isLoad: reason.includes('load') }];
  });
  const unseen = [
    ...Map.groupBy(
      excluded.filter(({ isLoad }) => isLoad),
      ({ version }) => version,
    ),
  ].map(([version, all]) => `${version}, ${counted(all.length, 'placement')}: ${all[0]?.reason}`);
  const others = excluded.filter(({ isLoad }) => !isLoad);
  return [...unseen, ...others.map(({ number, reason }) => `placement ${number}: ${reason}`)];
}

/** How certain a difference is: of two pairs both, whose interval would say nothing. */
function rangeText(
  record: SwapRecord,
  item: EngineCase,
  names: NameSet,
  { low, high }: { readonly low: number; readonly high: number },
): string {
  const estimand = record.estimands.find(({ name }) => name === estimandName('net', names));
  const both = estimand === undefined ? null : bothText(record, estimand, item);
  return both === null
    ? `95 % interval ${signedMillicores(low)} to ${signedMillicores(high)}`
    : `the two pairs: ${both}`;
}

/** What was shown of one name set. */
function findingOf(record: SwapRecord, { a, b }: Sides, names: NameSet): Finding {
  const [versionA, versionB] = [a, b].map(({ subject }) => versionOf(record, subject));
  const subject = `${versionB}, ${names}`;
  const delta = netDelta(b, names);
  if (delta === null) {
    const reasons = reasonsOf(record, names);
    const why = reasons.length === 0 ? 'no pair of placements has net CPU' : reasons.join('; ');
    const isUnseen = reasons.some((reason) => reason.includes('the load is not visible'));
    return {
      subject,
      badge: { text: isUnseen ? 'load not visible' : 'not comparable', tone: 'warn' },
      sentence: `Nothing can be said about ${namesWords(names)}. ${why}.`,
    };
  }
  const { verdict, difference, low, high, detectable, n } = delta;
  const interval = low === null || high === null ? '' : `, ${rangeText(record, b, names, { low, high })}`;
  const pairs = `${counted(n, 'pair')} of placements`;
  const where = `At ${formatFixed(record.settings.rate, 0)} queries a second for ${namesWords(names)}, `;
  if (verdict === 'no difference shown') {
    const smallest =
      detectable === null
        ? 'One pair cannot show a difference.'
        : `With ${counted(n, 'pair')}, a difference of ${formatMillicores(detectable)} or more would be found four times in five.`;
    return {
      subject,
      badge: { text: verdict, tone: 'even' },
      sentence: `${where}no difference in CPU is shown between ${versionB} and ${versionA} (${signedMillicores(difference)}${interval}); ${pairs}. ${smallest}`,
    };
  }
  const base = medianOf(a, 'net', names);
  const share =
    base === null || base <= 0 ? '' : ` (${percent(difference / base)} of what ${versionA} uses for it)`;
  return {
    subject,
    badge: { text: `${verdict}: ${signedMillicores(difference)}`, tone: verdict === 'less' ? 'good' : 'bad' },
    sentence: `${where}${versionB} uses ${verdict} CPU than ${versionA}: ${signedMillicores(difference)}${share}${interval}; ${pairs}.`,
  };
}

/** A tail that is this many times as long is told, also where the pairs do not show it. */
const TOLD_RATIO = 2;

/** The loads with these names of all placements, and those in which a load generator was the limit. */
function loadsOf(record: SwapRecord, names: readonly NameSet[]) {
  const loads = placementsOf(record).flatMap(({ evidence: { phases } }) =>
    phases.filter(({ kind }) => kind !== 'idle' && names.includes(kind)),
  );
  return { count: loads.length, limited: loads.filter(isLoaderLimited).length };
}

/** What clients waited for the slowest answers; nothing where that was the load generator's in part. */
function tailFindingOf(record: SwapRecord, { a, b }: Sides, names: NameSet): Finding[] {
  const name = estimandName('p99', names);
  const estimand = record.estimands.find((each) => each.name === name);
  const delta = b.comparison?.deltas[name];
  const [base, own] = [medianOf(a, 'p99', names), medianOf(b, 'p99', names)];
  if (estimand === undefined || delta == null || base === null || own === null) return [];
  if (loadsOf(record, [names]).limited > 0) return [];
  const isOpen = delta.verdict === 'no difference shown';
  if (isOpen && Math.max(own / base, base / own) < TOLD_RATIO) return [];
  const [versionA, versionB] = [a, b].map(({ subject }) => versionOf(record, subject));
  const said =
    delta.low === null ? 'one pair cannot show a difference' : verdictText(record, estimand, b, delta);
  const tone = delta.verdict === 'faster' ? 'good' : 'bad';
  return [
    {
      subject: `${versionB}, p99 ${names}`,
      badge: isOpen ? { text: delta.verdict, tone: 'even' } : { text: sizeText(estimand, delta), tone },
      sentence: `For ${namesWords(names)}, latency p99 was ${formatTime(own)} with ${versionB} against ${formatTime(base)} with ${versionA}: ${said}.`,
    },
  ];
}

const METHOD_WORDS = { shadow: "beside the cluster's DNS", 'in-place': 'in place' } as const;

/** `no difference shown for internal or external names` */
function outcomeOf({ b }: Sides, findings: readonly Finding[]): string {
  const outcomes = NAME_SETS.map((names, index) => {
    const delta = netDelta(b, names);
    const isOpen = delta === null || delta.verdict === 'no difference shown';
    const text = isOpen
      ? cellOf(findings[index]?.badge ?? '').text
      : `${delta.verdict} CPU (${signedMillicores(delta.difference)})`;
    return { names, text };
  });
  return [...Map.groupBy(outcomes, ({ text }) => text)]
    .map(([text, alike]) => `${text} for ${alike.map(({ names }) => names).join(' or ')} names`)
    .join(', ');
}

/** The beginning of a post: both name sets in one sentence or two. */
function verdictOf(
  record: SwapRecord,
  { b }: Sides,
  findings: readonly Finding[],
  versions: readonly string[],
) {
  const deltas = NAME_SETS.flatMap((names) => netDelta(b, names) ?? []);
  const isOpen = deltas.every(({ verdict }) => verdict === 'no difference shown');
  if (deltas.length < NAME_SETS.length || !isOpen) return findings.map(({ sentence }) => sentence).join(' ');
  const sizes = deltas.map(({ difference, low, high }, index) => {
    const names = NAME_SETS[index] ?? 'internal';
    const ends = low === null || high === null ? '' : ` (${rangeText(record, b, names, { low, high })})`;
    return `${signedMillicores(difference)}${ends} for ${namesWords(names)}`;
  });
  return `At ${formatFixed(record.settings.rate, 0)} queries a second, no difference in CPU (in millicores, m) was shown between CoreDNS ${versions.join(' and ')}: ${listed(sizes)}.`;
}

/** How small a difference would have been seen. */
function caveatsOf({ b }: Sides): string[] {
  const open = NAME_SETS.flatMap((names) => {
    const delta = netDelta(b, names);
    return delta?.verdict === 'no difference shown' ? [{ names, ...delta }] : [];
  });
  const missed = open.flatMap(({ names, detectable, n }) =>
    detectable === null
      ? []
      : [
          `below ${formatMillicores(detectable)} for ${namesWords(names)} (${counted(n, 'pair')} of placements)`,
        ],
  );
  if (open.length === 0) return [];
  return missed.length === 0
    ? ['One pair of placements cannot show a difference.']
    : [`A difference ${listed(missed)} would be missed at least one time in five.`];
}

/** As published: version by version, idle included and without intervals. */
function publishedTable(record: SwapRecord, { a, b }: Sides) {
  const rows = [a, b].flatMap((item) =>
    NAME_SETS.flatMap((names) => {
      const [loaded, base] = [medianOf(item, 'loaded', names), medianOf(a, 'loaded', names)];
      if (loaded === null) return [];
      const delta =
        item === a || base === null
          ? ''
          : `${signedMillicores(loaded - base)} (${percent((loaded - base) / base)})`;
      return [[versionOf(record, item.subject), capitalized(names), formatMillicores(loaded), delta]];
    }),
  );
  return table(
    'CPU under load, as published',
    ['Version', 'Workload Type', ...numbers('Average CPU (mCores)', 'Delta')],
    rows,
  );
}

const canaryText = (canary: CanaryFigures | null) => (canary === null ? NOTHING : countsOf(canary));

/** Each placement: what was where, how long it took, what a client lost. Those that failed are among the warnings. */
function placementTable(record: SwapRecord) {
  const isInPlace = record.settings.method === 'in-place';
  return table(
    'Placements',
    [
      ...['Placement', 'Version', 'Pods report'],
      ...(isInPlace ? numbers('Rollout', 'Lost during rollout', 'Lost afterwards') : numbers('Started in')),
      'Counts',
    ],
    placementsOf(record).map(({ number, version, evidence }) => {
      const { side, pods, rolloutSeconds, rolloutCanary, canary } = evidence;
      const excluded = NAME_SETS.flatMap((names) => {
        const reason = figuresOf(evidence, names, record.settings).excluded;
        return reason === null ? [] : [`${names}: ${reason}`];
      });
      return [
        `${number} ${side}`,
        version,
        [...new Set(pods.map((pod) => pod.version ?? pod.imageId))].join(', '),
        rolloutSeconds === null ? NOTHING : `${formatFixed(rolloutSeconds, 1)} s`,
        ...(isInPlace ? [canaryText(rolloutCanary), canaryText(canary)] : []),
        excluded.length === 0
          ? 'yes'
          : {
              text: `${excluded.length < NAME_SETS.length ? 'in part' : 'no'}: ${excluded.join('; ')}`,
              tone: 'warn' as const,
            },
      ];
    }),
  );
}

/** As it was measured: a letter for each placement, also for those that failed. */
function sequenceOf({ trials, cases, baseline }: SwapRecord): string {
  const isA = (key: string) => cases.find((item) => item.key === key)?.subject === baseline;
  return trials
    .toSorted((a, b) => a.order - b.order)
    .map((trial) => (isA(trial.case) ? 'A' : 'B'))
    .join('');
}

function methodOf(record: SwapRecord): string[] {
  const { settings, conditions } = record;
  const { rate, duration, idle, settle, method } = settings;
  const how =
    method === 'shadow'
      ? "Each placement starts a fresh Deployment of one version in the run's namespace, with the cluster's Corefile, replicas, requests, limits and read rights"
      : "Each placement changes the image of the cluster's own DNS and waits until every pod runs it";
  return [
    `${how}; then ${settle} s to settle, ${idle} s idle, ${duration} s of each name set at ${formatFixed(rate, 0)} queries a second in total, and ${idle} s idle. Sequence: ${sequenceOf(record)}.`,
    ...NAME_SETS.flatMap((names) => {
      const own = conditions[`queries of ${names}`];
      return own === undefined ? [] : [`The queries of ${names} are those of ${own}.`];
    }),
    'A placement is the unit of replication: readings within one are not independent. A and B next to each other are a pair; differences are those of pairs.',
    'Net CPU is CPU under load minus the mean of the idle windows of the same placement. It is the CPU of the DNS containers alone, without sidecars.',
    'Intervals are 95 % confidence intervals. Of differences: the signed-rank interval (Hodges and Lehmann) where there are enough pairs, otherwise Student\'s t. "More" or "less" is said where the interval leaves out zero and the p value, corrected for both name sets (Holm), is at most 5 %.',
    `A load counts if at least 98 % of the rate was held and, for CPU, if it raised it visibly; a placement if no pod was restarted, replaced or of another version. Before the first one, version A has answered at the rate for ${PROBE_SECONDS} s; only the placements show whether it holds for a whole load.`,
    ...(method === 'in-place'
      ? [
          `A canary on one node asks ${CANARY_RATE} queries a second through the Service, from a new socket each, from before the first change until everything is put back; a query without an answer within ${CANARY_TIMEOUT_SECONDS} s, or with SERVFAIL or REFUSED, is lost. If the Service prefers the pods of the client's node, it sees only those. What these queries cost is in idle CPU and in CPU under load, not in net CPU. Each change of the image is a rolling update by the workload's own strategy: bench swap canary shows what an ordinary one loses.`,
        ]
      : []),
  ];
}

/** Nothing where the DNS answered a load generator that kept up. */
function loaderWarnings(record: SwapRecord): string[] {
  const { count, limited } = loadsOf(record, NAME_SETS);
  return limited === 0
    ? []
    : [
        `in ${limited} of ${counted(count, 'load')} a load generator was the limit: it sent queries or took answers late. Latency p99 and losses of the DNS are at most those shown, and are not compared. Keep other work off the nodes that send, or give --loader-cpu`,
      ];
}

/** Of figures that are missing or bounded beside a verdict. */
function warningsOf(record: SwapRecord, sides: Sides | null): string[] {
  const beside = NAME_SETS.filter((names) => sides !== null && netDelta(sides.b, names) !== null);
  const all = beside.flatMap((names) => reasonsOf(record, names).map((reason) => ({ names, reason })));
  const reasons = [...Map.groupBy(all, ({ reason }) => reason)].map(([reason, [first, ...others]]) =>
    first === undefined || others.length > 0 ? reason : `${first.names}, ${reason}`,
  );
  return [...reasons, ...rateAdvice(record), ...loaderWarnings(record)];
}

const TABLES: readonly {
  readonly title: string;
  readonly figures: readonly (readonly [FigureName | 'idle', string])[];
}[] = [
  {
    title: 'What the load costs',
    figures: [
      ['idle', 'Idle'],
      ['loaded', 'Under load'],
      ['net', 'Net'],
      ['query', 'Per query'],
    ],
  },
  {
    title: 'What clients saw',
    figures: [
      ['held', 'Rate held'],
      ['lost', 'Lost'],
      ['p99', 'p99'],
      ['memory', 'Working set'],
    ],
  },
];

export function swapDocument(record: SwapRecord): DocumentParts {
  const { settings, cases } = record;
  const sides = sidesOf(record);
  const findings = sides === null ? [] : NAME_SETS.map((names) => findingOf(record, sides, names));
  const tails = sides === null ? [] : NAME_SETS.flatMap((names) => tailFindingOf(record, sides, names));
  const isMeasured = cases.some(({ trials }) => trials.ok > 0);
  const versions = sides === null ? [] : [sides.b, sides.a].map(({ subject }) => versionOf(record, subject));
  return {
    kind: settings.method === 'shadow' ? "Swap, beside the cluster's DNS" : "Swap, in the cluster's DNS",
    title: `CoreDNS ${versions.join(' against ')} in a cluster`,
    subject: 'Version',
    result: `${versions.join(' against ')}, ${METHOD_WORDS[settings.method]}: ${
      sides !== null && isMeasured ? outcomeOf(sides, findings) : 'no result'
    }`,
    findings: isMeasured ? [...findings, ...tails] : [],
    tables: TABLES.flatMap(({ title, figures }) =>
      NAME_SETS.map((names) => ({
        title: `${title}: ${namesWords(names)}`,
        estimands: figures.map(([figure]) => (figure === 'idle' ? figure : estimandName(figure, names))),
        columns: figures.map(([, column]) => column),
      })),
    ),
    warnings: warningsOf(record, sides),
    sections:
      sides === null || !isMeasured
        ? []
        : [
            { title: 'CPU under load', blocks: [publishedTable(record, sides)] },
            {
              title: 'Charts',
              blocks: [...costCharts(record), timeChart(record)].map((each) => chart(each)),
            },
            {
              title: 'Placements',
              blocks: [placementTable(record)],
              isBrief: settings.method === 'in-place',
            },
            { title: 'Pods', blocks: [podTable(record), ...senderBlocks(record)], isBrief: false },
            { title: 'Readings', blocks: [readingsTable(record)], isBrief: false },
          ],
    method: methodOf(record),
    tags: ['coredns', 'kubernetes'],
    post: {
      title: `Does CoreDNS ${versions.join(' cost more CPU than ')}?`,
      ...(sides === null || !isMeasured
        ? {}
        : {
            excerpt: [
              verdictOf(record, sides, findings, versions),
              ...tails.map(({ sentence }) => sentence),
            ].join(' '),
            caveats: caveatsOf(sides),
          }),
    },
  };
}
