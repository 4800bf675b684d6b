/** Published figures and ours side by side, as a document. Pure. */
import { publishedRecord } from '../../../history/published.ts';
import { VERDICT_TONES } from '../../../history/reproduce/document.ts';
import { judgementText, VERDICT_EXPLANATION } from '../../../history/reproduce/procedure.ts';
import { answer, list, type ReportDocument, table } from '../../../report/document/document.ts';
import { formatCount, formatFixed, formatTime } from '../../../report/numbers.ts';
import { kilobytesEach, megabytes, withInterval } from '../figures.ts';
import type { CapacityPublication } from './publications.ts';
import type { OurFigure, ReproducedRow, Sources, Unit } from './rows.ts';

const SHOW: Readonly<Record<Unit, (value: number) => string>> = {
  'lookups/s': formatCount,
  'queries/s': formatCount,
  seconds: formatTime,
  bytes: (value) => `${megabytes(value)} MB`,
  'bytes an object': kilobytesEach,
  ratio: (value) => formatFixed(value, 2),
};

function cellOf({ unit }: ReproducedRow, figure: OurFigure | undefined) {
  if (figure === undefined) return '–';
  const text = withInterval(figure, SHOW[unit]);
  const { judgement } = figure;
  return judgement === null
    ? text
    : { text: `${text}: ${judgementText(judgement)}`, tone: VERDICT_TONES[judgement.verdict] };
}

/** Newest first, as far as they are numbers. */
const newestFirst = (versions: readonly string[]) =>
  [...new Set(versions)].toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));

function sectionOf(title: string, rows: readonly ReproducedRow[]): ReportDocument['sections'][number] {
  const versions = newestFirst(rows.flatMap(({ ours }) => ours.map(({ version }) => version)));
  return {
    title,
    blocks: [
      table(
        title,
        [
          { title: '' },
          { title: 'Published', isNumber: true },
          ...versions.map((version) => ({ title: `Ours, ${version} [95 %]`, isNumber: true })),
        ],
        rows.map((row) => [
          row.name,
          SHOW[row.unit](row.published),
          ...versions.map((version) =>
            cellOf(
              row,
              row.ours.find((figure) => figure.version === version),
            ),
          ),
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

const NOTES: Readonly<Record<CapacityPublication, readonly string[]>> = {
  scaling: [
    'Published for CoreDNS 1.2.5 on n1-standard-2 (2 vCPUs), in 2018. Absolute figures are those of another machine: a difference is no verdict. Ratios have one.',
    'Published points are the maximum memory of CoreDNS 1.2.4 and 1.2.5, without cache and load: beside them stands the most that ours needed before its cache was filled. The formula, which includes a full cache and 30,000 queries a second, stands beside our memory under load.',
    'The published autopath formula divides by 250. Its own points give 400, and so do the 0.0025 MB for each object of another revision: 250 looks like an arithmetic slip.',
    'A full cache is 10,000 entries there; ours holds as many positive and as many negative answers.',
  ],
  'kube-dns': [
    'Published for kube-dns of Kubernetes 1.12 and CoreDNS 1.2.5 on n1-standard-2 (2 vCPUs), in 2018. Absolute figures are those of another machine: a difference is no verdict. Ratios have one.',
    'Ours is not kube-dns, but its caching tier: Debian’s dnsmasq with kube-dns’s flags, in front of a CoreDNS backend. Answers come from the cache, as far as the tier keeps them.',
  ],
};

function runsOf({ memory, throughput, caching }: Sources): string[] {
  const records = { memory, throughput, caching };
  return Object.entries(records).flatMap(([what, record]) =>
    record === undefined ? [] : [`${what}: run ${record.id}, ${record.startedAt.slice(0, 10)}`],
  );
}

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
): ReportDocument {
  const { facts } = publishedRecord(name);
  const found = rows.filter(({ ours }) => ours.length > 0).length;
  const runs = runsOf(sources);
  const missing = missingLines(rows);
  return answer({
    kind: 'Reproduction',
    title: `${facts.title}${facts.date === null ? '' : ` (${facts.date})`}, beside ours`,
    headline: `${found} of ${rows.length} published figures and ratios beside ours.`,
    facts: runs.length === 0 ? ['no run'] : runs,
    warnings: boundWarnings(sources),
    sections: [
      ...[...Map.groupBy(rows, ({ section }) => section)].map(([title, own]) => sectionOf(title, own)),
      ...(missing.length === 0
        ? []
        : [{ title: 'Missing figures, and the commands that measure them', blocks: [list(missing)] }]),
      { title: 'How to read them', blocks: [list([VERDICT_EXPLANATION, ...NOTES[name]])] },
    ],
  });
}
