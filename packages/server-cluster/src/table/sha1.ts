/** SHA-1 (FIPS 180-4) of short messages without allocating. NSEC3 needs it for every name that it denies. */

const BLOCK_BYTES = 64;
export const SHA1_BYTES = 20;

const schedule = new Int32Array(80);
const block = new Uint8Array(BLOCK_BYTES);
const state = new Int32Array(5);

/** Writes the hash of `bytes[0, length)` to the first 20 bytes of `out`, which may be `bytes`. */
export function sha1(bytes: Uint8Array, length: number, out: Uint8Array): void {
  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
  state[4] = 0xc3d2e1f0;
  // The message, a byte 0x80, zeros, and its length in bits in eight bytes.
  const end = Math.ceil((length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  for (let from = 0; from < end; from += BLOCK_BYTES) {
    for (let index = 0; index < BLOCK_BYTES; index++) block[index] = byteAt(bytes, length, end, from + index);
    addBlock();
  }
  for (let index = 0; index < SHA1_BYTES; index++) {
    out[index] = (state[index >> 2] ?? 0) >>> (24 - 8 * (index & 3));
  }
}

function byteAt(bytes: Uint8Array, length: number, end: number, at: number): number {
  if (at < length) return bytes[at] ?? 0;
  if (at === length) return 0x80;
  return at < end - 4 ? 0 : ((length * 8) >>> (8 * (end - 1 - at))) & 0xff;
}

function addBlock(): void {
  for (let index = 0; index < 16; index++) {
    const at = index * 4;
    schedule[index] =
      ((block[at] ?? 0) << 24) |
      ((block[at + 1] ?? 0) << 16) |
      ((block[at + 2] ?? 0) << 8) |
      (block[at + 3] ?? 0);
  }
  for (let index = 16; index < 80; index++) {
    const word =
      (schedule[index - 3] ?? 0) ^
      (schedule[index - 8] ?? 0) ^
      (schedule[index - 14] ?? 0) ^
      (schedule[index - 16] ?? 0);
    schedule[index] = (word << 1) | (word >>> 31);
  }
  let a = state[0] ?? 0;
  let b = state[1] ?? 0;
  let c = state[2] ?? 0;
  let d = state[3] ?? 0;
  let e = state[4] ?? 0;
  for (let index = 0; index < 80; index++) {
    const mixed =
      index < 20
        ? ((b & c) | (~b & d)) + 0x5a827999
        : index < 40
          ? (b ^ c ^ d) + 0x6ed9eba1
          : index < 60
            ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
            : (b ^ c ^ d) + 0xca62c1d6;
    const next = (((a << 5) | (a >>> 27)) + mixed + e + (schedule[index] ?? 0)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state[0] = (state[0] ?? 0) + a;
  state[1] = (state[1] ?? 0) + b;
  state[2] = (state[2] ?? 0) + c;
  state[3] = (state[3] ?? 0) + d;
  state[4] = (state[4] ?? 0) + e;
}
