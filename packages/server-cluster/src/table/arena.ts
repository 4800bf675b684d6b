/**
 * Memory for millions of small records in one ArrayBuffer. A record is a block of 32-bit words; its id is the
 * index of the first word. Released blocks are reused for blocks of the same size, so that a store that changes
 * constantly does not grow.
 */

/** The null id: no block has it. */
export const NONE = 0;

/** Blocks up to this size are reused exactly; larger ones are rounded up to a multiple of it. */
const EXACT_WORDS = 64;
const INITIAL_WORDS = 1024;
/** 32 MiB. */
const LARGE_WORDS = 2 ** 23;
/** Ids are positive 32-bit integers. */
const MAX_WORDS = 0x7fff_ffff;

function rounded(words: number): number {
  return words <= EXACT_WORDS ? words : Math.ceil(words / EXACT_WORDS) * EXACT_WORDS;
}

export class Arena {
  /** Both are replaced when the arena grows, and the old ones become empty: never keep them across an `allocate`. */
  words = new Int32Array(INITIAL_WORDS);
  bytes = new Uint8Array(this.words.buffer);
  #end = 1;
  /** The first free block of each size; its first word is the id of the next one. */
  readonly #free = new Map<number, number>();

  /** Bytes in blocks, including free ones. */
  get byteLength(): number {
    return this.#end * 4;
  }

  /** All blocks, as `restore` takes them; valid until the next change. */
  parts(): Int32Array[] {
    return [this.words.subarray(0, this.#end), Int32Array.from([...this.#free].flat())];
  }

  restore(words: Int32Array<ArrayBuffer>, free: Int32Array): void {
    this.words = words;
    this.bytes = new Uint8Array(words.buffer);
    this.#end = words.length;
    this.#free.clear();
    for (let at = 0; at < free.length; at += 2) this.#free.set(free[at] ?? 0, free[at + 1] ?? NONE);
  }

  /** Makes room for `words` more words, so that filling the arena does not copy it repeatedly. */
  reserve(words: number): void {
    const needed = this.#end + words;
    if (needed <= this.words.length) return;
    if (needed > MAX_WORDS) throw new RangeError('The zones need more than 8 GiB.');
    const old = this.words;
    if (needed > 4 * old.length) {
      // The system gives a new buffer its memory as it is used; `transfer` would fill it with zeros.
      this.words = new Int32Array(needed);
      this.words.set(old);
    } else {
      // Unlike a copy, this frees the old buffer at once: the collector is slow to notice large ones.
      this.words = new Int32Array(old.buffer.transfer(needed * 4));
    }
    this.bytes = new Uint8Array(this.words.buffer);
  }

  /** Allocates a block and returns its id. Its contents are undefined. */
  allocate(words: number): number {
    const size = rounded(words);
    const reused = this.#free.get(size) ?? NONE;
    if (reused !== NONE) {
      this.#free.set(size, this.words[reused] ?? NONE);
      return reused;
    }
    if (this.#end + size > this.words.length) this.reserve(Math.max(size, this.#growth()));
    const id = this.#end;
    this.#end += size;
    return id;
  }

  /** Doubles a small arena. A large one grows by a quarter, since both buffers exist while one is copied. */
  #growth(): number {
    const { length } = this.words;
    return length < LARGE_WORDS ? length : length >> 2;
  }

  /** `words` must be the allocated size. */
  release(id: number, words: number): void {
    const size = rounded(words);
    this.words[id] = this.#free.get(size) ?? NONE;
    this.#free.set(size, id);
  }
}
