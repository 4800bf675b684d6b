/** Matches the cases of one run with those of another. */
import { AXES, type Axis, axisText } from '../config/case-filter.ts';
import { formatCount } from '../report/numbers.ts';
import { type EntryCase, isUnbound } from './entry.ts';
import type { Selected } from './select.ts';

export interface Match {
  /** What both have in common: `dinodns, tier 1, single`. */
  readonly label: string;
  readonly reference: EntryCase;
  readonly candidate: EntryCase;
}

export interface Matching {
  readonly matches: readonly Match[];
  /** Keys of cases that have no counterpart. */
  readonly onlyReference: readonly string[];
  readonly onlyCandidate: readonly string[];
}

/** The rate is named only where there is one. */
function valueText(item: EntryCase, axis: Axis): string | null {
  if (axis === 'rate')
    return item.ratePerSecond === null ? null : `${formatCount(item.ratePerSecond)} queries/s`;
  const text = axisText(item, axis);
  return axis === 'tier' && text !== null ? `tier ${text}` : text;
}

function labelOf(reference: EntryCase, candidate: EntryCase): string {
  const parts = AXES.flatMap((axis) => {
    const [a, b] = [valueText(reference, axis), valueText(candidate, axis)];
    if (a === null && b === null) return [];
    return a === b || b === null || a === null ? [a ?? b] : [`${b} against ${a}`];
  });
  return parts.length === 0 ? candidate.key : parts.join(', ');
}

/**
 * Cases that agree in every dimension, except those that selectors of both sides fix: `A:server=x` against `B:server=y`
 * compares the two servers at each tier and mode. A rate that never bound is no rate, where nothing has the same. A single case on each side is always a pair, so that imported
 * measurements, of which little is known, can be compared.
 */
export function matchCases(reference: Selected, candidate: Selected): Matching {
  const [only, others] = [reference.cases, candidate.cases];
  if (only.length === 1 && others.length === 1 && only[0] !== undefined && others[0] !== undefined) {
    const label = labelOf(only[0], others[0]);
    return {
      matches: [{ label, reference: only[0], candidate: others[0] }],
      onlyReference: [],
      onlyCandidate: [],
    };
  }
  const fixed = AXES.filter((name) => name in reference.selector && name in candidate.selector);
  const keyOf = (item: EntryCase) =>
    JSON.stringify(AXES.map((axis) => (fixed.includes(axis) ? null : axisText(item, axis))));
  const unboundKeyOf = (item: EntryCase) => keyOf(isUnbound(item) ? { ...item, ratePerSecond: null } : item);
  const byKey = Map.groupBy(only, keyOf);
  const byUnboundKey = Map.groupBy(only, unboundKeyOf);
  const matches: Match[] = [];
  const unmatched: string[] = [];
  for (const item of others) {
    // Parameters of imported cases may tell apart what the dimensions do not.
    const counterparts = byKey.get(keyOf(item)) ?? byUnboundKey.get(unboundKeyOf(item)) ?? [];
    const counterpart = counterparts.find(({ key }) => key === item.key) ?? counterparts[0];
    if (counterpart === undefined) unmatched.push(item.key);
    else matches.push({ label: labelOf(counterpart, item), reference: counterpart, candidate: item });
  }
  const matched = new Set(matches.map((match) => match.reference.key));
  return {
    matches,
    onlyReference: only.filter(({ key }) => !matched.has(key)).map(({ key }) => key),
    onlyCandidate: unmatched,
  };
}
