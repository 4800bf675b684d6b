/**
 * Random numbers that are the same for the same seed, so that a resampled interval or a permutation test of a
 * record gives the same figures whenever and wherever it is made again.
 */

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

/**
 * The generator sfc32 of Chris Doty-Humphrey's PractRand (public domain), seeded with a text such as the id of
 * a run. Its period is at least 2³² for every seed.
 */
export function seededRandom(seed: string): Random {
  let [a, b, c, counter] = seedWords(seed);
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first words still resemble the seed.
  for (let skipped = 0; skipped < 12; skipped++) next();
  return next;
}
