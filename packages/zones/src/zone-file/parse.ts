/**
 * Reads zone files (RFC 1035, section 5, RFC 2308, RFC 3597) as BIND does, entry by entry, from chunks of any size,
 * with the directives `$ORIGIN`, `$TTL`, `$INCLUDE` and `$GENERATE`.
 */
import { ZonesError } from '../errors.ts';
import { Entries } from './entries.ts';
import { type Generation, generatedRecords } from './generate.ts';
import { nameFromText, ROOT } from './names.ts';
import { LexicalError, problemAt, TokenError, ZoneFileError, type ZoneFileProblem } from './problem.ts';
import { Tokens } from './rdata/field.ts';
import { parseData } from './rdata/index.ts';
import { DataWriter } from './record-data.ts';
import { RecordHeads } from './record-head.ts';

/** A record of a zone file, of class IN; all names are absolute and uncompressed. */
export interface ZoneRecord {
  /** The owner name in wire format, in the letter case of the file. */
  readonly name: Uint8Array;
  readonly type: number;
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
  /**
   * Opens the file that `$INCLUDE path` in the file `from` names. A `TokenError` that it throws becomes a problem of the
   * directive. Default: `$INCLUDE` is an error.
   */
  readonly include?: (path: string, from: string) => IncludedFile;
}

/** Maximum depth of `$INCLUDE` in included files: it stops a file that includes itself. */
const MAX_INCLUDE_DEPTH = 16;
/** Maximum number of included files in a zone: ten files that each include the next ten times make ten billion. */
const MAX_INCLUDES = 10_000;
/** A file of another kind has a problem on every line, and nobody reads more than this. */
const MAX_PROBLEMS = 20;

const DOLLAR = 0x24;

/** A file that is being read: the zone file itself, or one that it includes. */
interface Frame {
  readonly file: string;
  readonly entries: Entries;
  /** Completes relative names. */
  origin: Uint8Array;
  /** That of the last record. */
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
    throw new ZonesError('E_USAGE', error.message, error.fix);
  }
}

class ZoneFileParser {
  readonly #options: ParseOptions;
  readonly #problems: ZoneFileProblem[] = [];
  readonly #frames: Frame[] = [];
  readonly #out = new DataWriter();
  readonly #file: string;
  readonly #heads = new RecordHeads();
  readonly #generation: Generation;
  #includes = 0;
  /** Those of the current entry. */
  #tokens: Tokens | undefined;

  constructor(chunks: Iterable<Uint8Array>, options: ParseOptions) {
    this.#options = options;
    this.#file = options.file ?? 'zone';
    const zone = originFromText(options.origin ?? '.');
    this.#generation = { zone, heads: this.#heads, out: this.#out, generated: 0 };
    this.#push(this.#file, chunks, zone, undefined);
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
      const { line, column } = entries.placeOf(error.token ?? Math.max(0, (this.#tokens?.at ?? 0) - 1));
      this.#problems.push(problemAt({ file, line, column }, error.message, error.fix));
    } else {
      throw error;
    }
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
    const { type, ttl } = this.#heads.read(tokens);
    const data = parseData(type, tokens, this.#out);
    const { file, entries } = frame;
    const found = ttl ?? this.#heads.ttlOfSoa(data);
    this.#heads.note(owner, type, found, data);
    return { name: owner, type, ttl: found, data, file, line: entries.line };
  }

  #directive(frame: Frame, tokens: Tokens): Iterable<ZoneRecord> | undefined {
    const word = tokens.next('a directive');
    switch (word.toUpperCase()) {
      case '$ORIGIN':
        frame.origin = tokens.nextName('the origin');
        break;
      case '$TTL':
        this.#heads.readDefaultTtl(tokens);
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
    tokens.end(word);
    return undefined;
  }

  *#generate(frame: Frame, tokens: Tokens): Generator<ZoneRecord, void, void> {
    const { file, entries } = frame;
    const { line } = entries;
    for (const record of generatedRecords(tokens, this.#generation)) yield { ...record, file, line };
  }

  #include(frame: Frame, tokens: Tokens): void {
    const path = tokens.nextBytes('the name of a file').toString('utf8');
    const at = tokens.at - 1;
    const origin = tokens.hasMore ? tokens.nextName('the origin') : frame.origin;
    tokens.end('$INCLUDE');
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
}
