/**
 * Seeded random numbers, so that a resampled interval or a permutation test of a record gives the same figures every
 * time and everywhere.
 */
import { sfc32 } from '@dinodns-bench/load/workload';

/** A source of numbers in [0, 1), 32 bits each. */
export type Random = () => number;

/** Four well-mixed words from a text: FNV-1a, each word finished by the mixer of MurmurHash3. */
function seedWords(text: string): [number, number, number, number] {
  const word = (salt: number) => {
    let hash = 0x811c9dc5 ^ salt;
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) | 0;
  };
  return [word(1), word(2), word(3), word(4)];
}

/** The generator of `@dinodns-bench/load`, seeded with a text such as the id of a run. */
export function seededRandom(seed: string): Random {
  return sfc32(...seedWords(seed)).fraction;
}
