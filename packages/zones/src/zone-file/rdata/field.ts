/** A kind of field: how it is read from text, and printed from wire format. */
import type { Entries } from '../entries.ts';
import { escapeAt, nameFromText, zoneFileName } from '../names.ts';
import { TokenError } from '../problem.ts';
import { type DataReader, DataWriter } from '../record-data.ts';

export interface FieldKind {
  /** Reads the field's tokens and writes it in wire format. Throws a `TokenError`. */
  parse(tokens: Tokens, out: DataWriter): void;
  /** The text of the field at the reader's position. Throws a `DataError` if the field is not valid. */
  print(data: DataReader): string;
}

/** The tokens of one record's data, in order. */
export class Tokens {
  readonly entry: Entries;
  /** Relative names in the data are completed by it. */
  origin: Uint8Array;
  /** Index of the next token. */
  at = 0;

  constructor(entry: Entries, origin: Uint8Array) {
    this.entry = entry;
    this.origin = origin;
  }

  get hasMore(): boolean {
    return this.at < this.entry.count;
  }

  /** The next token, with its escapes; `what` names it in the error if there is none. */
  next(what: string): string {
    return this.entry.text(this.#take(what));
  }

  /** The next token, which stays the next one; undefined if there is none. */
  peek(): string | undefined {
    return this.hasMore ? this.entry.text(this.at) : undefined;
  }

  /** The bytes of the next token, with its escapes. */
  nextRaw(what: string): Uint8Array {
    return this.entry.bytes(this.#take(what));
  }

  nextName(what = 'a name'): Buffer {
    const token = this.#take(what);
    if (this.entry.isQuoted(token)) throw new TokenError(`${what} is in quotes`, 'remove the quotes', token);
    return nameFromText(this.entry.bytes(token), this.origin);
  }

  /** The next token with its escapes resolved. */
  nextBytes(what: string): Buffer {
    return unescaped(this.nextRaw(what));
  }

  /** All remaining tokens, joined. */
  rest(): string {
    let text = '';
    while (this.hasMore) text += this.next('more');
    return text;
  }

  /** Throws a `TokenError` if there is more after the end of `what`. */
  end(what: string): void {
    if (!this.hasMore) return;
    const problem = `there is text after the end of ${what}: "${this.peek()}"`;
    throw new TokenError(problem, 'remove it, or put a ; before of a comment', this.at);
  }

  #take(what: string): number {
    if (!this.hasMore)
      throw new TokenError(`the record ends where ${what} should follow`, `add ${what}`, this.at);
    return this.at++;
  }
}

const BACKSLASH = 0x5c;
const DIGIT_0 = 0x30;

/** A token with its escapes resolved. Throws a `TokenError`. */
export function unescaped(text: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    let byte = text[index] ?? 0;
    if (byte === BACKSLASH) {
      byte = escapeAt(text, index + 1);
      const next = text[index + 1] ?? 0;
      index += next >= DIGIT_0 && next <= DIGIT_0 + 9 ? 3 : 1;
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

/** The error for a token that is not valid in its field. */
export function wrongToken(text: string, what: string, fix: string): TokenError {
  return new TokenError(`"${text}" is not ${what}`, fix);
}

/** What `write` writes, for fields that are preceded by their length. */
export function written(write: (out: DataWriter) => void): Buffer {
  const out = new DataWriter();
  write(out);
  return out.copy();
}

/** A domain name, which is never compressed here. */
const name: FieldKind = {
  parse: (tokens, out) => out.bytes(tokens.nextName()),
  print: (data) => zoneFileName(data.name()),
};

export const NAME_KINDS = { name } satisfies Record<string, FieldKind>;
