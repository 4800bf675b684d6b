/**
 * Reads zone files (RFC 1035, section 5, RFC 2308, RFC 3597) as BIND does, entry by entry, from chunks of any size,
 * with the directives `$ORIGIN`, `$TTL`, `$INCLUDE` and `$GENERATE`.
 */
import { nearest } from '@dinodns-bench/program';
import { CLASS, className, TYPE, typeName, typeNumber } from '@dinodns-bench/wire';
import { ZonesError } from '../errors.ts';
import { Entries } from './entries.ts';
import { MAX_GENERATED, rangeFromText, sizeOf, templateFromText } from './generate.ts';
import { nameFromText, ROOT, zoneFileName } from './names.ts';
import { LexicalError, problemAt, TokenError, ZoneFileError, type ZoneFileProblem } from './problem.ts';
import { Tokens } from './rdata/field.ts';
import { parseData } from './rdata/index.ts';
import { DataWriter } from './record-data.ts';
import { classFromText, TYPES_IN_FILES, unusable } from './record-fields.ts';
import { MAX_TTL, secondsFromText } from './ttl.ts';

/** A record of a zone file; all names are absolute and uncompressed. */
export interface ZoneRecord {
  /** The owner name in wire format, in the letter case of the file. */
  readonly name: Uint8Array;
  readonly type: number;
  readonly class: number;
  /** In seconds, 0 to 2^31 − 1. */
  readonly ttl: number;
  /** The record data in wire format. */
  readonly data: Uint8Array;
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** An included file: its name for messages, and its text. */
export interface IncludedFile {
  readonly file: string;
  readonly chunks: Iterable<Uint8Array>;
}

export interface ParseOptions {
  /** Name of the file in records and messages. Default: `zone`. */
  readonly file?: string;
  /** The origin of relative names until the first `$ORIGIN`, as text. Default: the root. */
  readonly origin?: string;
  /** The class of all records. Default: 1, IN. */
  readonly class?: number;
  /**
   * Opens the file that `$INCLUDE path` in the file `from` names. A `TokenError` that it throws becomes a problem of the
   * directive. Default: `$INCLUDE` is an error.
   */
  readonly include?: (path: string, from: string) => IncludedFile;
  /** Called for text that is accepted but is probably a mistake. Default: no warnings. */
  readonly onWarning?: (warning: ZoneFileProblem) => void;
}

/** Maximum depth of `$INCLUDE` in included files: it stops a file that includes itself. */
export const MAX_INCLUDE_DEPTH = 16;
/** Maximum number of included files in a zone: ten files that each include the next ten times make ten billion. */
export const MAX_INCLUDES = 10_000;
/** A file of another kind has a problem on every line, and nobody reads more than this. */
const MAX_PROBLEMS = 20;
/** Maximum length of the data that `$GENERATE` makes for one record, as text. */
const MAX_TEMPLATE_BYTES = 65_536;

const DOLLAR = 0x24;
/** Words that are neither a class nor a TTL: nearly all of the words before the data. */
const USUAL_TYPES: ReadonlySet<string> = new Set(TYPES_IN_FILES);

/** The fast path: nearly all types are in capitals. */
const TYPE_BY_NAME = new Map(TYPES_IN_FILES.map((name) => [name, typeNumber(name) ?? 0]));

interface Frame {
  readonly file: string;
  readonly entries: Entries;
  origin: Uint8Array;
  owner: Uint8Array | undefined;
}

/**
 * The records of a zone file, in file order. `text` is the whole file or its chunks. If anything is wrong, all valid
 * records are yielded first; then a `ZoneFileError` is thrown that lists the problems (at most 20), each with file, line
 * and column. Memory does not grow with the file.
 */
export function parseZoneFile(
  text: string | Uint8Array | Iterable<Uint8Array>,
  options: ParseOptions = {},
): Generator<ZoneRecord, void, void> {
  const chunks = typeof text === 'string' ? [Buffer.from(text)] : text instanceof Uint8Array ? [text] : text;
  return new ZoneFileParser(chunks, options).records();
}

/** A name given by a program or a user, in wire format. Throws a `ZonesError` (`E_USAGE`). */
export function originFromText(text: string): Buffer {
  try {
    return nameFromText(Buffer.from(text), ROOT);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new ZonesError('E_USAGE', 'the origin', [{ problem: error.message, fix: error.fix }]);
  }
}

class ZoneFileParser {
  readonly #options: ParseOptions;
  readonly #class: number;
  readonly #problems: ZoneFileProblem[] = [];
  readonly #frames: Frame[] = [];
  readonly #out = new DataWriter();
  readonly #file: string;
  /** The last TTL given, or that of the SOA record. */
  #ttl: number | undefined;
  /** From `$TTL`. */
  #defaultTtl: number | undefined;
  #includes = 0;
  #generated = 0;
  #hasWarnedOfTtl = false;

  constructor(chunks: Iterable<Uint8Array>, options: ParseOptions) {
    this.#options = options;
    this.#class = options.class ?? CLASS.IN;
    this.#file = options.file ?? 'zone';
    this.#push(this.#file, chunks, originFromText(options.origin ?? '.'), undefined);
  }

  *records(): Generator<ZoneRecord, void, void> {
    try {
      for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
        let record: ZoneRecord | Iterable<ZoneRecord> | undefined;
        try {
          if (!frame.entries.next()) {
            this.#frames.pop();
            continue;
          }
          record = this.#entry(frame);
          if (record !== undefined && Symbol.iterator in record) yield* record;
          else if (record !== undefined) yield record;
        } catch (error) {
          this.#note(frame, error);
          if (error instanceof LexicalError || this.#problems.length >= MAX_PROBLEMS) break;
        }
      }
    } finally {
      for (const { entries } of this.#frames) entries.close();
    }
    if (this.#problems.length > 0) throw new ZoneFileError(this.#file, this.#problems);
  }

  #push(file: string, chunks: Iterable<Uint8Array>, origin: Uint8Array, owner: Uint8Array | undefined): void {
    this.#frames.push({ file, entries: new Entries(chunks), origin, owner });
  }

  #note({ file, entries }: Frame, error: unknown): void {
    if (error instanceof LexicalError) {
      this.#problems.push(
        problemAt({ file, line: error.line, column: error.column }, error.message, error.fix),
      );
    } else if (error instanceof TokenError) {
      const { line, column } = entries.placeOf(error.token ?? Math.max(0, this.#lastRead - 1));
      this.#problems.push(problemAt({ file, line, column }, error.message, error.fix));
    } else {
      throw error;
    }
  }

  /** Those of the current entry. */
  #tokens: Tokens | undefined;

  /** Number of tokens of the current entry that have been read. */

  get #lastRead(): number {
    return this.#tokens?.at ?? 0;
  }

  #warn({ file, entries }: Frame, token: number, problem: string, fix: string): void {
    this.#options.onWarning?.(problemAt({ file, ...entries.placeOf(token) }, problem, fix));
  }

  #entry(frame: Frame): ZoneRecord | Iterable<ZoneRecord> | undefined {
    const { entries } = frame;
    const tokens = new Tokens(entries, frame.origin);
    this.#tokens = tokens;
    if (!entries.beginsBlank) {
      if (entries.bytes(0)[0] === DOLLAR && !entries.isQuoted(0)) return this.#directive(frame, tokens);
      frame.owner = nameFromText(tokens.nextRaw('the owner'), frame.origin);
    } else if (frame.owner === undefined) {
      const fix = 'begin the line with the name of the record, or with @ for the origin';
      throw new TokenError('the record has no owner, and there is none before it', fix, 0);
    }
    return this.#record(frame, tokens, frame.owner);
  }

  #record(frame: Frame, tokens: Tokens, owner: Uint8Array): ZoneRecord {
    const ttl = this.#head(frame, tokens);
    const type = this.#type(tokens);
    const soaTtl = ttl ?? this.#inheritedTtl(frame, tokens, type);
    const data = parseData(type, this.#class, tokens, this.#out);
    const { file, entries } = frame;
    const found = soaTtl ?? this.#ttlOfSoa(frame, data);
    return { name: owner, type, class: this.#class, ttl: found, data, file, line: entries.line };
  }

  /** Reads TTL and class, in either order, and returns the TTL if there is one. */
  #head(frame: Frame, tokens: Tokens): number | undefined {
    let ttl: number | undefined;
    let hasClass = false;
    for (;;) {
      const word = tokens.peek();
      if (word === undefined || USUAL_TYPES.has(word)) return ttl;
      const classCode = hasClass ? undefined : classFromText(word);
      if (classCode !== undefined) {
        this.#checkClass(classCode, tokens);
        hasClass = true;
        tokens.next('a class');
        continue;
      }
      const seconds = ttl === undefined ? secondsFromText(word) : undefined;
      if (seconds === undefined) return ttl;
      tokens.next('a TTL');
      ttl = this.#checkedTtl(frame, tokens.at - 1, seconds, word);
      this.#ttl = ttl;
    }
  }

  #checkClass(classCode: number, tokens: Tokens): void {
    if (classCode === this.#class) return;
    throw new TokenError(
      `the class is ${className(classCode)}, but that of the zone is ${className(this.#class)}`,
      `write ${className(this.#class)}, or omit the class`,
      tokens.at,
    );
  }

  #checkedTtl(frame: Frame, token: number, seconds: number | 'range', text: string): number {
    if (seconds === 'range') {
      throw new TokenError(
        `the TTL ${text} is too large`,
        `write at most ${MAX_TTL} seconds (RFC 2181, section 8)`,
        token,
      );
    }
    if (seconds <= MAX_TTL) return seconds;
    const fix = `write at most ${MAX_TTL} seconds (RFC 2181, section 8)`;
    this.#warn(frame, token, `the TTL ${text} is too large; 0 is used`, fix);
    return 0;
  }

  /** The TTL of a record that does not give one; undefined for an SOA record from whose data it is taken. */
  #inheritedTtl(frame: Frame, tokens: Tokens, type: number): number | undefined {
    if (this.#defaultTtl !== undefined) {
      this.#ttl = this.#defaultTtl;
      return this.#defaultTtl;
    }
    if (this.#ttl === undefined) {
      if (type === TYPE.SOA) return undefined;
      throw new TokenError(
        'the record has no TTL, and there is none before it',
        'begin the file with $TTL 3600',
        tokens.at - 1,
      );
    }
    if (!this.#hasWarnedOfTtl) {
      this.#hasWarnedOfTtl = true;
      this.#warn(
        frame,
        0,
        'the record has no TTL: that of the previous record is used',
        'begin the file with $TTL 3600 (RFC 2308, section 4)',
      );
    }
    return this.#ttl;
  }

  /** The TTL if none is given up to the SOA record: its MINIMUM field, as before RFC 2308. */
  #ttlOfSoa(frame: Frame, data: Buffer): number {
    const ttl = Math.min(data.readUInt32BE(data.length - 4), MAX_TTL);
    this.#ttl = ttl;
    this.#defaultTtl = ttl;
    this.#warn(
      frame,
      0,
      `there is no TTL: ${ttl}, the minimum of the SOA record, is used`,
      'begin the file with $TTL 3600',
    );
    return ttl;
  }

  #type(tokens: Tokens): number {
    const word = tokens.next('a record type');
    const type = TYPE_BY_NAME.get(word) ?? typeNumber(word);
    if (type === undefined) {
      const near = nearest(word, TYPES_IN_FILES);
      const fix = `write a type such as ${near ?? 'A'}, or TYPE65280 (RFC 3597)`;
      throw new TokenError(`"${word}" is not a record type`, fix);
    }
    const reason = unusable(type);
    if (reason === 'meta') {
      throw new TokenError(`${typeName(type)} is a type for queries, not for records`, 'remove the record');
    }
    if (reason === 'obsolete') {
      throw new TokenError(
        `the type ${typeName(type)} is obsolete`,
        'write an MX record instead (RFC 1035, section 3.3.9)',
      );
    }
    return type;
  }

  #directive(frame: Frame, tokens: Tokens): Iterable<ZoneRecord> | undefined {
    const word = tokens.next('a directive');
    switch (word.toUpperCase()) {
      case '$ORIGIN':
        frame.origin = tokens.nextName('the origin');
        break;
      case '$TTL':
        this.#setDefaultTtl(frame, tokens);
        break;
      case '$INCLUDE':
        this.#include(frame, tokens);
        break;
      case '$GENERATE':
        return this.#generate(frame, tokens);
      case '$DATE':
        tokens.next('a date');
        break;
      default:
        throw new TokenError(
          `there is no directive ${word}`,
          'write $ORIGIN, $TTL, $INCLUDE or $GENERATE, or \\$ if it is the name of a record',
        );
    }
    this.#endDirective(word, tokens);
    return undefined;
  }

  #endDirective(word: string, tokens: Tokens): void {
    if (!tokens.hasMore) return;
    const problem = `there is text after the end of ${word}: "${tokens.peek()}"`;
    throw new TokenError(problem, 'remove it, or put a ; before of a comment', tokens.at);
  }

  #setDefaultTtl(frame: Frame, tokens: Tokens): void {
    const text = tokens.next('a TTL');
    const seconds = secondsFromText(text);
    if (seconds === undefined) {
      throw new TokenError(`"${text}" is not a TTL`, 'write seconds, or a time such as 1h30m');
    }
    this.#defaultTtl = this.#checkedTtl(frame, tokens.at - 1, seconds, text);
    this.#ttl = this.#defaultTtl;
  }

  #include(frame: Frame, tokens: Tokens): void {
    const path = tokens.nextBytes('the name of a file').toString('utf8');
    const at = tokens.at - 1;
    const origin = tokens.hasMore ? tokens.nextName('the origin') : frame.origin;
    this.#endDirective('$INCLUDE', tokens);
    if (this.#frames.length > MAX_INCLUDE_DEPTH) {
      const fix = 'look for a file that includes itself';
      throw new TokenError(`$INCLUDE is nested more than ${MAX_INCLUDE_DEPTH} files deep`, fix, at);
    }
    if (++this.#includes > MAX_INCLUDES) {
      const fix = 'include each file once';
      throw new TokenError(`the zone includes more than ${MAX_INCLUDES} files`, fix, at);
    }
    const { include } = this.#options;
    if (include === undefined)
      throw new TokenError('$INCLUDE is not allowed here', 'put all records into one file', at);
    try {
      const { file, chunks } = include(path, frame.file);
      this.#push(file, chunks, origin, frame.owner);
    } catch (error) {
      if (error instanceof TokenError) throw new TokenError(error.message, error.fix, at);
      throw error;
    }
  }

  /** `$GENERATE range owner [ttl] [class] type data`, where data is a single word or quoted text. */
  *#generate(frame: Frame, tokens: Tokens): Generator<ZoneRecord, void, void> {
    const range = rangeFromText(tokens.next('a range'));
    this.#generated += sizeOf(range);
    if (this.#generated > MAX_GENERATED) {
      const fix = 'generate fewer, or write the records to a file';
      throw new TokenError(`$GENERATE makes more than ${MAX_GENERATED} records`, fix);
    }
    const owner = templateFromText(tokens.next('a name'));
    const ttl = this.#head(frame, tokens);
    const type = this.#type(tokens);
    const found = ttl ?? this.#inheritedTtl(frame, tokens, type) ?? 0;
    const data = templateFromText(tokens.next('the data'));
    const last = tokens.at - 1;
    this.#endDirective('$GENERATE', tokens);
    const { file } = frame;
    const { line } = frame.entries;
    for (let number = range.start; number <= range.stop; number += range.step) {
      const at = { type, ttl: found, class: this.#class, file, line };
      yield {
        name: this.#generatedName(frame, owner(number)),
        data: this.#generatedData(frame, type, data(number), last),
        ...at,
      };
    }
  }

  #generatedName(frame: Frame, text: string): Buffer {
    try {
      return nameFromText(Buffer.from(text, 'latin1'), frame.origin);
    } catch (error) {
      throw error instanceof TokenError ? new TokenError(error.message, error.fix, 2) : error;
    }
  }

  /** The data of one record: `text` is split into tokens again. Problems are reported at the template, `token`. */
  #generatedData(frame: Frame, type: number, text: string, token: number): Buffer {
    if (text.length > MAX_TEMPLATE_BYTES) {
      throw new TokenError('the data of $GENERATE is too long', 'shorten it', token);
    }
    const entries = new Entries([Buffer.from(text, 'latin1')]);
    try {
      entries.next();
      return parseData(type, this.#class, new Tokens(entries, frame.origin), this.#out);
    } catch (error) {
      if (!(error instanceof TokenError) && !(error instanceof LexicalError)) throw error;
      throw new TokenError(`${error.message}, in "${text.slice(0, 80)}"`, error.fix, token);
    }
  }
}

/** How a record is shown in messages: `www.example. A`. */
export function recordLabel({ name, type }: Pick<ZoneRecord, 'name' | 'type'>): string {
  return `${zoneFileName(name)} ${typeName(type)}`;
}
