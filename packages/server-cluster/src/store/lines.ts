/** The lines of a file that is read in pieces, without copying. */
const LINE_FEED = 0x0a;
/** No zone with valid records comes near this; a file of another kind without line breaks does. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 1024 * 1024;

export class Lines {
  /** The current line: `bytes[start, end)`, until `space` is called. */
  bytes = Buffer.allocUnsafe(2 * CHUNK_BYTES);
  start = 0;
  end = 0;
  #next = 0;
  #filled = 0;
  #isEnded = false;

  /** Buffer space for the next piece of the file. Throws a RangeError if a line does not end. */
  space(): Buffer {
    const rest = this.#filled - this.#next;
    if (rest > MAX_LINE_BYTES) throw new RangeError('a line is too long: this is not a zones file');
    const old = this.bytes;
    if (rest + CHUNK_BYTES > old.length) this.bytes = Buffer.allocUnsafe(old.length * 2);
    old.copy(this.bytes, 0, this.#next, this.#filled);
    this.#next = 0;
    this.#filled = rest;
    return this.bytes.subarray(rest);
  }

  /** Tells that `count` bytes of the space were filled; 0 means the end of the file. */
  fill(count: number): void {
    this.#filled += count;
    this.#isEnded = count === 0;
  }

  /** Moves to the next line; false if it has not arrived completely. */
  next(): boolean {
    const at = this.bytes.subarray(0, this.#filled).indexOf(LINE_FEED, this.#next);
    if (at === -1 && (!this.#isEnded || this.#next >= this.#filled)) return false;
    this.start = this.#next;
    this.end = at === -1 ? this.#filled : at;
    this.#next = this.end + 1;
    return true;
  }

  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }
}
