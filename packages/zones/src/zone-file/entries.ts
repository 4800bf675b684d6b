/**
 * Splits the text of a zone file into entries, and those into tokens (RFC 1035, section 5.1): an entry is a line,
 * or several lines joined by parentheses. Works on bytes in chunks of any size, and keeps one entry at a time.
 */
import { LexicalError } from './problem.ts';

/**
 * Maximum size of an entry. A record has at most 65,535 bytes of data, each of which takes four as `\DDD`; the rest is
 * room for blanks and comments within parentheses.
 */
export const MAX_ENTRY_BYTES = 1024 * 1024;
/** More than 65,535 bytes of data in hexadecimal need, even with a blank after every pair of digits. */
const MAX_TOKENS = 70_000;

const INITIAL_BUFFER_BYTES = 128 * 1024;
const INITIAL_TOKENS = 64;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN = 0x28;
const CLOSE = 0x29;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;

/** 1 for bytes that end a word. */
const ENDS_WORD = Uint8Array.from({ length: 256 }, (_, byte) =>
  [0, TAB, LINE_FEED, RETURN, SPACE, QUOTE, OPEN, CLOSE, SEMICOLON].includes(byte) ? 1 : 0,
);

export class Entries {
  /** Whether the current entry begins with a blank: its owner is that of the previous entry. */
  beginsBlank = false;
  /** Number of tokens in the current entry. */
  count = 0;
  /** Line of the current entry's first token, from 1. */
  line = 1;
  readonly #chunks: Iterator<Uint8Array>;
  #bytes: Buffer;
  /** Start and end of each token, relative to the start of the entry; the end of a quoted one is negative. */
  #places = new Int32Array(2 * INITIAL_TOKENS);
  /** Where the entry starts; the bytes before it are no longer needed. */
  #start = 0;
  /** Where reading continues. */
  #at = 0;
  #filled = 0;
  #startLine = 1;
  /** The line of `#at`, and where that line starts, relative to the start of the entry. */
  #line = 1;
  #lineStart = 0;
  #depth = 0;
  #openLine = 0;
  #openColumn = 0;

  /** `bufferBytes` is the size of the buffer to begin with; it grows if a chunk or an entry needs more. */
  constructor(chunks: Iterable<Uint8Array>, bufferBytes: number = INITIAL_BUFFER_BYTES) {
    this.#chunks = chunks[Symbol.iterator]();
    this.#bytes = Buffer.allocUnsafe(bufferBytes);
  }

  /** Goes to the next entry that has tokens. False at the end. Throws a `LexicalError`. */
  next(): boolean {
    while (this.#readEntry()) if (this.count > 0) return true;
    return false;
  }

  /** Stops reading early and lets the source close. */
  close(): void {
    this.#chunks.return?.();
  }

  /** The text of a token, with its escapes. */
  text(token: number): string {
    const [start, end] = this.#span(token);
    return this.#bytes.toString('latin1', start, end);
  }

  isQuoted(token: number): boolean {
    return (this.#places[2 * token + 1] ?? 0) < 0;
  }

  /** Whether a token follows the previous one without a blank, as in `key="value"`. */
  isAttached(token: number): boolean {
    if (token === 0) return false;
    const [start] = this.#span(token);
    const [, before] = this.#span(token - 1);
    return start - (this.isQuoted(token) ? 1 : 0) === before + (this.isQuoted(token - 1) ? 1 : 0);
  }

  /** The bytes of a token, with its escapes. Valid until the next entry is read. */
  bytes(token: number): Uint8Array {
    const [start, end] = this.#span(token);
    return this.#bytes.subarray(start, end);
  }

  /** Line and column of a token; those of the entry's end for the index after the last token. */
  placeOf(token: number): { readonly line: number; readonly column: number } {
    const at =
      token < this.count
        ? this.#span(token)[0] - (this.isQuoted(token) ? 1 : 0)
        : this.count === 0
          ? this.#start
          : this.#span(this.count - 1)[1];
    let line = this.#startLine;
    let lineStart = this.#start;
    for (let index = this.#start; index < at; index++) {
      if (!endsLine(this.#bytes, index)) continue;
      line++;
      lineStart = index + 1;
    }
    return { line, column: at - lineStart + 1 };
  }

  #span(token: number): [number, number] {
    const start = this.#places[2 * token] ?? 0;
    const end = Math.abs(this.#places[2 * token + 1] ?? 0);
    return [this.#start + start, this.#start + end];
  }

  /** Reads to the end of a line outside parentheses. False at the end of the text. */
  #readEntry(): boolean {
    this.#start = this.#at;
    this.#startLine = this.#line;
    this.#lineStart = 0;
    this.#depth = 0;
    this.count = 0;
    if (this.#peek() === -1) return false;
    const first = this.#bytes[this.#at];
    this.beginsBlank = first === SPACE || first === TAB;
    for (;;) {
      const byte = this.#peek();
      switch (byte) {
        case -1:
          if (this.#depth > 0) throw this.#unclosed();
          return true;
        case SPACE:
        case TAB:
          this.#at++;
          break;
        case RETURN:
        case LINE_FEED:
          this.#newLine(byte);
          if (this.#depth === 0) return true;
          break;
        case OPEN:
          if (this.#depth++ === 0) {
            this.#openLine = this.#line;
            this.#openColumn = this.#column();
          }
          this.#at++;
          break;
        case CLOSE:
          if (this.#depth-- === 0) {
            throw this.#wrong('there is a ")" without a "("', 'remove it, or add the opening parenthesis');
          }
          this.#at++;
          break;
        case SEMICOLON:
          this.#skipComment();
          break;
        case QUOTE:
          this.#quoted();
          break;
        case 0:
          throw this.#wrong(
            'there is a null byte',
            'give a text file; in a name or string, write the byte as \\000',
          );
        default:
          this.#word();
      }
    }
  }

  /** The byte at `#at`; -1 at the end of the text. */
  #peek(): number {
    if (this.#at < this.#filled || this.#fill()) return this.#bytes[this.#at] ?? -1;
    return -1;
  }

  #column(): number {
    return this.#at - this.#start - this.#lineStart + 1;
  }

  #newLine(byte: number): void {
    this.#at++;
    if (byte === RETURN && this.#peek() === LINE_FEED) this.#at++;
    this.#line++;
    this.#lineStart = this.#at - this.#start;
  }

  #skipComment(): void {
    for (;;) {
      const end = this.#bytes.subarray(0, this.#filled).indexOf(LINE_FEED, this.#at);
      if (end !== -1) {
        this.#at = end;
        return;
      }
      this.#at = this.#filled;
      // A comment outside parentheses is not kept, so it may be longer than an entry.
      if (this.count === 0 && this.#depth === 0) this.#start = this.#at;
      if (!this.#fill()) return;
    }
  }

  #word(): void {
    const start = this.#at - this.#start;
    let isEscaped = false;
    for (;;) {
      const byte = this.#peek();
      if (byte === -1 || byte === LINE_FEED || byte === RETURN) break;
      if (!isEscaped && ENDS_WORD[byte] === 1) break;
      isEscaped = byte === BACKSLASH && !isEscaped;
      this.#at++;
    }
    this.#add(start, this.#at - this.#start);
  }

  #quoted(): void {
    const line = this.#line;
    const column = this.#column();
    this.#at++;
    const start = this.#at - this.#start;
    let isEscaped = false;
    for (;;) {
      const byte = this.#peek();
      if (byte === -1 || (byte === LINE_FEED && !isEscaped)) {
        const fix = 'close the text with a " on the same line, or write \\" for a quote within it';
        throw new LexicalError('the quoted text does not end on its line', fix, line, column);
      }
      if (byte === QUOTE && !isEscaped) break;
      isEscaped = byte === BACKSLASH && !isEscaped;
      this.#at++;
      if (byte !== LINE_FEED) continue;
      this.#line++;
      this.#lineStart = this.#at - this.#start;
    }
    this.#add(start, -(this.#at - this.#start));
    this.#at++;
  }

  #add(start: number, end: number): void {
    if (this.count === MAX_TOKENS) {
      throw this.#wrong(
        `a record has more than ${MAX_TOKENS} words`,
        'no record is that long: look for a "(" that is not closed',
      );
    }
    if (2 * this.count === this.#places.length) {
      const larger = new Int32Array(2 * this.#places.length);
      larger.set(this.#places);
      this.#places = larger;
    }
    if (this.count === 0) this.line = this.#line;
    this.#places[2 * this.count] = start;
    this.#places[2 * this.count + 1] = end;
    this.count++;
  }

  /** Appends the next chunk to the bytes that are still needed. False at the end of the text. */
  #fill(): boolean {
    let chunk: IteratorResult<Uint8Array>;
    do {
      chunk = this.#chunks.next();
      if (chunk.done === true) return false;
    } while (chunk.value.length === 0);
    const { value } = chunk;
    const kept = this.#filled - this.#start;
    if (kept > MAX_ENTRY_BYTES) throw this.#tooLong();
    if (kept + value.length > this.#bytes.length || this.#start > 0) this.#move(kept, value.length);
    this.#bytes.set(value, kept);
    this.#filled = kept + value.length;
    return true;
  }

  #move(kept: number, more: number): void {
    const from = this.#bytes;
    if (kept + more > from.length) this.#bytes = Buffer.allocUnsafe(Math.max(2 * from.length, kept + more));
    from.copy(this.#bytes, 0, this.#start, this.#filled);
    this.#at -= this.#start;
    this.#start = 0;
  }

  #wrong(problem: string, fix: string): LexicalError {
    return new LexicalError(problem, fix, this.#line, this.#column());
  }

  #unclosed(): LexicalError {
    const fix = 'close it after the last field of the record';
    return new LexicalError('the "(" is not closed', fix, this.#openLine, this.#openColumn);
  }

  #tooLong(): LexicalError {
    if (this.#depth > 0) return this.#unclosed();
    const problem = `a line has more than ${MAX_ENTRY_BYTES} bytes`;
    return new LexicalError(problem, 'give a zone file: no record is that long', this.#line, 1);
  }
}

function endsLine(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at];
  return byte === LINE_FEED || (byte === RETURN && bytes[at + 1] !== LINE_FEED);
}
