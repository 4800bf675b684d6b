/** Versions that exist, and what to say of one that does not. Pure. */
import { BenchError } from '../errors.ts';

const NUMBERS = /^(\d+)\.(\d+)\.(\d+)$/;

/** The three numbers of a release; null for a pre-release or anything else. */
function numbersOf(version: string): readonly [number, number, number] | null {
  const [, major, minor, patch] = NUMBERS.exec(version) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

function compare(a: string, b: string): number {
  const [x, y] = [numbersOf(a) ?? [0, 0, 0], numbersOf(b) ?? [0, 0, 0]];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
}

/** The releases next to `version`, at most two on each side, and the latest; only the latest if it is no release. */
export function nearestVersions(version: string, known: readonly string[]): string[] {
  const releases = known.filter((candidate) => numbersOf(candidate) !== null).toSorted(compare);
  const latest = releases.slice(-1);
  if (numbersOf(version) === null) return latest;
  const below = releases.filter((candidate) => compare(candidate, version) < 0).slice(-2);
  const above = releases.filter((candidate) => compare(candidate, version) > 0).slice(0, 2);
  return [...new Set([...below, ...above, ...latest])];
}

/**
 * What those say who must know. `known` is null where nobody could be asked, or nobody could tell: a list of versions may be short,
 * or empty, so that only a question for the version itself can deny it.
 */
export interface VersionAnswer {
  readonly known: boolean | null;
  /** Others to suggest; asked for only where the version cannot be had. */
  readonly others: readonly string[];
}

/** Which others to take, in a sentence. */
export function otherVersions(version: string, others: readonly string[]): string {
  const near = nearestVersions(version, others);
  if (near.length > 0)
    return `The nearest ${near.length === 1 ? 'version is' : 'versions are'} ${near.join(', ')}.`;
  return `Choose a version that was released${others.length === 0 ? '' : `: ${others.join(', ')}`}.`;
}

/** @throws BenchError `E_UNKNOWN_SERVER` that names the nearest versions, if the version is denied. */
export function demandKnownVersion(what: string, version: string, { known, others }: VersionAnswer): void {
  if (known !== false) return;
  throw new BenchError('E_UNKNOWN_SERVER', `there is no ${what} ${version}`, {
    fix: otherVersions(version, others),
  });
}
