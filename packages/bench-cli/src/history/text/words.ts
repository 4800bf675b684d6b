/** How figures and names are written in the history's texts. */
import { type EstimandFacts, showFigure } from '../../report/estimand.ts';
import { formatFixed, formatOutwards, signed } from '../../report/numbers.ts';

/** A figure in its unit; a ratio to another subject as `1.32 ×`. A bounded one with its sign. */
export function formatFigure(
  estimand: EstimandFacts,
  value: number,
  { isRatio = false, isBound = false } = {},
): string {
  const sign = isBound ? (estimand.better === 'more' ? '≥ ' : '≤ ') : '';
  return sign + (isRatio ? `${formatFixed(value, 3)} ×` : showFigure(estimand, value));
}

/** `+3.9 %` */
export function formatChange(relative: number): string {
  return `${signed(formatFixed(relative * 100, 1))} %`;
}

/** `-4.9…+14.3 %`, rounded outwards. */
export function formatRange(low: number, high: number): string {
  const ends = formatOutwards(low * 100, high * 100, 0);
  return `${signed(ends.low)}…${signed(ends.high)} %`;
}

/** `2026-11-21 01:50` (UTC) */
export function formatTimestamp(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
