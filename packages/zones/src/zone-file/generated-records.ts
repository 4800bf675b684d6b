/** The records of a `$GENERATE` directive: `$GENERATE range owner [ttl] [class] type data`. */
import { Entries } from './entries.ts';
import type { Frame, Warn } from './frame.ts';
import { MAX_GENERATED, rangeFromText, sizeOf, templateFromText } from './generate.ts';
import { isWithin, nameFromText, zoneFileName } from './names.ts';
import { LexicalError, TokenError } from './problem.ts';
import { Tokens } from './rdata/field.ts';
import { parseData } from './rdata/index.ts';
import type { DataWriter } from './record-data.ts';
import type { RecordHeads } from './record-head.ts';

/** Maximum length of the data that `$GENERATE` makes for one record, as text. */
const MAX_TEMPLATE_BYTES = 65_536;
/** The owner's token, after the directive and the range. */
const OWNER_TOKEN = 2;

export interface GeneratedRecord {
  readonly name: Buffer;
  readonly type: number;
  readonly ttl: number;
  readonly data: Buffer;
}

interface GeneratorContext {
  /** As in BIND, the data of generated records outside of this zone is not read, and they are omitted. */
  readonly zone: Uint8Array;
  readonly class: number;
  readonly heads: RecordHeads;
  readonly out: DataWriter;
  readonly warn: Warn;
}

export class RecordGenerator {
  readonly #context: GeneratorContext;
  /** Records of all directives so far. */
  #generated = 0;

  constructor(context: GeneratorContext) {
    this.#context = context;
  }

  /** Reads the directive's arguments; `end` checks that nothing follows. The data is one word, or quoted text. */
  *records(frame: Frame, tokens: Tokens, end: () => void): Generator<GeneratedRecord, void, void> {
    const range = rangeFromText(tokens.next('a range'));
    this.#generated += sizeOf(range);
    if (this.#generated > MAX_GENERATED) {
      const fix = 'generate fewer, or write the records to a file';
      throw new TokenError(`$GENERATE makes more than ${MAX_GENERATED} records`, fix);
    }
    const owner = templateFromText(tokens.next('a name'));
    const { heads, zone, warn } = this.#context;
    const { type, ttl = 0 } = heads.read(frame, tokens);
    const data = templateFromText(tokens.next('the data'));
    const last = tokens.at - 1;
    end();
    for (let number = range.start; number <= range.stop; number += range.step) {
      const name = generatedName(frame, owner(number));
      if (!isWithin(name, zone)) {
        const problem = `the record ${zoneFileName(name)} is outside of the zone and omitted`;
        warn(frame, OWNER_TOKEN, problem, 'correct the name, or remove the directive');
        continue;
      }
      yield { name, type, ttl, data: this.#data(frame, type, data(number), last) };
    }
  }

  /** The data of one record: `text` is split into tokens again. Problems are reported at the template, `token`. */
  #data(frame: Frame, type: number, text: string, token: number): Buffer {
    if (text.length > MAX_TEMPLATE_BYTES) {
      throw new TokenError('the data of $GENERATE is too long', 'shorten it', token);
    }
    const bytes = Buffer.from(text, 'latin1');
    const entries = new Entries([bytes], bytes.length);
    try {
      entries.next();
      const { class: classCode, out } = this.#context;
      return parseData(type, classCode, new Tokens(entries, frame.origin), out);
    } catch (error) {
      if (!(error instanceof TokenError) && !(error instanceof LexicalError)) throw error;
      throw new TokenError(`${error.message}, in "${text.slice(0, 80)}"`, error.fix, token);
    }
  }
}

function generatedName(frame: Frame, text: string): Buffer {
  try {
    return nameFromText(Buffer.from(text, 'latin1'), frame.origin);
  } catch (error) {
    throw error instanceof TokenError ? new TokenError(error.message, error.fix, OWNER_TOKEN) : error;
  }
}
