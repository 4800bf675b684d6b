/** The table of cases that readers of a page sort and filter, and the trials of each. Pure. */

import type { CaseRecord, InstanceObservation, OkTrial, RunRecord, Trial } from '../../results/record.ts';
import { NOT_COMPARED, shownOf } from '../../stats/decisive.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import { shellCommand } from '../../text.ts';
import { groupCases, serverTitle, shapeOf, varyingOf } from '../cases.ts';
import { deltaTexts } from '../delta-texts.ts';
import type { CaseCell, CasesBlock, TableBlock, TrialRow } from '../document/document.ts';
import { type Mark, marksOfCase } from '../marks.ts';
import {
  formatBytes,
  formatCount,
  formatCpus,
  formatFixed,
  formatP,
  formatQps,
  formatShare,
  formatTime,
} from '../numbers.ts';
import { okTrialsOf } from '../ok-trials.ts';
import { percentileOf, trialPercentile } from '../percentiles.ts';
import { formatThrottled, throttledShare } from '../throttling.ts';
import { endsOf, NOTHING, toneOf } from './cells.ts';

/** A longer baseline name would make its column wider than a phone. */
const MAX_HEADING_LENGTH = 22;

const NONE: CaseCell = { text: NOTHING, tone: 'even', sort: null };

interface CaseColumn {
  readonly title: string;
  readonly tip: string;
  readonly isNumber: boolean;
  cell(item: CaseRecord): CaseCell;
}

const column =
  (isNumber: boolean) =>
  (title: string, tip: string, cell: CaseColumn['cell']): CaseColumn => ({ title, tip, isNumber, cell });
const [words, numbers] = [column(false), column(true)];
const plainCell = (text: string, sort: CaseCell['sort'] = text): CaseCell => ({ text, sort });

/** A median above its interval. */
function figures(
  record: RunRecord,
  title: string,
  tip: string,
  format: (value: number) => string,
  pick: (item: CaseRecord) => Parameters<typeof endsOf>[2] | null | undefined,
  trial: (trial: OkTrial) => number | null,
): CaseColumn {
  return numbers(title, tip, (item) => {
    const statistic = pick(item) ?? null;
    if (statistic === null) return NONE;
    const found = endsOf(record, item, statistic, trial);
    const [low, high] = found?.ends.map(format) ?? [];
    const below = found === null ? 'one trial' : found.isInterval ? `${low} – ${high}` : `${low}, ${high}`;
    return { text: format(statistic.median), below, sort: statistic.median };
  });
}

function differenceCell(record: RunRecord, item: CaseRecord, definition: DeltaDefinition): CaseCell {
  const shown = shownOf(item, record, 'qps');
  if (shown === null)
    return item.comparison === null && item.server === record.baseline ? { ...NONE, text: 'baseline' } : NONE;
  const { delta, verdict, isAtLeast } = shown;
  const texts = deltaTexts(record, item, 'qps', shown, definition);
  const size = `${isAtLeast ? 'at least ' : ''}${texts.size}`;
  const sort = delta.relative;
  if (texts.ends === null) return { text: size, below: 'no interval', sort };
  const tone = toneOf(verdict);
  const { n, pValue, adjustedPValue, effectSize } = delta;
  const tip = [
    `${n} paired trials`,
    ...(pValue === null ? [] : [`p ${formatP(pValue)}`]),
    ...(adjustedPValue === null
      ? []
      : [`${formatP(adjustedPValue)} after correction for the number of comparisons`]),
    ...(effectSize === null
      ? []
      : [`effect size ${formatFixed(effectSize.value, 2)} (${effectSize.measure}): ${effectSize.magnitude}`]),
  ].join('; ');
  return {
    text: size,
    ...(verdict === NOT_COMPARED ? {} : { tone }),
    below: `${texts.ends.join(texts.isInterval ? ' … ' : ', ')} %`,
    sort,
    verdict: { text: isAtLeast ? 'lower bound' : verdict, tone, tip: `${tip}.` },
  };
}

const rateOf = ({ ratePerSecond }: CaseRecord) => (ratePerSecond === null ? 'max' : String(ratePerSecond));

function columnsOf(
  record: RunRecord,
  definition: DeltaDefinition,
  marksByKey: ReadonlyMap<string, readonly Mark[]>,
): CaseColumn[] {
  const varying = varyingOf(record);
  const baseline = serverTitle(record, record.baseline);
  const percentiles = [99, 99.9].filter((wanted) =>
    record.cases.some((item) => percentileOf(item, wanted) !== null),
  );
  return [
    words('Server', 'The DNS server under test.', ({ server }) => plainCell(serverTitle(record, server))),
    numbers('Tier', 'vCPUs in total.', (item) => ({
      text: formatCpus(item.tier),
      below: shapeOf(record, item),
      sort: item.tier,
    })),
    words(
      'Mode',
      'single: one single-threaded instance per vCPU of the tier; multi: one instance with the whole tier.',
      ({ mode }) => plainCell(mode),
    ),
    ...(varying.includes('workload')
      ? [words('Workload', 'Which names and types were queried.', ({ workload }) => plainCell(workload))]
      : []),
    ...(varying.includes('transport')
      ? [words('Transport', 'The transport of the queries.', ({ transport }) => plainCell(transport))]
      : []),
    ...(varying.includes('ratePerSecond')
      ? [
          numbers(
            'Rate',
            'Queries sent per second; max is as many as the server answers.',
            ({ ratePerSecond }) =>
              ratePerSecond === null
                ? plainCell('max', Number.MAX_SAFE_INTEGER)
                : plainCell(formatQps(ratePerSecond), ratePerSecond),
          ),
        ]
      : []),
    figures(
      record,
      'QPS',
      'Completed queries per second: median of the trials and its 95 % interval.',
      formatQps,
      ({ summary }) => summary?.qps,
      ({ metrics }) => metrics.qps,
    ),
    numbers(
      [...baseline].length <= MAX_HEADING_LENGTH ? `vs ${baseline}` : 'vs baseline',
      `Difference in queries per second from ${baseline} at the same point of the matrix (${definition}), with its 95 % interval. A winner is named only where the interval excludes zero.`,
      (item) => differenceCell(record, item, definition),
    ),
    figures(
      record,
      'Latency',
      'Mean latency of answered queries: median of the trials and its 95 % interval.',
      formatTime,
      ({ summary }) => summary?.latencySeconds,
      ({ metrics }) => metrics.latencySeconds,
    ),
    ...percentiles.map((wanted) =>
      figures(
        record,
        `p${wanted}`,
        `${wanted} % of answered queries took no longer; median of the trials.`,
        formatTime,
        (item) => percentileOf(item, wanted),
        (trial) => trialPercentile(trial, wanted),
      ),
    ),
    figures(
      record,
      'CPU per query',
      'User and system time of all processes of the server per answered query.',
      formatTime,
      ({ summary }) => summary?.cpuSecondsPerQuery,
      ({ metrics }) => metrics.cpuSecondsPerQuery,
    ),
    numbers('Cores', 'Average CPU use, out of the tier.', ({ summary, tier }) =>
      summary?.cpuCores
        ? {
            text: formatFixed(summary.cpuCores.median, 2),
            below: `of ${formatCpus(tier)}`,
            sort: summary.cpuCores.median,
          }
        : NONE,
    ),
    numbers('Memory', 'Memory of all processes of the server.', ({ summary }) =>
      summary?.memoryBytes
        ? plainCell(formatBytes(summary.memoryBytes.median), summary.memoryBytes.median)
        : NONE,
    ),
    numbers(
      'Lost',
      'Share of sent queries that were not answered within the timeout.',
      ({ summary, totals }) =>
        totals.queriesSent === 0
          ? NONE
          : plainCell(
              formatShare(totals.queriesLost / totals.queriesSent),
              summary?.lostRatio.median ?? null,
            ),
    ),
    words('Marks', 'What limits or qualifies a figure. Hover over a mark for an explanation.', ({ key }) => {
      const marks = marksByKey.get(key) ?? [];
      if (marks.length === 0) return { ...NONE, sort: 0 };
      return {
        text: '',
        sort: marks.length,
        marks: marks.map((mark) => ({ name: mark.name, text: markText(mark), tip: mark.explanation })),
      };
    }),
    numbers(
      'Trials',
      'Successful trials; follow the link to see each, with the raw output of the tools.',
      ({ trials }) => plainCell(`${trials.ok} of ${trials.planned}`, trials.ok),
    ),
  ];
}

const markText = ({ symbol, label }: Mark) => (symbol === undefined ? label : `${symbol} ${label}`);

const TRIAL_COLUMNS = [
  'Trial',
  'Started',
  'QPS',
  'Latency',
  'CPU per query',
  'Cores',
  'Memory',
  'Throttled',
  'Lost',
  'Limited by',
  'Remarks',
];

const orNone = <T>(value: T | null | undefined, format: (value: T) => string) =>
  value === null || value === undefined ? NOTHING : format(value);

function remarks(trial: OkTrial, item: CaseRecord): string {
  return [
    ...(item.outliers.includes(trial.key) ? ['outlier'] : []),
    ...(trial.steadyState?.settled === false ? [`unsettled: ${trial.steadyState.reason}`] : []),
  ].join('; ');
}

/** The instances, and below each the containers beside it in its pod. */
function partsTable(instances: readonly InstanceObservation[]): TableBlock {
  const use = (cpuCores: number | null, memoryBytes: number | null) => [
    orNone(cpuCores, (cores) => formatFixed(cores, 2)),
    orNone(memoryBytes, formatBytes),
  ];
  return {
    kind: 'table',
    title: 'Instances',
    columns: ['Instance', 'Node', 'Queries', 'Cores', 'Memory'].map((title) => ({ title })),
    rows: instances.flatMap(({ name, node, queries, cpuCores, memoryBytes, sidecars = [] }) => [
      [name, node ?? NOTHING, orNone(queries, formatCount), ...use(cpuCores, memoryBytes)],
      ...sidecars.map((each) => [`sidecar ${each.name}`, '', '', ...use(each.cpuCores, each.memoryBytes)]),
    ]),
  };
}

function trialRow(trial: Trial, item: CaseRecord): TrialRow {
  const { key, round, startedAt, loaderCommands } = trial;
  const begin = [String(round + 1), startedAt.slice(11, 19)];
  const commands = loaderCommands.map(shellCommand);
  if (trial.status === 'failed') {
    const { code, message, fix, evidence } = trial.failure;
    return {
      key,
      cells: begin,
      failure: { code, text: `${message} ${fix}`, evidence },
      commands,
      parts: null,
    };
  }
  const { metrics, load, instanceObservations } = trial;
  return {
    key,
    cells: [
      ...begin,
      formatQps(metrics.qps),
      orNone(metrics.latencySeconds, formatTime),
      orNone(metrics.cpuSecondsPerQuery, formatTime),
      orNone(metrics.cpuCores, (cores) => formatFixed(cores, 2)),
      orNone(metrics.memoryBytes, formatBytes),
      orNone(throttledShare(trial.server), formatThrottled),
      formatCount(load.queriesLost),
      trial.limitedBy,
      remarks(trial, item),
    ],
    failure: null,
    commands,
    parts: instanceObservations === null ? null : partsTable(instanceObservations),
  };
}

export function casesBlock(record: RunRecord, definition: DeltaDefinition): CasesBlock {
  const trials = Map.groupBy(record.trials, ({ caseKey }) => caseKey);
  const groups = groupCases(record);
  const marksByKey = new Map(
    groups.flatMap(({ cases }) =>
      cases.map((item) => [item.key, marksOfCase(record, item, okTrialsOf(record, item))] as const),
    ),
  );
  const columns = columnsOf(record, definition, marksByKey);
  const twins = record.cases.filter(({ aa }) => aa);
  const row = (item: CaseRecord, group: string): CasesBlock['rows'][number] => ({
    series: item.server,
    title: serverTitle(record, item.server),
    group,
    filters: item.aa
      ? {}
      : {
          tier: formatCpus(item.tier),
          mode: item.mode,
          workload: item.workload,
          transport: item.transport,
          rate: rateOf(item),
          verdict: shownOf(item, record, 'qps')?.verdict ?? '',
        },
    cells: item.aa ? [] : columns.map(({ cell }) => cell(item)),
    trials: (trials.get(item.key) ?? [])
      .toSorted((a, b) => a.round - b.round)
      .map((trial) => trialRow(trial, item)),
  });
  const marks = new Map([...marksByKey.values()].flat().map((mark) => [mark.explanation, mark]));
  return {
    kind: 'cases',
    columns: columns.map(({ title, tip, isNumber }) => ({ title, tip, isNumber })),
    trialColumns: TRIAL_COLUMNS,
    rows: [
      ...groups.flatMap(({ title, cases }) => cases.map((item) => row(item, title))),
      ...twins.map((item) => row(item, 'Noise floor (A/A)')),
    ],
    legend: [...marks.values()].map((mark) => [markText(mark), mark.explanation]),
  };
}
