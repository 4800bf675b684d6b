/** A gate's outcome: a paragraph for a terminal, Markdown for a pull request. Pure. */
import { percentText } from '../../config/value-schemas.ts';
import { blocks, folded, plain, table, unaddressed } from '../../report/markdown-text.ts';
import { formatFixed, formatOutwards, formatP } from '../../report/numbers.ts';
import { wrapText } from '../../text.ts';
import { allowsForOthers } from '../compare.ts';
import { isOfMachine } from '../differences.ts';
import type { Gate, GatedCase } from '../gate.ts';

/** "5.2 % worse (95 % interval 3.4–7.1 % worse)" */
function howMuch({ regression, low, high }: GatedCase): string {
  if (regression === null) return 'no figure';
  const word = regression >= 0 ? 'worse' : 'better';
  const size = `${formatFixed(Math.abs(regression) * 100, 1)} % ${word}`;
  if (low === null || high === null) return `${size}, without an interval`;
  return `${size} (95 % interval ${range(low, high)})`;
}

function range(low: number, high: number): string {
  const ends = formatOutwards(low * 100, high * 100, 0);
  const end = (text: string) => {
    if (Number.parseFloat(text) === 0) return 'no change';
    return text.startsWith('-') ? `${text.slice(1)} % better` : `${text} % worse`;
  };
  return `from ${end(ends.low)} to ${end(ends.high)}`;
}

type Names = (item: GatedCase) => string;

/** `mean latency of dinodns, tier 1` */
function namesIn({ comparison }: Gate): Names {
  const titles = new Map(comparison.estimands.map(({ name, title }) => [name, title]));
  return ({ metric, label }) => `${titles.get(metric) ?? metric} of ${label}`;
}

/** `at most 3% worse`; of several tolerances, each with its figure. */
function toleranceText({ cases }: Gate): string {
  const limits = new Map(cases.map(({ metric, maxRegression }) => [metric, percentText(maxRegression)]));
  const [first = '', ...others] = new Set(limits.values());
  if (others.length === 0) return `at most ${first} worse`;
  return [...limits].map(([metric, limit]) => `${metric} at most ${limit} worse`).join(', ');
}

/** Maximum number of cases in the paragraph; the table has all. */
const MAX_NAMED = 4;

function list(cases: readonly GatedCase[], name: Names): string {
  const shown = cases.slice(0, MAX_NAMED).map((item) => {
    const p =
      item.outcome === 'failed' && item.adjustedPValue !== null ? `, p ${formatP(item.adjustedPValue)}` : '';
    return item.missing === null ? `${name(item)} is ${howMuch(item)}${p}` : `${name(item)}: ${item.missing}`;
  });
  const more = cases.length > shown.length ? `; and ${cases.length - shown.length} more` : '';
  return `${shown.join('; ')}${more}`;
}

function advice(cases: readonly GatedCase[]): string {
  const needed = Math.max(0, ...cases.map(({ trialsNeeded }) => trialsNeeded ?? 0));
  return needed > 0
    ? ` About ${needed} trials on either side would tell, if they scatter like these.`
    : ' Measure with more --trials on either side.';
}

/** The reason in one paragraph. Says no more than the intervals allow. */
export function gateReason(gate: Gate): string {
  const { comparison, outcome } = gate;
  const name = namesIn(gate);
  const { candidate, reference, paired } = comparison;
  // The labels of its cases name both servers.
  const runs = paired ? `run ${candidate}` : `run ${candidate} against run ${reference}`;
  const by =
    comparison.normalizedBy === null ? '' : `, relative to ${comparison.normalizedBy} of the same run`;
  const of = (wanted: GatedCase['outcome']) => gate.cases.filter((item) => item.outcome === wanted);
  const unknown = of('not enough trials');
  const machine = comparison.differences.filter(isOfMachine).map((difference) => difference.name);
  const warning =
    machine.length === 0 ? '' : ` The environments differ in ${machine.join(', ')}: that may be the reason.`;
  const allowed = allowsForOthers(comparison) ? ', after allowing for what other programs took' : '';
  const head = `${runs}${by}${allowed}, tolerance: ${toleranceText(gate)}`;
  if (outcome === 'failed') {
    const also =
      unknown.length === 0
        ? ''
        : ` ${unknown.length} further ${unknown.length === 1 ? 'figure is' : 'figures are'} undecided.`;
    return `Failed: ${head}; ${list(of('failed'), name)}. The interval leaves out the tolerance.${also}${warning}`;
  }
  if (outcome === 'not enough trials') {
    return (
      `Not enough trials: ${head}. Nothing is shown to be worse than that, but it cannot be ruled out: ` +
      `${list(unknown, name)}.${advice(unknown)}${warning}`
    );
  }
  const worst = gate.cases.reduce((most, item) => ((item.high ?? 0) > (most.high ?? 0) ? item : most));
  return `Passed: ${head}. The farthest that an interval reaches: ${list([worst], name)}.${warning}`;
}

function row(item: GatedCase): string[] {
  return [item.label, item.metric, howMuch(item), item.trials.join(' / '), item.outcome];
}

export function renderGate(gate: Gate, columns: number): string {
  const lines = gate.cases.flatMap((item) => {
    const [label = '', metric = '', much = '', trials = '', outcome = ''] = row(item);
    return wrapText(`• ${label}, ${metric}: ${much}; trials ${trials}; ${outcome}`, columns - 2).map(
      (line, index) => (index === 0 ? line : `  ${line}`),
    );
  });
  return [...wrapText(gateReason(gate), columns), '', ...lines, ''].join('\n');
}

const SIGNS = { passed: '✅', failed: '❌', 'not enough trials': '⚠️' } as const;

/** A comment for a pull request: the paragraph, a table, and other differences. */
export function renderGateMarkdown(gate: Gate): string {
  const { differences } = gate.comparison;
  const text = blocks(
    `### ${SIGNS[gate.outcome]} DNS benchmark: ${gate.outcome}`,
    plain(gateReason(gate)),
    table(
      ['Case', 'Figure', 'Change', 'Trials', ''],
      gate.cases.map((item) => row(item).map(plain)),
      [1, 2, 3, 4],
    ),
    differences.length === 0
      ? ''
      : folded(
          `Other differences between the runs (${differences.length})`,
          table(
            ['', 'reference', 'candidate'],
            differences.map(({ name, values }) =>
              [name, ...values].map((value) => plain(value ?? 'not recorded')),
            ),
            [1, 2],
          ),
        ),
  );
  return `${unaddressed(text)}\n`;
}
