/** What only a search for memory limits can say. Pure. */
import type { DocumentParts } from '../../../engine/document.ts';
import { type EngineCase, okTrials } from '../../../engine/record.ts';
import { caseTitle } from '../../../engine/words.ts';
import { type Block, chart, type LineChart, table, text } from '../../../report/document/document.ts';
import { formatBytes, formatCount } from '../../../report/numbers.ts';
import { formatDuration } from '../../../text.ts';
import { numberColumn } from '../figures.ts';
import { decisive, SCENARIOS, type StartResult, type SurviveRecord } from './evidence.ts';
import { killedBound, MEBIBYTE } from './search.ts';
import type { SurviveSettings } from './settings.ts';

type Record = SurviveRecord<SurviveSettings>;

/** Today's limits, in MiB. */
const LEVELS = [
  { y: 170, label: '170Mi: kubeadm' },
  { y: 340, label: '340Mi: kops, 5,000 nodes' },
] as const;

const claimed = ({ cases }: Pick<Record, 'cases'>) => cases.filter(({ aa }) => !aa);

function evidenceOf(record: Record, { key }: EngineCase) {
  return okTrials(record, key).map(({ evidence }) => evidence);
}

/** "relist 3, cold start 1" */
function deathsText(starts: readonly StartResult[], outcome: StartResult['outcome']): string {
  const ended = starts.filter((start) => start.outcome === outcome);
  const parts = SCENARIOS.flatMap((name) => {
    const count = ended.filter(({ during }) => during === name).length;
    return count === 0 ? [] : [`${name} ${count}`];
  });
  return parts.length === 0 ? '–' : parts.join(', ');
}

/** How the limit of each case came about. */
function startsTable(record: Record): Block {
  return table(
    'Starts',
    [
      { title: 'Server' },
      numberColumn('Killed at'),
      numberColumn('Survived at'),
      numberColumn('Of starts'),
      numberColumn('Chance of being killed'),
      { title: 'Killed during' },
      { title: 'Not right in time' },
    ],
    claimed(record).flatMap((item) => {
      const found = evidenceOf(record, item);
      // The largest: under it, and so under all of them, nothing that was tried was killed.
      const last = found.toSorted((a, b) => b.limitBytes - a.limitBytes)[0];
      if (last === undefined) return [];
      const all = found.flatMap(({ starts }) => starts);
      const survived = decisive(last).length;
      const killed = Math.max(...found.map(({ killedBytes }) => killedBytes ?? 0));
      return [
        [
          caseTitle(record, item),
          killed === 0 ? '–' : formatBytes(killed),
          formatBytes(last.limitBytes),
          `${survived} of ${survived}`,
          `≤\u00a0${formatCount(Math.round(killedBound(survived) * 100))}\u00a0%`,
          deathsText(all, 'killed'),
          deathsText(all, 'stuck'),
        ],
      ];
    }),
  );
}

/** Null for a single size, which makes no line. */
export function limitChart(record: Record): LineChart | null {
  const cases = claimed(record);
  if (new Set(cases.map(({ point }) => point.objects)).size < 2) return null;
  const limits = cases.flatMap(({ summary }) => summary.limit?.median ?? []);
  const highest = Math.max(...limits, 0) / MEBIBYTE;
  const panels = [...Map.groupBy(cases, ({ point }) => String(point.configuration))];
  return {
    type: 'lines',
    name: 'limits',
    title: 'Memory limit that CoreDNS needs, by pods and services',
    caption: `The smallest limit under which ${record.settings.starts} of ${record.settings.starts} starts survived: medians of the searches with 95 % intervals. Horizontal lines are limits of today.`,
    xAxis: 'pods and services',
    yAxis: 'MiB',
    panels: panels.map(([configuration, own]) => ({
      title: panels.length === 1 ? '' : configuration,
      lines: record.subjects.map(({ name, title }) => ({
        series: name,
        points: own
          .filter(({ subject }) => subject === name)
          .toSorted((a, b) => Number(a.point.objects) - Number(b.point.objects))
          .flatMap(({ summary, point }) => {
            const { limit } = summary;
            if (limit == null) return [];
            const { median, low, high } = limit;
            const tip = `${title}, ${formatCount(Number(point.objects))} objects: ${formatBytes(median)}`;
            return [
              {
                ...{ x: Number(point.objects), y: median / MEBIBYTE, tip },
                ...(low === null || high === null ? {} : { low: low / MEBIBYTE, high: high / MEBIBYTE }),
              },
            ];
          }),
      })),
      marks: LEVELS.filter(({ y }, index) => index === 0 || highest > y / 2),
    })),
  };
}

/** For spreadsheets: a line for each start. */
function startData(record: Record) {
  const perScenario = SCENARIOS.flatMap((name) => {
    const word = name.toLowerCase().replaceAll(' ', '_');
    return [`${word}_seconds`, `${word}_sent`, `${word}_lost`, `${word}_servfail`];
  });
  const columns = [
    ...['case', 'server', 'configuration', 'objects', 'services', 'endpoints', 'round', 'start'],
    ...['limit_bytes', 'outcome', 'during', 'peak_bytes', ...perScenario],
  ];
  const rows = record.cases.flatMap(({ key, subject, point }) =>
    okTrials(record, key).flatMap(({ round, evidence }) =>
      evidence.starts.map(({ limitBytes, outcome, during, peakBytes, scenarios }, index) => [
        ...[key, subject, point.configuration ?? null, point.objects ?? null],
        ...[point.services ?? null, point.endpoints ?? null, round, index],
        ...[limitBytes, outcome, during, peakBytes],
        ...SCENARIOS.flatMap((name) => {
          const found = scenarios.find((scenario) => scenario.name === name);
          const { sent = null, lost = null, servfail = null } = found?.queries ?? {};
          return [found?.rightSeconds ?? null, sent, lost, servfail];
        }),
      ]),
    ),
  );
  return { columns, rows };
}

/** Lists that were asked for as streams and came as lists. */
function warningsOf(record: Record): string[] {
  return claimed(record).flatMap((item) => {
    const found = evidenceOf(record, item);
    const isStreamed = found.some(({ streamed }) => streamed.length > 0);
    if (found.length === 0 || isStreamed || !item.subject.split('/').includes('streamed')) return [];
    return [
      `${caseTitle(record, item)}: this version read everything as lists, though the API server offers streams.`,
    ];
  });
}

function methodOf({ settings }: Record): string[] {
  const { starts, resolution, outage, rate } = settings;
  return [
    `Each start is a new CoreDNS, unmodified, in a control group of its own with the limit, beside an API server of ours with generated objects. It has to survive, in this order: a cold start; a relist of everything (410 Gone) with a full cache and under ${formatCount(rate)} queries a second; a tenth of the Services with all endpoints and pods replaced at once; an API server that is away for ${formatDuration(outage)} and then knows no earlier version.`,
    'Killed: the kernel counted a kill in the control group. Not right in time: it lived, but 90 s and a second for each thousand objects later, no right answer had come; that is not survived either.',
    `A search bisects: single starts narrow the limit to ${Math.round(resolution * 100)} % (or 4 MiB), and every start that is killed rules out its limit and all smaller ones. The limit is the smallest one above them under which ${starts} of ${starts} starts survived. If none of n is killed, the chance of being killed is at most 1 − 0.05^(1/n) with 95 % confidence, of a limit that was looked at once: a search looks at several, so take the next larger size.`,
    'Right again: a Service that was created during the relist or the outage resolves, a replaced pod of a StatefulSet has its new address. Each name is asked for once, so that no cache answers; the time is known to a tenth. An outage counts from its end.',
    'Anonymous memory decides: the kernel drops pages of the program file before it kills. Starts do all of this one at a time, but for the outages, which may overlap.',
  ];
}

export function surviveDocument(record: Record): DocumentParts {
  const drawn = limitChart(record);
  const needed = claimed(record).flatMap((item) => {
    const { limit } = item.summary;
    return limit == null ? [] : [{ item, limit }];
  });
  const [most] = needed.toSorted((a, b) => b.limit.median - a.limit.median);
  const [least] = needed.toSorted((a, b) => a.limit.median - b.limit.median);
  const sizes = new Set(claimed(record).map(({ point }) => point.objects));
  const size = sizes.size === 1 ? `${formatCount(Number([...sizes][0]))} objects: ` : '';
  return {
    kind: 'Capacity of cluster DNS',
    title: 'The smallest memory limit that CoreDNS survives',
    result:
      most === undefined || least === undefined
        ? undefined
        : `${size}limits from ${formatBytes(least.limit.median)} to ${formatBytes(most.limit.median)} survive`,
    tables: [
      { title: 'Memory limit needed', estimands: ['limit', 'lost'] },
      {
        title: 'Until answers are right, at that limit',
        estimands: ['coldStart', 'relist', 'replaced', 'outage'],
        columns: ['Cold start', 'Relist', 'Replaced endpoints', 'After the outage'],
      },
    ],
    warnings: warningsOf(record),
    series: record.subjects.map(({ name, title }) => ({ name, title })),
    sections: [
      ...(drawn === null ? [] : [{ title: 'Limit by objects', blocks: [chart(drawn)] }]),
      {
        title: 'How sure the limits are',
        blocks: [
          startsTable(record),
          text(
            'Of all searches of a case: the largest limit under which a start was killed, and the largest that a search found.',
          ),
        ],
      },
    ],
    data: startData(record),
    method: methodOf(record),
    tags: ['coredns', 'kubernetes', 'capacity'],
  };
}
