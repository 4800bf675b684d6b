/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012), the keyed hash that DNS cookies use (RFC 9018, section 4.4), in pairs of 32-bit
 * words: BigInt would allocate at each step.
 */

/** v0 to v3, each as its lower and its upper word. */
const state = new Uint32Array(8);
/** "somepseudorandomlygeneratedbytes", as the authors begin. */
const INITIAL = [
  0x70736575, 0x736f6d65, 0x6e646f6d, 0x646f7261, 0x6e657261, 0x6c796765, 0x79746573, 0x74656462,
] as const;
const [V0, V1, V2, V3] = [0, 2, 4, 6];
const MESSAGE_ROUNDS = 2;
const FINAL_ROUNDS = 4;

const word = (at: number): number => state[at] as number;

function add(to: number, from: number): void {
  const low = word(to) + word(from);
  state[to + 1] = word(to + 1) + word(from + 1) + (low > 0xffffffff ? 1 : 0);
  state[to] = low;
}

/** Turns one to the left by less than 32 bits, and XORs the other into it. */
function turn(one: number, bits: number, other: number): void {
  const [low, high] = [word(one), word(one + 1)];
  state[one] = ((low << bits) | (high >>> (32 - bits))) ^ word(other);
  state[one + 1] = ((high << bits) | (low >>> (32 - bits))) ^ word(other + 1);
}

/** Turns one by 32 bits. */
function swap(one: number): void {
  const low = word(one);
  state[one] = word(one + 1);
  state[one + 1] = low;
}

function rounds(count: number): void {
  for (let round = 0; round < count; round++) {
    add(V0, V1);
    turn(V1, 13, V0);
    swap(V0);
    add(V2, V3);
    turn(V3, 16, V2);
    add(V0, V3);
    turn(V3, 21, V0);
    add(V2, V1);
    turn(V1, 17, V2);
    swap(V2);
  }
}

function take(low: number, high: number): void {
  state[V3] = word(V3) ^ low;
  state[V3 + 1] = word(V3 + 1) ^ high;
  rounds(MESSAGE_ROUNDS);
  state[V0] = word(V0) ^ low;
  state[V0 + 1] = word(V0 + 1) ^ high;
}

/** Little-endian; what is at or beyond `end` counts as 0. */
function read(bytes: Uint8Array, at: number, end: number): number {
  let value = 0;
  for (let index = 0; index < 4 && at + index < end; index++)
    value |= (bytes[at + index] ?? 0) << (8 * index);
  return value;
}

/** Writes the eight bytes of the hash of `bytes[0, length)` at `at` of `out`. `key` has 16 bytes. */
export function sipHash(
  key: Uint8Array,
  bytes: Uint8Array,
  length: number,
  out: Uint8Array,
  at: number,
): void {
  for (let index = 0; index < 8; index++) {
    state[index] = (INITIAL[index] as number) ^ read(key, (index % 4) * 4, key.length);
  }
  let block = 0;
  for (; block + 8 <= length; block += 8) take(read(bytes, block, length), read(bytes, block + 4, length));
  take(read(bytes, block, length), read(bytes, block + 4, length) | ((length & 0xff) << 24));
  state[V2] = word(V2) ^ 0xff;
  rounds(FINAL_ROUNDS);
  for (let index = 0; index < 8; index++) {
    const half = index >> 2;
    const value = word(V0 + half) ^ word(V1 + half) ^ word(V2 + half) ^ word(V3 + half);
    out[at + index] = value >>> (8 * (index & 3));
  }
}
