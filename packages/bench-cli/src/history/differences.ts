/** What else differs between two runs: any of it may explain a difference in figures. */
import { BENCH, conditionSettings, type Entry, SETTING_PREFIX } from './entry.ts';

/** Of a setting that a record does not say. */
export const NOT_RECORDED = 'not recorded';

export interface Difference {
  /** `kernel`, `server coredns`, `setting durationSeconds`. */
  readonly name: string;
  /** Null where that run does not say. */
  readonly values: readonly [string | null, string | null];
}

/**
 * Everything known of machine, programs and settings that is not the same in both. What only one of them records
 * counts as a difference, because it may be one; servers that only one of them has do not, nor does bench, which imports lack.
 */
export function differencesOf(first: Entry, second: Entry): Difference[] {
  const names = [...new Set([...Object.keys(first.environment), ...Object.keys(second.environment)])];
  const conditions = [first, second].map(conditionSettings);
  const isTold = (name: string) =>
    isOfMachine({ name }) ||
    isProgram(name) ||
    conditions.some((settings) => name.slice(SETTING_PREFIX.length) in settings);
  return names.filter(isTold).flatMap((name): Difference[] => {
    const values = [first.environment[name] ?? null, second.environment[name] ?? null] as const;
    if (values[0] === values[1]) return [];
    const isMissing = isProgram(name) && values.includes(null);
    return isMissing ? [] : [{ name, values: [values[0], values[1]] }];
  });
}

/**
 * How either side made its trials, if one is a duet and the other is not: these are two measurements, and a difference
 * may come from that alone. Null if they are the same, or if a side does not say.
 */
export function differentTrials(first: Entry, second: Entry): readonly [string, string] | null {
  if (first.isDuet === null || second.isDuet === null || first.isDuet === second.isDuet) return null;
  return [first.environment.trials ?? '', second.environment.trials ?? ''];
}

function isProgram(name: string): boolean {
  return name === BENCH || name.startsWith('server ');
}

/** True for a difference of the machine itself, not of a program's version or of a setting. */
export function isOfMachine({ name }: Pick<Difference, 'name'>): boolean {
  return !isProgram(name) && !name.startsWith(SETTING_PREFIX);
}
