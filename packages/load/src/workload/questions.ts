/** Lists of questions from the options: given names, zone sets with a hit ratio, reverse zones. */
import { nearest, type Problem } from '@dinodns-bench/program';
import { parseName, parsePrefix, reverseName, TYPE_NAMES, typeNumber } from '@dinodns-bench/wire';
import { LoadError, loadError } from '../errors.ts';
import type { Kind } from './options.ts';
import { zipfWeights } from './weights.ts';

/** Names in query order, and their weights. */
export interface NameList {
  readonly names: Iterable<string>;
  /** One per name, in any unit; null if all are equal. */
  readonly weights: ArrayLike<number> | null;
}

/** 2^20, a /12: more addresses would take more than 100 MB as messages. */
const MAX_ADDRESSES = 2 ** 20;

/** Messages of a larger workload would not fit into the memory of most machines. */
const MAX_NAMES = 20_000_000;

/** Names in wire format, or every problem at once. @throws LoadError `E_NAME`. */
export function wireNames(names: Iterable<string>): Uint8Array[] {
  const problems: Problem[] = [];
  const wires: Uint8Array[] = [];
  for (const name of names) {
    const parsed = parseName(name);
    if ('wire' in parsed) wires.push(parsed.wire);
    else
      problems.push({
        problem: `"${name}" is not a domain name: ${parsed.problem}`,
        fix: 'give a name such as www.example.com; \\DDD stands for any byte',
      });
  }
  if (problems.length > 0) throw new LoadError('E_NAME', problems);
  return wires;
}

/** @throws LoadError `E_NAME`. */
export function typeNumbers(types: readonly string[]): number[] {
  return types.map((type) => {
    const number = typeNumber(type);
    if (number !== undefined) return number;
    const near = nearest(type, TYPE_NAMES);
    const fix = near === undefined ? 'give a type such as A, AAAA or TYPE65' : `did you mean ${near}?`;
    throw loadError('E_NAME', `"${type}" is not a type`, fix);
  });
}

/** @throws LoadError `E_WORKLOAD` if the number of weights does not match. */
export function checkedWeights(
  weights: readonly number[] | null,
  count: number,
  what: string,
): readonly number[] | null {
  if (weights === null) return null;
  if (weights.length !== count) {
    const problem = `there are ${weights.length} weights for ${count} ${what}`;
    throw loadError('E_WORKLOAD', problem, `give one weight for each of the ${what}`);
  }
  if (weights.every((weight) => weight === 0))
    throw loadError('E_WORKLOAD', `all weights of the ${what} are 0`, 'give at least one that is more');
  return weights;
}

/** Zipf's weights, or equal ones, for `popularity`; null for names in sequence or with equal weights. */
export function popularityWeights(
  options: Pick<Kind<'names'>, 'popularity' | 'zipfExponent'>,
  count: number,
): Float64Array | null {
  return options.popularity === 'zipf' ? zipfWeights(count, options.zipfExponent) : null;
}

type Halves = ReturnType<typeof halvesOf>;

/** The odd and the even numbers of a range, the first and how many: zones that exist, and names that do not. */
function halvesOf(from: number, to: number) {
  const firstOdd = from % 2 === 1 ? from : from + 1;
  const firstEven = from % 2 === 0 ? from : from + 1;
  const odds = firstOdd > to ? 0 : Math.floor((to - firstOdd) / 2) + 1;
  return { firstOdd, odds, firstEven, evens: to - from + 1 - odds };
}

/** How far the share of hits, or of misses, may be from what was asked for, as a part of it. */
const RATIO_PRECISION = 1e-6;

/** The length of a list, and how many of its names exist. */
interface Mix {
  readonly length: number;
  readonly hits: number;
}

/**
 * The shortest list of at least `count` names that has the hit ratio: 0.1 % of 200 names is none or one, of 1,000 it is one.
 * @throws LoadError `E_WORKLOAD` if it would be too long.
 */
function mixOf(count: number, hitRatio: number): Mix {
  const tolerance = RATIO_PRECISION * Math.min(hitRatio, 1 - hitRatio);
  for (let length = count; length <= MAX_NAMES; length += 1) {
    const hits = Math.round(hitRatio * length);
    if (Math.abs(hits / length - hitRatio) <= tolerance) return { length, hits };
  }
  const problem = `a hit ratio of ${hitRatio} needs more than ${MAX_NAMES.toLocaleString('en')} names`;
  throw loadError('E_WORKLOAD', problem, 'give one with fewer decimals');
}

/** Existing and missing numbers spread evenly, each again from the first if there are fewer than the list has. */
function* mixedNumbers(halves: Halves, { length, hits }: Mix): Generator<number> {
  const { firstOdd, odds, firstEven, evens } = halves;
  let used = 0;
  for (let i = 0; i < length; i += 1) {
    // A hit is due as soon as the hit ratio would otherwise be too low.
    const isHit = Math.ceil((hits * (i + 1)) / length) > used;
    yield isHit ? firstOdd + 2 * (used % odds) : firstEven + 2 * ((i - used) % evens);
    if (isHit) used += 1;
  }
}

/** Zipf's law applied separately to existing and missing names, so that the hit ratio holds. */
function ratioWeights({ odds, evens }: Halves, hitRatio: number, exponent: number): Float64Array {
  const share = (count: number, part: number) => {
    const weights = zipfWeights(count, exponent);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => (part * weight) / total);
  };
  return Float64Array.from([...share(odds, hitRatio), ...share(evens, 1 - hitRatio)]);
}

function* sequence(first: number, count: number, step: number): Generator<number> {
  for (let i = 0; i < count; i += 1) yield first + i * step;
}

function* oddsThenEvens({ firstOdd, odds, firstEven, evens }: Halves): Generator<number> {
  yield* sequence(firstOdd, odds, 2);
  yield* sequence(firstEven, evens, 2);
}

/** @throws LoadError `E_WORKLOAD` if the range is empty, too long, or cannot have the hit ratio. */
export function zoneNames(options: Kind<'zones'>): NameList {
  const { pattern, from, to, hitRatio } = options;
  const count = to - from + 1;
  const bad = (problem: string, fix: string) => loadError('E_WORKLOAD', problem, fix);
  if (!pattern.includes('{X}'))
    throw bad(`the pattern "${pattern}" has no {X}`, 'write {X} where the number goes, as in example{X}.com');
  if (count < 1) throw bad(`the range from ${from} to ${to} is empty`, 'give a range such as 1 to 200');
  if (count > MAX_NAMES)
    throw bad(`${count} names are too many`, `use at most ${MAX_NAMES.toLocaleString('en')}`);
  const halves = halvesOf(from, to);
  const lacks = (halves.odds === 0 && hitRatio !== 0) || (halves.evens === 0 && hitRatio !== 1);
  if (hitRatio !== null && lacks)
    throw bad(
      `a hit ratio of ${hitRatio} needs odd and even numbers from ${from} to ${to}`,
      'give a longer range',
    );
  const named = (numbers: () => Iterable<number>): Iterable<string> => ({
    *[Symbol.iterator]() {
      for (const number of numbers()) yield pattern.replaceAll('{X}', String(number));
    },
  });
  if (hitRatio === null)
    return { names: named(() => sequence(from, count, 1)), weights: popularityWeights(options, count) };
  if (options.popularity === 'zipf') {
    const weights = ratioWeights(halves, hitRatio, options.zipfExponent);
    return { names: named(() => oddsThenEvens(halves)), weights };
  }
  const mix = mixOf(count, hitRatio);
  return { names: named(() => mixedNumbers(halves, mix)), weights: null };
}

/** The PTR names of all addresses of a network. @throws LoadError `E_WORKLOAD`. */
export function reverseNames(options: Kind<'reverse'>): NameList {
  const prefix = parsePrefix(options.network);
  if (prefix === undefined) {
    const problem = `"${options.network}" is not a network: an address and a prefix length that it can have`;
    throw loadError('E_WORKLOAD', problem, 'give a network such as 10.0.0.0/16 or 2001:db8::/112');
  }
  const { bytes } = prefix;
  const bits = bytes.length * 8;
  const hostBits = bits - (prefix.bits ?? bits);
  const count = 2 ** hostBits;
  if (count > MAX_ADDRESSES) {
    const problem = `"${options.network}" has ${count} addresses, ${MAX_ADDRESSES} are allowed`;
    throw loadError('E_WORKLOAD', problem, `give a network of at least /${bits - 20}`);
  }
  function* all() {
    for (let i = 0; i < count; i += 1) yield reverseName(addressAt(bytes, i, hostBits));
  }
  return { names: { [Symbol.iterator]: all }, weights: popularityWeights(options, count) };
}

/** Address `index` of the network that `base` lies in; the last `hostBits` (at most 20) vary. */
function addressAt(base: Uint8Array, index: number, hostBits: number): Uint8Array {
  const bytes = base.slice();
  for (let bit = 0; bit < hostBits; bit += 1) {
    const at = bytes.length - 1 - (bit >> 3);
    const mask = 1 << (bit & 7);
    const byte = bytes[at] ?? 0;
    bytes[at] = (index >> bit) & 1 ? byte | mask : byte & ~mask;
  }
  return bytes;
}
