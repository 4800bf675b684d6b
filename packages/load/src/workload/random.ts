/**
 * A small, fast, seeded pseudo-random generator, so that a run can be repeated: sfc32 from Chris Doty-Humphrey's
 * PractRand (public domain), average period about 2^127, at least 2^32 for every seed. Not for secrets.
 */
export interface Random {
  /** 32 random bits, unsigned. */
  bits(): number;
  /** In [0, 1), in steps of 2^-32. */
  fraction(): number;
}

/** Outputs discarded so that similar seeds give unrelated sequences; PractRand discards 12. */
const WARM_UP = 12;

/** A generator seeded with four words, of which only the lower 32 bits are used. */
export function sfc32(...words: readonly [number, number, number, number]): Random {
  let [a, b, c, counter] = words;
  const bits = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < WARM_UP; i += 1) bits();
  return { bits, fraction: () => bits() / 0x1_0000_0000 };
}

/** Spreads a seed and a stream number (a worker's, say) over 32 bits: the final mix of MurmurHash3. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Independent sequences for each `stream` of one `seed`; both are taken modulo 2^32. */
export function createRandom(seed: number, stream = 0): Random {
  return sfc32(mix(seed), mix(stream + 0x9e3779b9), mix(seed ^ Math.imul(stream + 1, 0x85ebca6b)), 1);
}
