/**
 * The highest rates for several shares of lost queries, from one search: each rate that is tried tells something about
 * all of them. The idea is that of MLRsearch (draft-ietf-bmwg-mlrsearch), with one duration for all tries.
 */

import type { LossEvidence } from './evidence.ts';

/** What was seen at one rate. */
export interface Tried {
  /** Queries per second, asked for. */
  readonly rate: number;
  /** Lost ÷ sent. */
  readonly lostRatio: number;
  /** Whether the load generator, not the server, decided it. */
  readonly generatorLimited: boolean;
  /** Whether most of what was lost was lost by the load generator itself. */
  readonly lostByGenerator: boolean;
}

export type Band = LossEvidence['bands'][number];

export interface SearchOptions {
  /** Shares of lost queries, each once. */
  readonly bands: readonly number[];
  /** Where to begin, queries per second. */
  readonly start: number;
  /** The search ends when the bounds of every band are this close, as a share of the rate. */
  readonly precision: number;
}

/** Rates below this are not tried. */
const MIN_RATE = 10;

/** From one rate to the next while a bound is missing. */
const STEP_UP = 1.5;
const STEP_DOWN = 0.7;

interface Bounds {
  readonly maxLostRatio: number;
  /** The highest rate that held so far, below the lowest that did not. */
  low: number;
  high: number;
  generatorLimited: boolean;
}

/** A rate outside the bounds of a band contradicts what is known, or adds nothing. */
function learn(bounds: Bounds, { rate, lostRatio, generatorLimited, lostByGenerator }: Tried): void {
  if (rate <= bounds.low || rate >= bounds.high) return;
  const holds = lostRatio <= bounds.maxLostRatio;
  if (holds && !generatorLimited) {
    bounds.low = rate;
    return;
  }
  bounds.high = rate;
  // A generator that could not send so much says nothing about the server at that rate, unless the server lost queries even so.
  bounds.generatorLimited = holds || lostByGenerator;
}

function isSettled({ low, high }: Bounds, precision: number): boolean {
  return low === 0 ? high <= MIN_RATE : high <= low * (1 + precision);
}

/**
 * Between the widest bounds of all; above or below them all while a bound is missing. Null when nothing is left to try: whatever each try
 * shows, it narrows the bounds of a band.
 */
function nextRate(all: readonly Bounds[], { start, precision }: SearchOptions): number | null {
  const open = all.filter((bounds) => !isSettled(bounds, precision));
  if (open.length === 0) return null;
  const unbounded = open.filter(({ high }) => high === Number.POSITIVE_INFINITY);
  if (unbounded.length > 0) {
    const held = Math.max(...unbounded.map(({ low }) => low));
    return held === 0 ? start : held * STEP_UP;
  }
  const neverHeld = open.filter(({ low }) => low === 0);
  if (neverHeld.length > 0)
    return Math.max(MIN_RATE / 2, Math.min(...neverHeld.map(({ high }) => high)) * STEP_DOWN);
  const widest = open.reduce((a, b) => (b.high / b.low > a.high / a.low ? b : a));
  return Math.sqrt(widest.low * widest.high);
}

/** Rejects with `attempt`'s error. In the order of `bands`. */
export async function searchBands(
  options: SearchOptions,
  attempt: (rate: number) => Promise<Tried>,
): Promise<Band[]> {
  const all = options.bands.map(
    (maxLostRatio): Bounds => ({
      maxLostRatio,
      low: 0,
      high: Number.POSITIVE_INFINITY,
      generatorLimited: false,
    }),
  );
  for (let rate = nextRate(all, options); rate !== null; rate = nextRate(all, options)) {
    const tried = await attempt(rate);
    for (const bounds of all) learn(bounds, tried);
  }
  return all.map(({ maxLostRatio, low, generatorLimited }) => ({
    maxLostRatio,
    rate: low,
    generatorLimited,
  }));
}
