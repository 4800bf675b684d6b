/** Published ratios beside measured ones, as a document. Pure. */
import {
  answer,
  list,
  numbers,
  type ReportDocument,
  type Section,
  type Tone,
  table,
  text,
} from '../../report/document/document.ts';
import { showFigure } from '../../report/estimand.ts';
import { formatCpus, formatDelta, formatFixed } from '../../report/numbers.ts';
import { METRIC_NAMES } from '../../stats/metrics.ts';
import { comparedEstimand } from '../entry.ts';
import type { ReproducedCondition } from './conditions.ts';
import {
  type Cell,
  judgementText,
  REPRODUCTION_VERDICTS,
  type Reproduction,
  type ReproductionVerdict,
  VERDICT_EXPLANATION,
} from './procedure.ts';

const NOTHING = '–';

const EXPLANATION = `${VERDICT_EXPLANATION} †: something other than the server limited a figure of ours. Each interval is that of one comparison: of 20 true ratios, about one is missed.`;

export const VERDICT_TONES: Readonly<Record<ReproductionVerdict, Tone>> = {
  reproduced: 'good',
  contradicted: 'bad',
  'same direction': 'warn',
  'cannot tell': 'even',
  'too few trials': 'even',
  'not measured': 'even',
};

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
  const { ratio, low, high, isBound } = measured;
  const ends = low === null || high === null ? '' : ` ${intervalText(low, high)}`;
  return `${ratioText(ratio)}${ends}${isBound ? ' †' : ''}`;
}

/** `3 reproduced, 8 in the same direction, 2 contradicted`: what there is none of is omitted. */
function countsText({ counts, cells }: Reproduction): string {
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

const nameOf = ({ title, metric }: Cell) => `${title}: ${METRIC_NAMES[metric]}`;

/** Cells with one tier and one baseline, which stand in the heading and not in every row. */
function sectionsOf({ cells }: Reproduction): Section[] {
  const headingOf = ({ tier, baselineTitle }: Cell) =>
    `${tier === null ? 'Relative' : `${formatCpus(tier)} vCPU, relative`} to ${baselineTitle}`;
  return [...Map.groupBy(cells, headingOf)].map(([title, members]) => ({
    title,
    blocks: [
      table(
        title,
        ['', ...numbers('published', 'ours [95 %]'), 'verdict'],
        members.map((cell) => [
          nameOf(cell),
          ratioText(cell.published.ratio),
          oursText(cell),
          { text: judgementText(cell), tone: VERDICT_TONES[cell.verdict] },
        ]),
      ),
    ],
  }));
}

/** The figures behind the ratios. */
function figuresSection({ cells, publication }: Reproduction): Section {
  const title = 'Figures';
  const show = ({ metric }: Cell, value: number) => showFigure(comparedEstimand(metric), value);
  return {
    title,
    isBrief: false,
    blocks: [
      table(
        title,
        ['', ...numbers('published', 'Δ as printed', 'ours')],
        cells.map((cell) => [
          `${cell.tier === null ? '' : `${formatCpus(cell.tier)} vCPU, `}${nameOf(cell)}`,
          show(cell, cell.published.value),
          cell.published.delta === null ? NOTHING : formatDelta(cell.published.delta),
          cell.measured === null ? NOTHING : show(cell, cell.measured.value),
        ]),
      ),
      text(
        `"Δ as printed" is the publication's own percentage (${publication.delta}); ratios are row ÷ baseline, ours of medians over paired trials.`,
      ),
    ],
  };
}

export function conditionsSection(
  runs: readonly string[],
  conditions: readonly ReproducedCondition[],
): Section {
  const title = runs.length === 0 ? 'Conditions of the publication' : 'Conditions that differ';
  const same = conditions.filter(({ isSame }) => isSame).map(({ name }) => name);
  return {
    title,
    blocks: [
      table(
        title,
        ['condition', 'published', ...runs],
        conditions
          .filter(({ isSame }) => isSame !== true)
          .map(({ name, published, ours }) => [name, published, ...ours.map((said) => said ?? NOTHING)]),
      ),
      text(same.length === 0 ? '' : `The same: ${same.join(', ')}.`),
    ],
  };
}

export function reproductionDocument(result: Reproduction): ReportDocument {
  const { publication, run, notes } = result;
  const date = publication.date === null ? '' : ` (${publication.date})`;
  return answer({
    kind: 'Reproduction',
    title: `${publication.title}${date}, beside run ${run}`,
    headline: countsText(result),
    facts: [publication.url ?? publication.name],
    sections: [
      ...sectionsOf(result),
      figuresSection(result),
      conditionsSection(
        ['ours'],
        result.conditions.map((condition) => ({ ...condition, ours: [condition.run] })),
      ),
      { title: 'How to read them', blocks: [text(EXPLANATION), list(notes)] },
    ],
  });
}
