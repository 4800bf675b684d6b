/** What only a search for memory limits can say. Pure. */
import type { DocumentParts } from '../../../engine/document.ts';
import { evidencesOf } from '../../../engine/record.ts';
import { caseTitle, subjectTitle } from '../../../engine/words.ts';
import {
  type Block,
  chart,
  type LineChart,
  numbers,
  table,
  text,
} from '../../../report/document/document.ts';
import { formatBytes, formatCount, MEBIBYTE } from '../../../report/numbers.ts';
import { capitalized, counted, formatDuration, listed } from '../../../text.ts';
import { LIMIT_TO_SET } from '../figures.ts';
import {
  confirmedLimit,
  SCENARIOS,
  type StartResult,
  type SurviveEvidence,
  type SurviveRecord,
  searchesOf,
} from './evidence.ts';
import { clusterText, pointOf } from './points.ts';
import { boundText, fewStarts } from './search.ts';
import { STREAMS_VARIABLE, type SurviveSettings, variesGomemlimit } from './settings.ts';

type Record = SurviveRecord<SurviveSettings>;

/** Today's limits, in MiB, and where they stand. */
const LEVELS = [
  {
    y: 170,
    label: '170Mi: kubeadm, kops',
    source:
      'https://github.com/kubernetes/kubernetes/blob/master/cmd/kubeadm/app/phases/addons/dns/manifests.go',
  },
  {
    y: 340,
    label: '340Mi: kops for its test with 5,000 nodes',
    source: 'https://github.com/kubernetes/kops/pull/18361',
  },
] as const;

const claimed = ({ cases }: Pick<Record, 'cases'>) => cases.filter(({ aa }) => !aa);

/** `104 MiB (relist 3, cold start 1)`: the largest limit under which starts ended so, and during what they did. */
function endedText(all: readonly StartResult[], outcome: StartResult['outcome']): string {
  const ended = all.filter((start) => start.outcome === outcome);
  if (ended.length === 0) return '–';
  const parts = SCENARIOS.flatMap((name) => {
    const count = ended.filter(({ during }) => during === name).length;
    return count === 0 ? [] : [`${name}\u00a0${count}`];
  });
  return `${formatBytes(Math.max(...ended.map(({ limitBytes }) => limitBytes)))} (${parts.join(', ')})`;
}

/** How CoreDNS has read: `lists`, `streams`, or both where it differs between resources or searches. */
function readAs(found: readonly SurviveEvidence[]): string {
  const counts = new Set(found.map(({ streamed }) => streamed.length));
  if (counts.size === 1 && counts.has(0)) return 'lists';
  return counts.has(0) ? 'streams in some searches' : 'streams';
}

/** How the limit of each case came about. */
function limitsTable(record: Record): Block {
  return table(
    'Limits that survived',
    [
      'Server',
      ...numbers('Survived at', 'Starts under it', 'Chance of being killed'),
      'Killed, up to',
      'Not right in time, up to',
      'Read as',
    ],
    claimed(record).flatMap((item) => {
      const found = evidencesOf(record, item.key);
      if (found.length === 0) return [];
      const all = searchesOf(record, item.key).flatMap(({ starts }) => starts);
      const confirmed = confirmedLimit(record, item);
      const figures =
        confirmed === null
          ? ['not confirmed', '–', '–']
          : [
              formatBytes(confirmed.limitBytes),
              formatCount(confirmed.starts),
              `≤\u00a0${boundText(confirmed.starts)}`,
            ];
      const ends = [endedText(all, 'killed'), endedText(all, 'stuck')];
      return [[caseTitle(record, item), ...figures, ...ends, readAs(found)]];
    }),
  );
}

/** The smallest, and those that are not far above all limits that were found. */
function levelsOf(record: Record) {
  const limits = claimed(record).flatMap((item) => confirmedLimit(record, item)?.limitBytes ?? []);
  const highest = Math.max(...limits, 0) / MEBIBYTE;
  return LEVELS.filter(({ y }, index) => index === 0 || highest > y / 2);
}

/** Servers of a single size stand side by side. Null for a single case, which shows nothing that a table does not. */
export function limitChart(record: Record): LineChart | null {
  const cases = claimed(record);
  if (cases.length < 2) return null;
  const sizes = [...new Set(cases.map(({ point }) => Number(point.objects)))];
  const places = sizes.length > 1 ? null : record.subjects.map(({ name }) => name);
  const levels = levelsOf(record);
  const panels = [...Map.groupBy(cases, ({ point }) => String(point.configuration))];
  return {
    type: 'lines',
    name: 'limits',
    title: 'Memory limit that CoreDNS needs, by pods and services',
    caption: `The limit under which at least ${record.settings.starts} of ${record.settings.starts} starts survived, or the next one that was tried if a start has used more. Bars reach down to the smallest. Horizontal lines are limits of today.`,
    xAxis: places === null ? 'pods and services' : `${formatCount(sizes[0] ?? 0)} pods and services`,
    yAxis: 'MiB',
    ...(places === null ? {} : { xTicks: [], xFromZero: true }),
    panels: panels.map(([configuration, own]) => ({
      title: panels.length === 1 ? '' : configuration,
      lines: record.subjects.map(({ name, title }) => ({
        series: name,
        points: own
          .filter(({ subject }) => subject === name)
          .toSorted((a, b) => Number(a.point.objects) - Number(b.point.objects))
          .flatMap((item) => {
            const confirmed = confirmedLimit(record, item);
            if (confirmed === null) return [];
            const objects = Number(item.point.objects);
            const x = places === null ? objects : places.indexOf(name) + 1;
            const high = confirmed.limitBytes / MEBIBYTE;
            const found = evidencesOf(record, item.key).map(({ limitBytes }) => limitBytes / MEBIBYTE);
            const tip = `${title}, ${formatCount(objects)} objects: ${formatBytes(confirmed.limitBytes)}`;
            return [{ x, y: high, low: Math.min(...found), high, tip }];
          }),
      })),
      marks: levels.map(({ y, label }) => ({ y, label })),
    })),
  };
}

function levelSources(record: Record): Block {
  const sources = levelsOf(record).map(({ label, source }) => `${label} (${source})`);
  return text(`Limits of today: ${sources.join('; ')}.`);
}

/** On a cluster, how the kubelet says that each ended. */
const CONTAINER_COLUMNS = {
  pod: 'pod',
  reason: 'reason',
  exit_code: 'exitCode',
  restarts: 'restarts',
} as const;

/** For spreadsheets: a line for each start. */
function startData(record: Record) {
  const perScenario = SCENARIOS.flatMap((name) => {
    const word = name.toLowerCase().replaceAll(' ', '_');
    return [`${word}_seconds`, `${word}_sent`, `${word}_lost`, `${word}_servfail`];
  });
  const isCluster = record.settings.target === 'kubernetes';
  const columns = [
    ...['case', 'server', 'configuration', 'objects', 'services', 'endpoints', 'round', 'start'],
    ...['limit_bytes', 'outcome', 'during', 'peak_bytes', ...perScenario],
    ...(isCluster ? Object.keys(CONTAINER_COLUMNS) : []),
  ];
  const rows = record.cases.flatMap(({ key, subject, point }) =>
    searchesOf(record, key).flatMap(({ round, starts }) =>
      starts.map(({ limitBytes, outcome, during, peakBytes, scenarios, container }, index) => [
        ...[key, subject, point.configuration ?? null, point.objects ?? null],
        ...[point.services ?? null, point.endpoints ?? null, round, index],
        ...[limitBytes, outcome, during, peakBytes],
        ...SCENARIOS.flatMap((name) => {
          const found = scenarios.find((scenario) => scenario.name === name);
          const { sent = null, lost = null, servfail = null } = found?.queries ?? {};
          return [found?.rightSeconds ?? null, sent, lost, servfail];
        }),
        ...(isCluster ? Object.values(CONTAINER_COLUMNS).map((field) => container?.[field] ?? null) : []),
      ]),
    ),
  );
  return { columns, rows };
}

/** Why no limit of a case is confirmed. */
function unconfirmedText(record: Record, { key, trials: { ok, failed } }: Record['cases'][number]): string {
  if (failed > 0)
    return `${failed} of ${ok + failed} searches found none, which is not repeated: measure the case in a new run`;
  return searchesOf(record, key).every(({ hasEnded }) => hasEnded)
    ? 'a start used more than the limit that was found, and too few were made under a larger one'
    : 'a search that has not ended contradicts the limit that was found';
}

/** Searches that go on; starts made again; lists that were asked for as streams and came as lists; limits that are not confirmed. */
function warningsOf(record: Record): string[] {
  return claimed(record).flatMap((item) => {
    const title = caseTitle(record, item);
    const open = searchesOf(record, item.key).filter(({ hasEnded }) => !hasEnded);
    const begun = open.map(
      ({ round, starts }) =>
        `${title}: search ${round + 1} has not ended: ${counted(starts.length, 'start')} so far, from which --resume goes on.`,
    );
    const found = evidencesOf(record, item.key);
    if (found.length === 0 && item.trials.failed === 0) return begun;
    const isStreamed = found.some(({ streamed }) => streamed.length > 0);
    const repeated = found.flatMap((search) => search.repeated);
    return [
      ...begun,
      ...(repeated.length === 0
        ? []
        : [`${title}: ${counted(repeated.length, 'start')} made again (${repeated.join('; ')}).`]),
      ...(isStreamed || pointOf(item).lists !== 'streamed'
        ? []
        : [`${title}: this version read everything as lists, though ${STREAMS_VARIABLE} asks for streams.`]),
      ...(confirmedLimit(record, item) === null
        ? [`${title}: no limit is confirmed: ${unconfirmedText(record, item)}.`]
        : []),
    ];
  });
}

function methodOf({ settings, cases }: Record): string[] {
  const { starts, resolution, outage, rate, target } = settings;
  const isCluster = target === 'kubernetes';
  const [place, replaced, killed] = isCluster
    ? [
        'in a pod of its own with the limit, which reads the API server of the cluster, with synthetic objects',
        'a tenth of the endpoints',
        'the kubelet says OOMKilled of its container',
      ]
    : [
        'in a control group of its own with the limit, beside an API server of ours with generated objects',
        'a tenth of the Services with all endpoints and pods',
        'the kernel counted a kill in the control group',
      ];
  return [
    `Each start is a new CoreDNS, unmodified, ${place}. It has to survive, in this order: a cold start; a relist of everything (410 Gone) with a full cache and under ${formatCount(rate)} queries a second; ${replaced} replaced at once; an API server that is away for ${formatDuration(outage)} and then knows no earlier version.`,
    ...(isCluster ? [clusterText(cases.map(pointOf))] : []),
    `Killed: ${killed}. Not right in time: it lived, but a step took more than ten times as long as in the first start that survived (at least 15 s, for a cold start 55 s and to fill the cache 60 s; at most 90 s and a second for each thousand pods, Services and addresses; after an outage, in addition, as long as its client may wait before it connects again). ${isCluster ? 'Memory was too short for it to get anywhere' : 'Meanwhile, pages of its program were dropped and read again, or GOMEMLIMIT was set'}; this does not count as survived.`,
    `A search bisects: single starts narrow the limit to ${Math.round(resolution * 100)} % (or 4 MiB), every start that is killed rules out its limit and all smaller ones, ${variesGomemlimit(settings) ? 'and nothing else rules one out, so that limits with and without GOMEMLIMIT are found by one rule' : 'and every start without GOMEMLIMIT rules out limits below what it used'}. The limit is the smallest one above them under which ${starts} of ${starts} starts survived; of several searches, the largest such limit is confirmed, or the next one that was tried if a start under a larger limit used more, and none if a search found none. If none of n is killed, the chance of being killed is at most 1 − 0.05^(1/n) with 95 % confidence, of a limit that was looked at once: a search looks at several, so take ${LIMIT_TO_SET}.`,
    isCluster
      ? 'Right again: a Service that was created during the relist or the outage resolves, a replaced endpoint has its new address. The addresses of other Services may be read later; a start is over when all are. Each name is asked for once, so that no cache answers; the time is known to a tenth. A cold start counts from when both programs of the pod run, a relist and an outage from when the API server is back. Queries for Services are sent on schedule, whether or not they are answered; without an answer after 2 s, they are lost. Those lost or failed are of the start that lost most, as the time in which as many are sent.'
      : 'Right again: a Service that was created during the relist or the outage resolves, a replaced pod of a StatefulSet has its new address. The addresses of other Services may be read later; a start is over when all are. Each name is asked for once, so that no cache answers; the time is known to a tenth. A cold start includes that of our API server and upstream. An outage counts from its end. Queries are sent on schedule, whether or not they are answered; without an answer after 2 s, they are lost. Those lost or failed are of the start that lost most, as the time in which as many are sent.',
    `Anonymous memory decides: the kernel drops pages of the program file before it kills. ${isCluster ? 'Starts are made one at a time.' : 'Starts take turns, except that their outages, and what is read after them, may overlap with other starts.'}`,
  ];
}

/** `limits from 63 MiB to 261 MiB survive; no limit is confirmed in 1 of 4 cases`; undefined before the first search has ended. */
function resultOf(record: Record): string | undefined {
  const ended = claimed(record).filter((item) => evidencesOf(record, item.key).length > 0);
  if (ended.length === 0) return undefined;
  const limits = ended.flatMap((item) => confirmedLimit(record, item)?.limitBytes ?? []);
  const [least, most] = [Math.min(...limits), Math.max(...limits)].map((value) => formatBytes(value));
  const range = least === most ? `a limit of ${most} survives` : `limits from ${least} to ${most} survive`;
  const missing = ended.length - limits.length;
  return [
    ...(limits.length === 0 ? [] : [range]),
    ...(missing === 0 ? [] : [`no limit is confirmed in ${missing} of ${counted(ended.length, 'case')}`]),
  ].join('; ');
}

/** The beginning of a post: what each case needs, by the number of objects. */
function verdictOf(record: Record): string {
  const found = claimed(record).flatMap((item) => {
    const limit = confirmedLimit(record, item);
    return limit === null ? [] : [{ item, limit: formatBytes(limit.limitBytes) }];
  });
  const [only, ...others] = new Set(found.map(({ item }) => subjectTitle(record, item.subject)));
  const one = others.length === 0 ? only : undefined;
  const sizes = [...Map.groupBy(found, ({ item }) => formatCount(Number(item.point.objects)))];
  const every = found.some(({ item }) => item.trials.ok > 1) ? ' in every search' : '';
  const needs = sizes.map(([objects, own], index) => {
    const limits = own.map(({ item, limit }) => {
      // A title ends with the size where there are several.
      const title = caseTitle(record, item).replace(`, ${objects} objects`, '');
      return title === one ? limit : `${limit} for ${title}`;
    });
    const what =
      index === 0 ? `the smallest memory limit that ${one ?? 'CoreDNS'} survived${every} was ` : '';
    return `with ${objects} objects, ${what}${listed(limits)}`;
  });
  return needs.length === 0 ? '' : `${capitalized(needs.join('; '))}.`;
}

export function surviveDocument(record: Record): DocumentParts {
  const drawn = limitChart(record);
  const sizes = new Set(claimed(record).map(({ point }) => point.objects));
  const size = sizes.size === 1 ? `${formatCount(Number([...sizes][0]))} objects: ` : '';
  const result = resultOf(record);
  return {
    kind: 'Capacity of cluster DNS, survive',
    title: 'The smallest memory limit that CoreDNS survives',
    result: result === undefined ? undefined : `${size}${result}`,
    tables: [
      { title: 'Searches', estimands: ['limit'], columns: ['Limit found'] },
      {
        title:
          'Longest time until answers are right, and queries lost or failed at most, at the limit that each search found',
        estimands: ['coldStart', 'relist', 'replaced', 'outage', 'lost'],
        columns: ['Cold start', 'Relist', 'Replaced endpoints', 'After the outage', 'Lost or failed'],
        isLargest: true,
      },
    ],
    warnings: [...fewStarts(Number(record.settings.starts)), ...warningsOf(record)],
    series: record.subjects.map(({ name, title }) => ({ name, title })),
    sections: [
      ...(drawn === null
        ? []
        : [
            {
              title: sizes.size > 1 ? 'Limit by objects' : 'Limits in one picture',
              blocks: [chart(drawn), levelSources(record)],
            },
          ]),
      {
        title: 'Limits that survived',
        blocks: [
          limitsTable(record),
          text(
            'Of all searches of a case: the largest limit that one found, where verdicts compare them all (or, if a start under a larger limit used more, the next one that was tried), with the starts that it rests on, and the largest under which a start was killed or was not right in time.',
          ),
        ],
      },
    ],
    post: {
      excerpt: verdictOf(record),
      caveats: [
        `Each limit rests on few starts; rarer kills remain possible: take ${LIMIT_TO_SET}.`,
        record.settings.target === 'kubernetes'
          ? 'The API server was that of one cluster: another one may answer faster or slower.'
          : 'The API server was a program of this project with generated objects, not that of a cluster.',
      ],
    },
    data: startData(record),
    method: methodOf(record),
    tags: ['coredns', 'kubernetes', 'capacity'],
  };
}
