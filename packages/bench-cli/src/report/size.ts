/** How large a difference is, in words, with its interval in the same terms. Pure. */
import type { ComparedMetric } from '../stats/metrics.ts';
import { formatFixed, formatOutwards } from './numbers.ts';

/** From 1.5 times on, a multiple is easier to grasp than a percentage. */
export const MULTIPLE_FROM = 0.5;

export interface SizeWords {
  /** `more` */
  readonly higher: string;
  /** `fewer` */
  readonly lower: string;
  /** After a multiple: `as many`. */
  readonly as: string;
}

/** Of the compared figures. */
export const SIZE_WORDS: Readonly<Record<ComparedMetric, SizeWords>> = {
  qps: { higher: 'more', lower: 'fewer', as: 'as many' },
  latencySeconds: { higher: 'longer', lower: 'shorter', as: 'as long' },
  cpuSecondsPerQuery: { higher: 'more', lower: 'less', as: 'as much' },
  memoryBytes: { higher: 'more', lower: 'less', as: 'as much' },
};

interface Size {
  /** `32 % more`, `1.9 × as many` */
  readonly size: string;
  /** `25–53 %`, `1.7–2.2`; rounded outwards. */
  readonly interval: string;
  /** `more`; empty for a multiple. */
  readonly word: string;
}

/** `25 % more` of `25` percent, `3 % fewer` of `-3`. */
export function endText(percent: string, { higher, lower }: SizeWords): string {
  if (Number.parseFloat(percent) === 0) return 'no difference';
  return percent.startsWith('-') ? `${percent.slice(1)} % ${lower}` : `${percent} % ${higher}`;
}

export function sizeText(
  { relative, low, high }: { readonly relative: number; readonly low: number; readonly high: number },
  { higher, lower, as }: SizeWords,
  isMultiple = relative >= MULTIPLE_FROM,
): Size {
  if (isMultiple) {
    const ends = formatOutwards(1 + low, 1 + high, 1);
    const size = `${formatFixed(1 + relative, ends.digits)} × ${as}`;
    return { size, interval: `${ends.low}–${ends.high}`, word: '' };
  }
  const [near, far] = relative >= 0 ? [low, high] : [-high, -low];
  const ends = formatOutwards(near * 100, far * 100, 0);
  const word = relative >= 0 ? higher : lower;
  const size = `${formatFixed(Math.abs(relative) * 100, ends.digits)} % ${word}`;
  return { size, interval: `${ends.low}–${ends.high} %`, word };
}
