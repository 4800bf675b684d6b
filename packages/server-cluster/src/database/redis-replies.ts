/** Replies of Redis (RESP2) as they arrive, in any pieces: simple and bulk strings, numbers, and lists of bulk strings. */

type Text = string | null;
/** A list of strings, or one. */
export type Reply = Text | Text[];

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const CR = 0x0d;

/** Reads one reply at a time; incomplete ones are kept until the rest arrives. */
export class ReplyReader {
  readonly #waiting: Waiting[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #failure: Error | undefined;

  /** The next reply that nobody waits for yet. Rejects with what Redis says, or after `fail`. */
  next(): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }

  read(bytes: Buffer): void {
    this.#bytes =
      this.#bytes.length === this.#at ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    this.#at = 0;
    for (;;) {
      const start = this.#at;
      const reply = this.#reply();
      if (reply === undefined) {
        this.#at = start;
        return;
      }
      const waiting = this.#waiting.shift();
      if (reply instanceof Error) waiting?.reject(reply);
      else waiting?.resolve(reply);
    }
  }

  /** Up to the end of the line, which is read; undefined if it has not arrived. */
  #line(): string | undefined {
    const end = this.#bytes.indexOf(CR, this.#at);
    if (end === -1 || end + 2 > this.#bytes.length) return undefined;
    const line = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 2;
    return line;
  }

  #bulk(length: number): Text | undefined {
    if (length < 0) return null;
    const end = this.#at + length;
    if (end + 2 > this.#bytes.length) return undefined;
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 2;
    return text;
  }

  #reply(): Reply | Error | undefined {
    const line = this.#line();
    if (line === undefined) return undefined;
    const rest = line.slice(1);
    switch (line[0]) {
      case '$':
        return this.#bulk(Number(rest));
      case '*':
        return this.#list(Number(rest));
      case '-':
        return new Error(`Redis says: ${rest}`);
      default:
        return rest;
    }
  }

  #list(length: number): Text[] | Error | undefined {
    const items: Text[] = [];
    for (let index = 0; index < length; index++) {
      const item = this.#reply();
      if (item === undefined || item instanceof Error || Array.isArray(item)) return undefined;
      items.push(item);
    }
    return items;
  }
}
