/** Published figures and ours side by side, as a document. Pure. */
import { interval } from '../../../engine/words.ts';
import { publishedRecord } from '../../../history/published.ts';
import type { ReproducedCondition } from '../../../history/reproduce/conditions.ts';
import { conditionsSection, VERDICT_TONES } from '../../../history/reproduce/document.ts';
import { type Judgement, judgementText, VERDICT_EXPLANATION } from '../../../history/reproduce/procedure.ts';
import { answer, list, numbers, type ReportDocument, table } from '../../../report/document/document.ts';
import { formatCount, formatFixed, formatTime } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import { kilobytesEach, megabytes } from '../figures.ts';
import { type CapacityPublication, hasKubeDns } from './publications.ts';
import type { OurFigure, ReproducedRow, Sources, Unit } from './rows.ts';

const SHOW: Readonly<Record<Unit, (value: number) => string>> = {
  'lookups/s': formatCount,
  'queries/s': formatCount,
  seconds: formatTime,
  bytes: (value) => `${megabytes(value)} MB`,
  'bytes an object': kilobytesEach,
  ratio: (value) => formatFixed(value, 2),
};

function verdictCell(judgement: Judgement | null | undefined) {
  return judgement == null ? '–' : { text: judgementText(judgement), tone: VERDICT_TONES[judgement.verdict] };
}

/** Newest first, as far as they are numbers. */
const newestFirst = (columns: readonly string[]) =>
  [...new Set(columns)].toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));

/** Titles of columns: the version, with the tier where there are several. */
function columnNames(all: readonly OurFigure[]): (figure: OurFigure) => string {
  const isOne = new Set(all.map(({ tier }) => tier)).size < 2;
  return ({ version, tier }) =>
    isOne || tier === undefined ? version : `${version} at ${counted(tier, 'CPU')}`;
}

/** With verdicts where there are any. */
function sectionOf(title: string, rows: readonly ReproducedRow[]): ReportDocument['sections'][number] {
  const all = rows.flatMap(({ ours }) => ours);
  const columnOf = columnNames(all);
  const columns = newestFirst(all.map(columnOf));
  const hasVerdicts = all.some(({ judgement }) => judgement !== null);
  const cellsOf = ({ unit, ours }: ReproducedRow, column: string) => {
    const figure = ours.find((each) => columnOf(each) === column);
    const text = interval(figure ?? null, SHOW[unit]);
    return hasVerdicts ? [text, verdictCell(figure?.judgement)] : [text];
  };
  return {
    title,
    blocks: [
      table(
        title,
        [
          'figure',
          ...numbers('published'),
          ...columns.flatMap((column) => [
            ...numbers(`ours, ${column} [95 %]`),
            ...(hasVerdicts ? ['verdict'] : []),
          ]),
        ],
        rows.map((row) => [
          row.name,
          SHOW[row.unit](row.published),
          ...columns.flatMap((column) => cellsOf(row, column)),
        ]),
      ),
    ],
  };
}

/** One line for each command that would measure what is missing. */
export function missingLines(rows: readonly ReproducedRow[]): string[] {
  const missing = rows.filter(({ ours }) => ours.length === 0);
  const byCommand = Map.groupBy(missing, ({ command }) => command);
  return [...byCommand].map(([command, own]) =>
    command === null
      ? `Not measured by bench: ${own.map(({ name }) => name).join('; ')}.`
      : `${formatCount(own.length)} of ${formatCount(rows.length)} figures ${own.length === 1 ? 'is' : 'are'} missing: ${command}`,
  );
}

const SAME =
  'As published, ours has 100 lookups in flight, the same search list of four domains, ndots 5, and asks for type A only.';

const NOTES: Readonly<Record<CapacityPublication, readonly string[]>> = {
  scaling: [
    'Published for CoreDNS 1.2.5 on n1-standard-2 (2 vCPUs), in 2018. Absolute figures are those of another machine: a difference is no verdict. Ratios have one.',
    'Published points are the maximum memory of CoreDNS 1.2.4 and 1.2.5, without cache and load: beside them stands the most that ours needed before its cache was filled. The formula, which includes a full cache and 30,000 queries a second, stands beside our memory under load.',
    'The published autopath formula divides by 250. Its own points give 400, and so do the 0.0025 MB for each object of another revision: 250 looks like an arithmetic slip.',
    'A full cache is 10,000 entries there; ours holds as many positive and as many negative answers.',
    SAME,
  ],
  'kube-dns': [
    'Published for kube-dns of Kubernetes 1.12 and CoreDNS 1.2.5 on n1-standard-2 (2 vCPUs), in 2018. Absolute figures are those of another machine: a difference is no verdict. Ratios have one.',
    'Answers come from the cache, as far as the tier keeps them.',
    SAME,
  ],
};

const IN_ITS_PLACE =
  "Ours is not kube-dns, but its caching tier: Debian's dnsmasq with kube-dns's flags, in front of a CoreDNS backend.";

/** Where the servers may do more than the figures of lookups say. */
function boundWarnings({ throughput, caching }: Sources): string[] {
  return Object.entries({ throughput, caching }).flatMap(([what, record]) => {
    const ok = record?.cases.reduce((sum, { trials }) => sum + trials.ok, 0) ?? 0;
    const bound = record?.cases.reduce((sum, { bounds }) => sum + (bounds.lookups ?? 0), 0) ?? 0;
    return bound === 0
      ? []
      : [
          `In ${formatCount(bound)} of ${formatCount(ok)} trials of ${what}, the server's CPU was not the limit: lookups a second are lower bounds, and ratios of them have no verdict but "cannot tell".`,
        ];
  });
}

export function capacityReproduction(
  name: CapacityPublication,
  sources: Sources,
  rows: readonly ReproducedRow[],
  conditions: readonly ReproducedCondition[],
): ReportDocument {
  const { facts } = publishedRecord(name);
  const found = rows.filter(({ ours }) => ours.length > 0).length;
  const runs = Object.entries(sources).map(
    ([what, { id, startedAt }]) => `${what}: run ${id}, ${startedAt.slice(0, 10)}`,
  );
  const missing = missingLines(rows);
  const inItsPlace = name === 'scaling' || hasKubeDns(sources) ? [] : [IN_ITS_PLACE];
  return answer({
    kind: 'Reproduction',
    title: `${facts.title}${facts.date === null ? '' : ` (${facts.date})`}, beside ours`,
    headline: `${found} of ${rows.length} published figures and ratios beside ours.`,
    facts: runs.length === 0 ? ['no run'] : runs,
    warnings: boundWarnings(sources),
    sections: [
      ...[...Map.groupBy(rows, ({ section }) => section)].map(([title, own]) => sectionOf(title, own)),
      { title: 'Missing figures, and the commands that measure them', blocks: [list(missing)] },
      conditionsSection(Object.keys(sources), conditions),
      { title: 'How to read them', blocks: [list([VERDICT_EXPLANATION, ...NOTES[name], ...inItsPlace])] },
    ],
  });
}
