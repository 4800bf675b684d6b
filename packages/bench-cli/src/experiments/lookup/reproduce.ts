/** `bench reproduce lookup`: tiger-bench's published sample beside a run of ours, or beside results of tiger-bench itself. */
import { textAt, valueAt } from '../../cluster-changes/json.ts';
import type { ImportedRecord } from '../../history/imported.ts';
import { publishedRecord } from '../../history/published.ts';
import type { ReproducedCondition } from '../../history/reproduce/conditions.ts';
import { conditionsSection } from '../../history/reproduce/document.ts';
import { figuresOf } from '../../import/tiger-bench.ts';
import { answer, code, list, numbers, type ReportDocument, table } from '../../report/document/document.ts';
import { formatCount, formatTime } from '../../report/numbers.ts';
import { DETAILS } from '../../tiger-bench/results-file.ts';
import { lookupDocument } from './document.ts';
import type { LookupRecord } from './evidence.ts';
import { type Overall, overallsOf } from './overall.ts';
import { type LookupSettings, type PlaceKind, placeKind, policyKind } from './settings.ts';
import { elementsOf } from './tiger/elements.ts';

/** Words by name, for example `Services` → `1000`. */
type Conditions = Readonly<Record<string, string>>;

/** For what a file leaves out, or does not know. */
const NOT_SAID = '–';

function words(element: unknown, pointer: string): string {
  const value = valueAt(element, pointer);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'number' ? String(value) : textAt(element, pointer);
  return text === '' || text === 'unknown' ? NOT_SAID : text;
}

/** A page without a path has one slash or none. */
const pageOf = (url: string) => url.replace(/(?<=^[a-z]+:\/\/[^/]+)\/$/, '');

const CLUSTER_MODE = 'with the mode of the cluster';

function policyOf(element: unknown): string {
  if (valueAt(element, '/config/DNSPerf/TestDNSPolicy') !== true) return 'none';
  const mode = textAt(element, '/config/DNSPerf/Mode');
  return mode === '' ? CLUSTER_MODE : mode;
}

const COMPARED = [
  ...(['NodeOS', 'NodeKernel', 'NodeArch', 'K8SVersion', 'CRIVersion', 'CNIOption'] as const),
  ...(['Dataplane', 'Encapsulation', 'Product', 'CalicoVersion'] as const),
];

/** @param element Of a results file: `config` and `ClusterDetails`. */
function conditionsOf(element: unknown): Conditions {
  const setting = (name: string) => words(element, `/config/${name}`);
  const detail = (name: string) => words(element, `/ClusterDetails/${name}`);
  const limit = setting('CalicoNodeCPULimit');
  const nodes = detail('NumNodes');
  return {
    page: pageOf(setting('DNSPerf/TargetURL')),
    seconds: setting('Duration'),
    Services: setting('NumServices'),
    'DNS policy': policyOf(element),
    stress: setting('DNSPerf/RunStress'),
    'CPU limit of calico-node': limit === NOT_SAID ? 'none' : limit,
    nodes: nodes === '0' ? NOT_SAID : nodes,
    ...Object.fromEntries(COMPARED.map((name) => [DETAILS[name].title, detail(name)])),
  };
}

/** A column beside the published one: a subject of a run, or a test of an imported file. */
interface Column {
  readonly title: string;
  /** By the names of the published figures; null where it was not measured. */
  readonly figures: Readonly<Record<string, number | null>>;
  readonly samplesPerMinute: number | null;
  readonly conditions: Conditions;
}

/** What stands beside the sample. */
export interface Reproducing {
  readonly id: string;
  readonly title: string;
  readonly startedAt: string;
  /** Makes it again; null for an imported file. */
  readonly command: string | null;
  readonly columns: readonly Column[];
}

/** A figure of the sample, and the same of each column; null where that does not have it. */
export interface ReproducedFigure {
  readonly name: string;
  readonly unit: 'seconds' | 'count';
  readonly published: number;
  readonly ours: readonly (number | null)[];
}

const TIMES = ['Min', 'Mean', 'P50', 'P75', 'P90', 'P99', 'Max'] as const;
const SECONDS_PER_MINUTE = 60;

/** A test of tiger-bench, or a subject of a run as one; its repeated packets count where packets were captured. */
function columnOf(
  title: string,
  element: unknown,
  figures: Column['figures'],
  isCaptured: boolean,
  samplesPerMinute: number | null,
  how: Conditions,
): Column {
  const uncounted = isCaptured ? {} : { duplicateSyns: null, duplicateSynAcks: null };
  return {
    ...{ title, samplesPerMinute },
    figures: { ...figures, ...uncounted },
    conditions: {
      ...conditionsOf(element),
      trials: '1',
      'packets captured': isCaptured ? 'yes' : 'no',
      ...how,
    },
  };
}

const SAMPLES: Readonly<Record<PlaceKind, string>> = {
  cluster: 'a turn of a loop in the pod',
  lab: 'a turn of a loop in a network namespace',
  machine: 'a turn of a loop on this machine',
};

/** What tiger-bench has no words for. */
function howOf(settings: LookupSettings, { subject: { policy }, trials }: Overall): Conditions {
  const kind = policyKind(settings);
  const place = placeKind(settings);
  return {
    trials: String(trials.ok + trials.failed),
    ...(kind === null ? {} : { 'DNS policy': kind === 'cilium' ? 'of Cilium' : (policy ?? CLUSTER_MODE) }),
    'a sample is': place === 'cluster' && settings.podPerSample ? 'a pod of its own' : SAMPLES[place],
  };
}

/** A run of ours. */
export function reproducingRun(record: LookupRecord): Reproducing {
  const { id, startedAt, command, settings } = record;
  const elements = elementsOf(record);
  return {
    ...{ id, startedAt, command },
    title: lookupDocument(record).title,
    columns: overallsOf(record).map((overall, index) => {
      const { title, repeated, samplesPerMinute } = overall;
      const element = elements[index];
      const figures = figuresOf(element?.dnsperf ?? {});
      return columnOf(title, element, figures, repeated !== null, samplesPerMinute, howOf(settings, overall));
    }),
  };
}

/** Tests of tiger-bench, imported or published; undefined for a record of another program. */
export function reproducingImport({ id, importedAt, cases }: ImportedRecord): Reproducing | undefined {
  const columns = cases.flatMap(({ key, trials }) =>
    trials.flatMap(({ figures = {}, original, failure, durationSeconds }): Column[] => {
      if (original === undefined || failure !== null) return [];
      // It captures packets with a DNS policy only.
      const isCaptured = conditionsOf(original)['DNS policy'] !== 'none';
      const samples = (figures.successfulCurls ?? 0) + (figures.failedCurls ?? 0);
      const pace = durationSeconds === null ? null : (samples / durationSeconds) * SECONDS_PER_MINUTE;
      const how = { 'a sample is': 'an exec into the pod' };
      return [columnOf(key, original, figures, isCaptured, pace, how)];
    }),
  );
  if (columns.length === 0) return undefined;
  return { id, startedAt: importedAt, command: null, title: `results of tiger-bench (${id})`, columns };
}

const COUNTS = [
  ['samples that succeeded', 'successfulCurls'],
  ['samples that failed', 'failedCurls'],
  ['repeated SYNs', 'duplicateSyns'],
  ['repeated SYN-ACKs', 'duplicateSynAcks'],
] as const;

function publishedColumn(): Column {
  const column = reproducingImport(publishedRecord('lookup').record)?.columns[0];
  if (column === undefined) throw new Error('the published sample has no figures');
  return column;
}

/** Every figure of the published sample, with those of each column. */
export function reproducedFigures({ columns }: Reproducing): ReproducedFigure[] {
  const published = publishedRecord('lookup').record.cases[0]?.trials[0]?.figures ?? {};
  const figure = (name: string, unit: ReproducedFigure['unit'], key: string): ReproducedFigure[] => {
    const value = published[key];
    const ours = columns.map(({ figures }) => figures[key] ?? null);
    return value === undefined ? [] : [{ name, unit, published: value, ours }];
  };
  return [
    ...(['lookup', 'connect'] as const).flatMap((phase) =>
      TIMES.flatMap((time) => figure(`${phase} ${time.toLowerCase()}`, 'seconds', `${phase}${time}Seconds`)),
    ),
    ...COUNTS.flatMap(([name, key]) => figure(name, 'count', key)),
  ];
}

/** Settings and cluster of the sample, with those of each column. */
export function reproducedConditions({ columns }: Reproducing): ReproducedCondition[] {
  return Object.entries(publishedColumn().conditions).map(([name, published]) => {
    const ours = columns.map(({ conditions }) => conditions[name] ?? NOT_SAID);
    const isSame = ours.includes(NOT_SAID) ? null : ours.every((value) => value === published);
    return { name, published, ours, isSame };
  });
}

function valueText(unit: ReproducedFigure['unit'], value: number | null): string {
  if (value === null) return NOT_SAID;
  return unit === 'seconds' ? formatTime(value) : formatCount(value);
}

const NOTES = [
  'The published sample: 104 runs of curl in 60 s from one pod of one node. Each run was started by exec into the pod, which set the pace.',
  'The published times are of another network and another resolver, so a difference from them is no verdict.',
  "Repeated packets by tiger-bench's own rule, on both sides. It captures packets with a DNS policy only: the zeros of the sample, which had none, were not counted.",
];

/** The published sample and what stands beside it. */
export function reproductionDocument(reproducing: Reproducing): ReportDocument {
  const { id, startedAt, title, command, columns } = reproducing;
  const titles = columns.map((column) => column.title);
  const figures = reproducedFigures(reproducing);
  const rows = figures.map(({ name, unit, published, ours }) => [
    name,
    valueText(unit, published),
    ...ours.map((value) => valueText(unit, value)),
  ]);
  const pace = [publishedColumn(), ...columns].map(({ samplesPerMinute }) =>
    valueText('count', samplesPerMinute),
  );
  const conditions = reproducedConditions(reproducing);
  const differing = conditions.filter(({ isSame }) => isSame === false).length;
  return answer({
    kind: 'Reproduction',
    title: `tiger-bench dnsperf, the sample of its documentation, beside ${title}`,
    headline: `${figures.length} published figures beside those of ${command === null ? '' : 'run '}${id}; ${differing} of ${conditions.length} conditions differ.`,
    facts: [startedAt.slice(0, 10), id],
    sections: [
      {
        title: 'Figures',
        blocks: [
          table(
            'Published and measured',
            ['figure', ...numbers('published', ...titles)],
            [...rows, ['samples a minute and pod', ...pace]],
          ),
        ],
      },
      conditionsSection(titles, conditions),
      { title: 'How to read them', blocks: [list(NOTES)] },
      ...(command === null ? [] : [{ title: 'Again', isBrief: false, blocks: [code(command)] }]),
    ],
  });
}
