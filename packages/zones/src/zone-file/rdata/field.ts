/** What a kind of field is: how its text becomes octets, and its octets text. */
import type { Entries } from '../entries.ts';
import { escapeAt, nameFromText } from '../names.ts';
import { type DataReader, DataWriter } from '../octets.ts';
import { TokenError } from '../problem.ts';

export interface FieldKind {
  /** Reads the field's tokens and writes its octets. Throws a `TokenError`. */
  parse(tokens: Tokens, out: DataWriter): void;
  /** Reads the field's octets. Throws a `DataError` if they cannot be such a field. */
  print(data: DataReader): string;
}

/** The tokens of one record's data, in order. */
export class Tokens {
  readonly entry: Entries;
  /** Names in the data are relative to it. */
  origin: Uint8Array;
  /** The token that comes next. */
  at = 0;

  constructor(entry: Entries, origin: Uint8Array) {
    this.entry = entry;
    this.origin = origin;
  }

  get hasMore(): boolean {
    return this.at < this.entry.count;
  }

  /** The next token as it is written; `what` names it for the error if there is none. */
  next(what: string): string {
    return this.entry.text(this.#take(what));
  }

  /** The next token without going on; undefined if there is none. */
  peek(): string | undefined {
    return this.hasMore ? this.entry.text(this.at) : undefined;
  }

  /** The octets of the next token, escapes as they are. */
  nextRaw(what: string): Uint8Array {
    return this.entry.octets(this.#take(what));
  }

  nextName(what = 'a name'): Buffer {
    const token = this.#take(what);
    if (this.entry.isQuoted(token)) throw new TokenError(`${what} is in quotes`, 'remove the quotes', token);
    return nameFromText(this.entry.octets(token), this.origin);
  }

  /** The next token, escapes resolved. */
  nextOctets(what: string): Buffer {
    return unescaped(this.nextRaw(what));
  }

  /** All further tokens, joined. */
  rest(): string {
    let text = '';
    while (this.hasMore) text += this.next('more');
    return text;
  }

  #take(what: string): number {
    if (!this.hasMore)
      throw new TokenError(`the record ends where ${what} should follow`, `add ${what}`, this.at);
    return this.at++;
  }
}

const BACKSLASH = 0x5c;
const DIGIT_0 = 0x30;

/** The octets that a token stands for. Throws a `TokenError`. */
export function unescaped(text: Uint8Array): Buffer {
  const octets = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    let octet = text[index] ?? 0;
    if (octet === BACKSLASH) {
      octet = escapeAt(text, index + 1);
      const next = text[index + 1] ?? 0;
      index += next >= DIGIT_0 && next <= DIGIT_0 + 9 ? 3 : 1;
    }
    octets[length++] = octet;
  }
  return octets.subarray(0, length);
}

/** The error for a token that is not what its field needs. */
export function wrongToken(text: string, what: string, fix: string): TokenError {
  return new TokenError(`"${text}" is not ${what}`, fix);
}

/** Scratch for fields that are put together before their length is known. */
export function written(write: (out: DataWriter) => void): Buffer {
  const out = new DataWriter();
  write(out);
  return out.copy();
}
