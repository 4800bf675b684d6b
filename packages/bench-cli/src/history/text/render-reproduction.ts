/** Published ratios beside measured ones: as text for a terminal, and as Markdown. Pure. */
import type { Ansis } from 'ansis';
import { blocks, bullets, plain, table } from '../../report/markdown-text.ts';
import { formatCpus, formatDelta, formatFixed } from '../../report/numbers.ts';
import { METRIC_NAMES } from '../../stats/metrics.ts';
import { wrapText } from '../../text.ts';
import { comparedEstimand } from '../entry.ts';
import {
  type Cell,
  judgementText,
  REPRODUCTION_VERDICTS,
  type Reproduction,
  type ReproductionVerdict,
  VERDICT_EXPLANATION,
} from '../reproduce/procedure.ts';
import { columnsOf, formatFigure } from './words.ts';

type Paint = InstanceType<typeof Ansis>;

const NOTHING = '–';

const EXPLANATION = `${VERDICT_EXPLANATION} Each interval is that of one comparison: of 20 true ratios, about one is missed.`;

/** Three decimals: a published difference of 0.1 % shows. */
function ratioText(ratio: number): string {
  return formatFixed(ratio, 3);
}

function intervalText(low: number, high: number): string {
  // Outwards, so that the text never claims more than the figures.
  return `[${formatFixed(Math.floor(low * 1000) / 1000, 3)}, ${formatFixed(Math.ceil(high * 1000) / 1000, 3)}]`;
}

function oursText({ measured }: Cell): string {
  if (measured === null) return NOTHING;
  const { ratio, low, high } = measured;
  return low === null || high === null ? ratioText(ratio) : `${ratioText(ratio)} ${intervalText(low, high)}`;
}

/** `3 reproduced, 8 in the same direction, 2 contradicted`: what there is none of is omitted. */
export function countsText({ counts, cells }: Reproduction): string {
  const words: Readonly<Record<ReproductionVerdict, string>> = {
    reproduced: 'reproduced',
    'cannot tell': 'that our intervals cannot tell',
    'same direction': 'in the same direction',
    contradicted: 'contradicted',
    'too few trials': 'with too few trials',
    'not measured': 'not measured',
  };
  const parts = REPRODUCTION_VERDICTS.flatMap((verdict) =>
    counts[verdict] === 0 ? [] : [`${counts[verdict]} ${words[verdict]}`],
  );
  return `Of ${cells.length} published ratios: ${parts.join(', ')}.`;
}

interface Section {
  readonly heading: string;
  readonly cells: readonly Cell[];
}

/** Cells with one tier and one baseline, which stand in the heading and not in every row. */
function sectionsOf({ cells }: Reproduction): Section[] {
  const headingOf = ({ tier, baselineTitle }: Cell) =>
    `${tier === null ? '' : `${formatCpus(tier)} vCPU, `}relative to ${baselineTitle}`;
  return [...Map.groupBy(cells, headingOf)].map(([heading, members]) => ({ heading, cells: members }));
}

function paintVerdict(verdict: ReproductionVerdict, text: string, paint: Paint): string {
  switch (verdict) {
    case 'reproduced':
      return paint.green(text);
    case 'contradicted':
      return paint.red(text);
    case 'same direction':
      return paint.yellow(text);
    default:
      return paint.dim(text);
  }
}

function titleOf({ publication }: Reproduction): string {
  const date = publication.date === null ? '' : ` (${publication.date})`;
  return `${publication.title}${date}`;
}

function hanging(text: string, columns: number): string[] {
  return wrapText(`• ${text}`, columns - 2).map((line, index) => (index === 0 ? line : `  ${line}`));
}

function tableLines(result: Reproduction, columns: number, paint: Paint): string[] {
  const sections = sectionsOf(result);
  const rows = sections.flatMap(({ cells }) =>
    cells.flatMap((cell) => [
      [METRIC_NAMES[cell.metric], ratioText(cell.published.ratio), oursText(cell), judgementText(cell)],
    ]),
  );
  const [head = '', ...rest] = columnsOf([['', 'published', 'ours [95 %]', 'verdict'], ...rows], 3, [0, 3]);
  let used = 0;
  const body = sections.flatMap(({ heading, cells }) => {
    const byTitle = [...Map.groupBy(cells, ({ title }) => title)];
    const lines = byTitle.flatMap(([title, members]) => [
      ...wrapText(`  ${title}`, columns),
      ...members.map((cell) => {
        const line = rest[used++] ?? '';
        const text = judgementText(cell);
        return `    ${line.slice(0, line.length - text.length)}${paintVerdict(cell.verdict, text, paint)}`;
      }),
    ]);
    return ['', paint.bold(heading), ...lines];
  });
  return [paint.dim(`    ${head}`), ...body];
}

/** For a terminal of `columns`; the table itself takes about 70. */
export function renderReproduction(result: Reproduction, columns: number, paint: Paint): string {
  const different = result.conditions.filter(({ isSame }) => !isSame);
  const same = result.conditions.length - different.length;
  return [
    ...wrapText(`Published: ${titleOf(result)}. Ours: run ${result.run}.`, columns),
    ...wrapText(countsText(result), columns).map((line) => paint.bold(line)),
    '',
    ...tableLines(result, columns, paint),
    '',
    ...wrapText(EXPLANATION, columns).map((line) => paint.dim(line)),
    '',
    paint.bold('What differs in the conditions (published → ours):'),
    ...different.flatMap(({ name, published, run }) =>
      hanging(`${name}: ${published} → ${run ?? 'not recorded'}`, columns),
    ),
    ...(same === 0
      ? []
      : [
          `  The same: ${result.conditions
            .filter(({ isSame }) => isSame)
            .map(({ name }) => name)
            .join(', ')}.`,
        ]),
    '',
    ...result.notes.flatMap((note) => hanging(note, columns)).map((line) => paint.dim(line)),
    '',
  ].join('\n');
}

function markdownSection({ heading, cells }: Section): string {
  const rows = cells.map((cell) => {
    const { published, measured, metric, verdict, title } = cell;
    const ours = measured === null ? NOTHING : formatFigure(comparedEstimand(metric), measured.value);
    return [
      plain(title),
      METRIC_NAMES[metric],
      formatFigure(comparedEstimand(metric), published.value),
      published.delta === null ? NOTHING : formatDelta(published.delta),
      ratioText(published.ratio),
      ours,
      oursText(cell),
      verdict === 'reproduced' || verdict === 'contradicted' ? `**${judgementText(cell)}**` : verdict,
    ];
  });
  return blocks(
    `### ${plain(heading.slice(0, 1).toUpperCase() + heading.slice(1))}`,
    table(
      ['', 'Figure', 'Published', 'Δ as printed', 'Ratio', 'Ours', 'Our ratio [95 %]', 'Verdict'],
      rows,
      [1, 7],
    ),
  );
}

export function reproductionMarkdown(result: Reproduction): string {
  const { publication, conditions, notes } = result;
  const source = publication.url === null ? '' : ` <${publication.url}>`;
  return `${blocks(
    `# ${plain(titleOf(result))}, measured again`,
    `Published results${source} beside run \`${result.run}\`. ${countsText(result)}`,
    ...sectionsOf(result).map(markdownSection),
    plain(EXPLANATION),
    `"Δ as printed" is the publication's own percentage (${publication.delta}); ratios are row ÷ baseline, ours of medians over paired trials.`,
    '## Conditions',
    table(
      ['', 'Published', 'Ours'],
      conditions.map(({ name, published, run, isSame }) => [
        plain(name),
        plain(published),
        isSame ? 'the same' : plain(run ?? 'not recorded'),
      ]),
      [1, 2],
    ),
    notes.length === 0 ? '' : blocks('## Notes', bullets(notes.map(plain))),
  )}\n`;
}
