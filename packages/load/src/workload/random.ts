/**
 * A small, fast generator of pseudo-random numbers with a seed, so that a run can be repeated: sfc32 of
 * Chris Doty-Humphrey's PractRand, period about 2^127. Not for secrets.
 */
export interface Random {
  /** 32 random bits, unsigned. */
  bits(): number;
  /** In [0, 1), in steps of 2^-32. */
  fraction(): number;
}

/** Spreads a seed and a stream number (a worker's, say) over 32 bits: the finaliser of MurmurHash3. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Outputs thrown away so that similar seeds give unrelated sequences; PractRand throws away 12. */
const WARM_UP = 12;

/** Independent sequences for each `stream` of one `seed`; both are taken modulo 2^32. */
export function createRandom(seed: number, stream = 0): Random {
  let a = mix(seed);
  let b = mix(stream + 0x9e3779b9);
  let c = mix(seed ^ Math.imul(stream + 1, 0x85ebca6b));
  let counter = 1;
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
