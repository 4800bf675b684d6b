/** A capacity plan as text for a terminal of 80 columns. Pure. */
import { wrapText } from '../../text.ts';
import { isQuantity, limitText } from './plan.ts';
import type { CapacityPlan, Figure } from './plan-record.ts';

const count = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

function figureText(figure: Figure): string {
  const { value, unit } = figure;
  if (isQuantity(figure)) return limitText(value);
  return unit === 'objects' || unit === 'replicas' ? count.format(value) : `${count.format(value)} ${unit}`;
}

const INDENT = '  ';

/** `steady memory   69.82 MB`, and below it where it comes from. */
function figureLines(figures: readonly Figure[], columns: number): string[] {
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures.flatMap((figure) => [
    `${figure.name.padEnd(width)}  ${figureText(figure)}`,
    ...wrapText(figure.basis, columns - 4).map((line) => `${INDENT}${INDENT}${line}`),
  ]);
}

export function renderPlan(plan: CapacityPlan, columns: number): string {
  const verdicts = plan.verdicts.flatMap(({ about, fit, because }) =>
    wrapText(`${about}: ${fit}: ${because}`, columns - 2).map((line, index) =>
      index === 0 ? `• ${line}` : INDENT + line,
    ),
  );
  const notes = plan.notes.flatMap((note) =>
    wrapText(note, columns - 2).map((line, index) => (index === 0 ? `† ${line}` : INDENT + line)),
  );
  const title = `CoreDNS, ${plan.configuration === 'autopath' ? 'with autopath (pods verified)' : 'default configuration'}`;
  return [title, '', ...figureLines(plan.figures, columns), '', ...verdicts, '', ...notes, ''].join('\n');
}
