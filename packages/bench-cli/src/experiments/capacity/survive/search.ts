/** Which limit to try next, from the starts so far: bisection in which a single start narrows, and only n starts decide. Pure. */
import { formatCount, MEBIBYTE } from '../../../report/numbers.ts';

/** A start under a limit, and how it ended. */
export interface Tried {
  readonly limitBytes: number;
  readonly survived: boolean;
  /** The most anonymous memory of it; null where it is not known. */
  readonly peakBytes: number | null;
}

export interface SearchOptions {
  /** Where to begin. Bytes. */
  readonly first: number;
  /** No limit below or above these is tried. Bytes. */
  readonly least: number;
  readonly most: number;
  /** Two limits that are this close, as a share of the smaller one, or by `STEP_BYTES`, are neighbours. */
  readonly resolution: number;
  /** Starts that a limit takes to be survived. */
  readonly starts: number;
}

export type Next =
  | { readonly kind: 'try'; readonly limitBytes: number }
  /** Every start under it survived. The largest limit under which one was killed; null: none was killed at all. */
  | { readonly kind: 'found'; readonly limitBytes: number; readonly killedBytes: number | null }
  /** Even the largest limit was not survived. */
  | { readonly kind: 'beyond' };

/** Limits are multiples of a mebibyte, and closer ones than this are not told apart. */
export const STEP_BYTES = 4 * MEBIBYTE;

/** From one limit to the next while a bound is missing, at least: a coarser search goes by its resolution, and ends the sooner. */
const STRIDE = 1.25;

const rounded = (bytes: number) => Math.round(bytes / MEBIBYTE) * MEBIBYTE;
const roundedDown = (bytes: number) => Math.floor(bytes / MEBIBYTE) * MEBIBYTE;

/**
 * Limits up to this are too small, whatever else survived there: one under which a start was killed, or less than what a start used under
 * a larger one.
 */
export function ruledOut(tried: readonly Tried[]): number {
  return Math.max(
    0,
    ...tried.map(({ limitBytes, survived, peakBytes }) =>
      survived ? Math.min(peakBytes ?? 0, limitBytes - 1) : limitBytes,
    ),
  );
}

/**
 * The smallest limit above all that are ruled out that has survivors is the candidate: first it gets a neighbour that is ruled out, then
 * as many starts as it takes.
 */
export function nextLimit(tried: readonly Tried[], options: SearchOptions): Next {
  const { first, least, resolution, starts } = options;
  // A multiple of a mebibyte, as all limits: else none would reach it.
  const most = roundedDown(options.most);
  const stride = Math.max(STRIDE, 1 + resolution);
  const killed = Math.max(0, ...tried.flatMap((start) => (start.survived ? [] : start.limitBytes)));
  const low = ruledOut(tried);
  const survivors = tried.filter(({ limitBytes }) => limitBytes > low);
  const high = Math.min(...survivors.map(({ limitBytes }) => limitBytes));
  if (survivors.length === 0) {
    if (low >= most) return { kind: 'beyond' };
    const next = low === 0 ? Math.max(first, least) : Math.max(low * stride, low + STEP_BYTES);
    return { kind: 'try', limitBytes: Math.min(rounded(next), most) };
  }
  const lowest = Math.min(...tried.map(({ limitBytes }) => limitBytes));
  if (killed === 0 && lowest > least) {
    // Until one kills: near the largest peak, if that is much less.
    const byPeak = low === 0 ? lowest : low * (1 + resolution);
    const next = rounded(Math.max(least, Math.min(lowest / stride, byPeak)));
    if (next < lowest) return { kind: 'try', limitBytes: next };
  }
  if (low > 0 && high - low > Math.max(STEP_BYTES, low * resolution)) {
    const next = rounded(Math.sqrt(low * high));
    if (next > low && next < high) return { kind: 'try', limitBytes: next };
  }
  const done = survivors.filter(({ limitBytes }) => limitBytes === high).length;
  return done < starts
    ? { kind: 'try', limitBytes: high }
    : { kind: 'found', limitBytes: high, killedBytes: killed === 0 ? null : killed };
}

/** If none of n independent starts was killed: the largest chance of being killed that is still consistent with it, 95 %. */
export function killedBound(starts: number): number {
  return 1 - 0.05 ** (1 / starts);
}

/** Fewer starts say little: one that survives leaves a chance of up to 95 % of being killed, five leave 45 %. */
export const MIN_STARTS = 5;

/** What to know of a search with fewer. */
export function fewStarts(starts: number): string[] {
  if (starts >= MIN_STARTS) return [];
  return [
    `With --starts ${starts}, a limit that survives may still kill with a chance of up to ${boundText(starts)} (95\u00a0% confidence), and \`bench capacity plan\` does not take it: give --starts ${MIN_STARTS} or more.`,
  ];
}

/** `by 5 of 5 starts: the chance of being killed is at most 45 % (95 % confidence)` */
export function ruleText(starts: number): string {
  return `by ${starts} of ${starts} starts: the chance of being killed is at most ${boundText(starts)} (95\u00a0% confidence)`;
}

/** `45 %` */
export function boundText(starts: number): string {
  return `${formatCount(Math.round(killedBound(starts) * 100))}\u00a0%`;
}
