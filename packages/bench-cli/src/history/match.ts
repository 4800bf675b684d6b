/** Matches the cases of one run with those of another. */
import { placeKey, valueText } from './axes.ts';
import { type EntryCase, isUnbound, UNLIMITED } from './entry.ts';
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

function labelOf(reference: EntryCase, candidate: EntryCase): string {
  const named = ['subject', ...new Set([reference, candidate].flatMap(({ point }) => Object.keys(point)))];
  const textOf = (item: EntryCase, axis: string) => {
    const value = axis === 'subject' ? item.subject : (item.point[axis] ?? null);
    return value === null ? null : axis === 'subject' ? String(value) : valueText(axis, value);
  };
  const parts = named.flatMap((axis) => {
    const [a, b] = [textOf(reference, axis), textOf(candidate, axis)];
    if (a === null && b === null) return [];
    return a === b || b === null || a === null ? [a ?? b] : [`${b} against ${a}`];
  });
  return parts.length === 0 ? candidate.key : parts.join(', ');
}

/** What the selector fixes: a server is the subject, unless it is a part of the point. */
function axesFixedBy({ selector, cases }: Selected): string[] {
  const isPoint = cases.some(({ point }) => point.server !== undefined);
  return Object.keys(selector).map((name) => (name === 'server' && !isPoint ? 'subject' : name));
}

/**
 * Cases that agree in every dimension, except those that selectors of both sides fix: `A:server=x` against `B:server=y`
 * compares the two servers at each tier and mode. A rate that never bound is no rate, where nothing has the same. A single
 * case on each side is a pair where one is imported, since little is known of such measurements.
 */
export function matchCases(reference: Selected, candidate: Selected): Matching {
  const [only, others] = [reference.cases, candidate.cases];
  const isImported = [reference, candidate].some(({ entry }) => entry.kind === 'imported');
  if (isImported && only.length === 1 && others.length === 1 && only[0] && others[0]) {
    const label = labelOf(only[0], others[0]);
    return {
      matches: [{ label, reference: only[0], candidate: others[0] }],
      onlyReference: [],
      onlyCandidate: [],
    };
  }
  const fixed = axesFixedBy(reference).filter((name) => axesFixedBy(candidate).includes(name));
  const keyOf = (item: EntryCase) => placeKey(item, fixed);
  const unboundKeyOf = (item: EntryCase) =>
    keyOf(isUnbound(item) ? { ...item, point: { ...item.point, rate: UNLIMITED } } : item);
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
