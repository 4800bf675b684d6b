/**
 * Memory for millions of small records in one ArrayBuffer: a record is a block of 32-bit words, and its id is
 * the index of the first. What is released is used again for blocks of the same size, so that a store that
 * changes all the time does not grow.
 */

/** The id of nothing; no block ever has it. */
export const NONE = 0;

/** Blocks up to this size are reused exactly; larger ones are rounded up to a multiple of it. */
const EXACT_WORDS = 64;
const INITIAL_WORDS = 1024;
/** Ids are positive 32-bit integers. */
const MAX_WORDS = 0x7fff_ffff;

function rounded(words: number): number {
  return words <= EXACT_WORDS ? words : Math.ceil(words / EXACT_WORDS) * EXACT_WORDS;
}

export class Arena {
  /** Both are replaced when the arena grows: never keep them across an `allocate`. */
  words = new Int32Array(INITIAL_WORDS);
  bytes = new Uint8Array(this.words.buffer);
  #end = 1;
  /** The first free block of each size; its first word is the id of the next one. */
  readonly #free = new Map<number, number>();

  /** Bytes that hold blocks, free ones included. */
  get byteLength(): number {
    return this.#end * 4;
  }

  /** Makes room for so many words more, so that filling it does not copy it again and again. */
  reserve(words: number): void {
    const needed = this.#end + words;
    if (needed <= this.words.length) return;
    if (needed > MAX_WORDS) throw new RangeError('The zones need more than 8 GiB.');
    const grown = new Int32Array(needed);
    grown.set(this.words.subarray(0, this.#end));
    this.words = grown;
    this.bytes = new Uint8Array(grown.buffer);
  }

  /** The id of a block of so many words; they hold anything. */
  allocate(words: number): number {
    const size = rounded(words);
    const reused = this.#free.get(size) ?? NONE;
    if (reused !== NONE) {
      this.#free.set(size, this.words[reused] ?? NONE);
      return reused;
    }
    if (this.#end + size > this.words.length) this.reserve(Math.max(size, this.words.length));
    const id = this.#end;
    this.#end += size;
    return id;
  }

  /** `words` as it was allocated with. */
  release(id: number, words: number): void {
    const size = rounded(words);
    this.words[id] = this.#free.get(size) ?? NONE;
    this.#free.set(size, id);
  }
}
