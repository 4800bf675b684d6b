/** `bench reproduce lookup`: tiger-bench's published sample beside a run of ours. */
import { publishedRecord } from '../../history/published.ts';
import { code, list, type ReportDocument, table } from '../../report/document/document.ts';
import { formatCount, formatTime } from '../../report/numbers.ts';
import { percentileOf } from './distribution.ts';
import type { LookupRecord, LookupResult } from './record.ts';
import { subjectTitle } from './text/readable.ts';
import { titleOf } from './text/words.ts';

/** A figure of the sample, and the same of a subject; null where the run does not have it. */
export interface ReproducedFigure {
  readonly name: string;
  readonly unit: 'seconds' | 'count';
  readonly published: number;
  readonly ours: readonly (number | null)[];
}

const TIMES = ['Min', 'Mean', 'P50', 'P75', 'P90', 'P99', 'Max'] as const;

function timeOf(
  { phases }: LookupResult,
  phase: 'lookup' | 'connect',
  figure: (typeof TIMES)[number],
): number | null {
  if (phases === null) return null;
  const distribution = phases[phase];
  if (figure === 'Min') return distribution.min;
  if (figure === 'Mean') return distribution.mean;
  return figure === 'Max' ? distribution.max : percentileOf(distribution, Number(figure.slice(1)));
}

const COUNTS: readonly (readonly [name: string, key: string, of: (result: LookupResult) => number | null])[] =
  [
    ['samples that succeeded', 'successfulCurls', ({ samples }) => samples.succeeded],
    ['samples that failed', 'failedCurls', ({ samples }) => samples.taken - samples.succeeded],
    ['repeated SYNs', 'duplicateSyns', ({ duplicates }) => duplicates?.tigerRule.duplicateSyn ?? null],
    [
      'repeated SYN-ACKs',
      'duplicateSynAcks',
      ({ duplicates }) => duplicates?.tigerRule.duplicateSynAck ?? null,
    ],
  ];

/** Every figure of the published sample, with those of each subject of the run. */
export function reproducedFigures({ results }: LookupRecord): ReproducedFigure[] {
  const published = publishedRecord('lookup').record.cases[0]?.figures ?? {};
  const figure = (
    name: string,
    unit: ReproducedFigure['unit'],
    key: string,
    of: (result: LookupResult) => number | null,
  ): ReproducedFigure[] => {
    const value = published[key];
    return typeof value === 'number' ? [{ name, unit, published: value, ours: results.map(of) }] : [];
  };
  return [
    ...(['lookup', 'connect'] as const).flatMap((phase) =>
      TIMES.flatMap((time) =>
        figure(`${phase} ${time.toLowerCase()}`, 'seconds', `${phase}${time}Seconds`, (result) =>
          timeOf(result, phase, time),
        ),
      ),
    ),
    ...COUNTS.flatMap(([name, key, of]) => figure(name, 'count', key, of)),
  ];
}

const NONE = '–';

function valueText(unit: ReproducedFigure['unit'], value: number | null): string {
  if (value === null) return NONE;
  return unit === 'seconds' ? formatTime(value) : formatCount(value);
}

const NOTES = [
  'The published sample: 104 runs of curl in 60 s from one pod of one node, of http://www.example.com. Each run was started by exec into the pod, which set the pace.',
  'The times are those of another network and another resolver: they are no measure of ours, and a difference is no verdict.',
  'Repeated packets by tiger-bench’s own rule, on both sides.',
];

/** The published sample and the run, side by side. */
export function reproductionDocument(record: LookupRecord): ReportDocument {
  const subjects = record.subjects.map(({ key }) => key);
  const pace = [
    'samples a minute and pod',
    '104',
    ...record.results.map((result) => formatCount(result.samplesPerMinute)),
  ];
  const rows = reproducedFigures(record).map(({ name, unit, published, ours }) => [
    name,
    valueText(unit, published),
    ...ours.map((value) => valueText(unit, value)),
  ]);
  const columns = [
    { title: 'figure' },
    ...['published', ...subjects.map(subjectTitle)].map((title) => ({ title, isNumber: true })),
  ];
  return {
    kind: 'Reproduction',
    title: `tiger-bench dnsperf, the sample of its README, beside ${titleOf(record)}`,
    state: 'complete',
    headline: `${rows.length} published figures beside those of run ${record.id}.`,
    facts: [record.startedAt.slice(0, 10), record.id],
    findings: [],
    warnings: [],
    series: [],
    sections: [
      { title: 'Figures', blocks: [table('Published and measured', columns, [...rows, pace])] },
      { title: 'How to read them', blocks: [list(NOTES)] },
      { title: 'Again', isBrief: false, blocks: [code(record.command)] },
    ],
    data: { columns: ['figure', 'published', ...subjects], rows: [] },
    post: { slug: '', description: '', tags: [], date: record.startedAt.slice(0, 10) },
    version: record.generator.version,
  };
}
