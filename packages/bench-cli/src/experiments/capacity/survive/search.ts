/** Which limit to try next, from the starts so far: bisection in which a single start narrows, and only n starts decide. Pure. */
import { formatCount } from '../../../report/numbers.ts';

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
  /** Every start under it survived, and one was killed under its neighbour below; null: none was killed at all. */
  | { readonly kind: 'found'; readonly limitBytes: number; readonly killedBytes: number | null }
  /** Even the largest limit was not survived. */
  | { readonly kind: 'beyond' };

export const MEBIBYTE = 2 ** 20;

/** Limits are multiples of a mebibyte, and closer ones than this are not told apart. */
const STEP_BYTES = 4 * MEBIBYTE;

/** From one limit to the next while a bound is missing. */
const STRIDE = 1.25;

const rounded = (bytes: number) => Math.round(bytes / MEBIBYTE) * MEBIBYTE;
const roundedDown = (bytes: number) => Math.floor(bytes / MEBIBYTE) * MEBIBYTE;

/** Below a limit that was survived and while none killed: near the peak of that start, if it used much less. */
function below(high: number, tried: readonly Tried[], { least, resolution }: SearchOptions): number {
  const peaks = tried.flatMap(({ limitBytes, peakBytes }) => (limitBytes === high ? (peakBytes ?? []) : []));
  const byPeak = Math.max(...peaks, 0) * (1 + resolution);
  return Math.max(least, Math.min(high / STRIDE, byPeak === 0 ? high : byPeak));
}

/**
 * A start that was killed rules out its limit and all below, whatever survived there. The smallest limit above that has
 * survivors is the candidate: first it gets a neighbour that killed, then as many starts as it takes.
 */
export function nextLimit(tried: readonly Tried[], options: SearchOptions): Next {
  const { first, least, resolution, starts } = options;
  // A multiple of a mebibyte, as all limits: else none would reach it.
  const most = roundedDown(options.most);
  const low = Math.max(0, ...tried.flatMap((start) => (start.survived ? [] : start.limitBytes)));
  const survivors = tried.filter(({ limitBytes }) => limitBytes > low);
  const high = Math.min(...survivors.map(({ limitBytes }) => limitBytes));
  if (survivors.length === 0) {
    if (low >= most) return { kind: 'beyond' };
    const next = low === 0 ? Math.max(first, least) : Math.max(low * STRIDE, low + STEP_BYTES);
    return { kind: 'try', limitBytes: Math.min(rounded(next), most) };
  }
  const isLeast = low === 0 && high <= least;
  const isNeighbour = low > 0 && high - low <= Math.max(STEP_BYTES, low * resolution);
  if (!isLeast && !isNeighbour) {
    const next = rounded(low === 0 ? below(high, tried, options) : Math.sqrt(low * high));
    if (next > low && next < high) return { kind: 'try', limitBytes: next };
  }
  const done = survivors.filter(({ limitBytes }) => limitBytes === high).length;
  return done < starts
    ? { kind: 'try', limitBytes: high }
    : { kind: 'found', limitBytes: high, killedBytes: low === 0 ? null : low };
}

/** If none of n independent starts was killed: the largest chance of being killed that is still consistent with it, 95 %. */
export function killedBound(starts: number): number {
  return 1 - 0.05 ** (1 / starts);
}

/** `by 5 of 5 starts: the chance of being killed is at most 45 % (95 % confidence)` */
export function ruleText(starts: number): string {
  return `by ${starts} of ${starts} starts: the chance of being killed is at most ${boundText(starts)} (95\u00a0% confidence)`;
}

/** `45 %` */
export function boundText(starts: number): string {
  return `${formatCount(Math.round(killedBound(starts) * 100))}\u00a0%`;
}
