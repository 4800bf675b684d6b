/** Numbers and texts that look random and are made from a seed and an index, so that nothing has to be stored. */

/** Kubernetes' alphabet for generated suffixes: no vowels, and no digits that look like letters (apimachinery, util/rand). */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** A 32-bit number from three: the finalizer of MurmurHash3, once for each. */
export function hash(seed: number, kind: number, index: number): number {
  return mix(mix(mix(seed) ^ kind) ^ index);
}

function mix(value: number): number {
  let mixed = (value + 0x9e3779b9) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const SUFFIX_LENGTH = 5;

/** A suffix as Kubernetes appends it to generated names. */
export function suffix(seed: number, kind: number, index: number): string {
  let rest = hash(seed, kind, index);
  let text = '';
  for (let at = 0; at < SUFFIX_LENGTH; at++) {
    text += SUFFIX_LETTERS[rest % SUFFIX_LETTERS.length];
    rest = Math.floor(rest / SUFFIX_LETTERS.length);
  }
  return text;
}

/** A text in the form of a random UUID (RFC 9562, version 4). */
export function uuid(seed: number, kind: number, index: number): string {
  const words = [0, 1, 2, 3].map((word) =>
    hash(seed, kind * 4 + word, index)
      .toString(16)
      .padStart(8, '0'),
  );
  const [first = '', second = '', third = '', fourth = ''] = words;
  const middle = `${second.slice(0, 4)}-4${second.slice(5)}-a${third.slice(1, 4)}`;
  return `${first}-${middle}-${third.slice(4)}${fourth}`;
}
