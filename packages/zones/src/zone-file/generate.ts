/**
 * BIND's `$GENERATE range owner [ttl] [class] type data`: a template that stands for many records, one for each number of a
 * range.
 */
import { Entries } from './entries.ts';
import { isWithin, nameFromText } from './names.ts';
import type { ZoneRecord } from './parse.ts';
import { LexicalError, TokenError } from './problem.ts';
import { Tokens } from './rdata/field.ts';
import { parseData } from './rdata/index.ts';
import type { DataWriter } from './record-data.ts';
import type { RecordHeads } from './record-head.ts';

/** Maximum number of records from all `$GENERATE` directives of a zone: 15 times the PTR records of a /16 network. */
const MAX_GENERATED = 1_000_000;
const MAX_NUMBER = 0x7fff_ffff;

interface NumberRange {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

/** `1-10`, or `1-10/2`. Throws a `TokenError`. */
function rangeFromText(text: string): NumberRange {
  const [, start = '', stop = '', step = '1'] = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text) ?? [];
  const range = { start: Number(start), stop: Number(stop), step: Number(step) };
  if (start !== '' && range.start <= range.stop && range.stop <= MAX_NUMBER && range.step >= 1) return range;
  throw new TokenError(`"${text}" is not a range`, 'write START-STOP or START-STOP/STEP, such as 1-254');
}

/** How many numbers the range has. */
function sizeOf({ start, stop, step }: NumberRange): number {
  return Math.floor((stop - start) / step) + 1;
}

type Part = string | ((number: number) => string);

/** How a template's `${offset,width,base}` formats a number. Throws a `TokenError`. */
function modifier(text: string): (number: number) => string {
  const [, offset = '', width = '0', base = 'd'] =
    /^(-?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?\}$/.exec(text) ?? [];
  if (offset === '' || Number(width) > 255) {
    throw new TokenError(
      `"\${${text}" is not a modifier`,
      'write {OFFSET}, {OFFSET,WIDTH} or {OFFSET,WIDTH,BASE} after the $, with a BASE of d, o, x, X, n or N',
    );
  }
  return (number) => formatted(number + Number(offset), Number(width), base);
}

function formatted(value: number, width: number, base: string): string {
  if (base === 'n' || base === 'N') return nibbles(value, width, base === 'N');
  const radix = base === 'd' ? 10 : base === 'o' ? 8 : 16;
  // In bases other than decimal, C prints a negative number as an unsigned one of 32 bits.
  const digits = radix === 10 ? String(Math.abs(value)) : (value >>> 0).toString(radix);
  const sign = radix === 10 && value < 0 ? '-' : '';
  const padded = sign + digits.padStart(width - sign.length, '0');
  return base === 'X' ? padded.toUpperCase() : padded;
}

/** Hexadecimal digits in reverse order, separated by dots, as in names below ip6.arpa. */
function nibbles(value: number, width: number, isUpperCase: boolean): string {
  let rest = value >>> 0;
  let left = width;
  let text = '';
  do {
    text += (rest & 0xf).toString(16);
    rest >>>= 4;
    // The width counts the dots.
    if (left > 0) left--;
    if (rest === 0 && left === 0) break;
    text += '.';
    if (left > 0) left--;
  } while (rest !== 0 || left > 0);
  return isUpperCase ? text.toUpperCase() : text;
}

/** The template as a function of the number. Throws a `TokenError`. */
function templateFromText(text: string): (number: number) => string {
  const parts: Part[] = [];
  for (const [part] of text.matchAll(/\$\$|\$\{[^}]*\}?|\$|\\.?|[^$\\]+/gs)) {
    if (part === '$$') parts.push('$');
    else if (part === '$') parts.push(String);
    else if (part.startsWith('${')) parts.push(modifier(part.slice(2)));
    else parts.push(part);
  }
  return (number) => parts.map((part) => (typeof part === 'string' ? part : part(number))).join('');
}

/** Maximum length of the data that `$GENERATE` makes for one record, as text. */
const MAX_TEMPLATE_BYTES = 65_536;
/** The owner's token, after the directive and the range. */
const OWNER_TOKEN = 2;

type GeneratedRecord = Pick<ZoneRecord, 'name' | 'type' | 'ttl' | 'data'>;

export interface Generation {
  /** As in BIND, the data of generated records outside of this zone is not read, and they are omitted. */
  readonly zone: Uint8Array;
  readonly heads: RecordHeads;
  readonly out: DataWriter;
  /** Records of all directives so far. */
  generated: number;
}

/** The records of a directive whose arguments are next in `tokens`. The data is one word, or quoted text. */
export function* generatedRecords(
  tokens: Tokens,
  generation: Generation,
): Generator<GeneratedRecord, void, void> {
  const { heads, zone, out } = generation;
  const range = rangeFromText(tokens.next('a range'));
  generation.generated += sizeOf(range);
  if (generation.generated > MAX_GENERATED) {
    const fix = 'generate fewer, or write the records to a file';
    throw new TokenError(`$GENERATE makes more than ${MAX_GENERATED} records`, fix);
  }
  const owner = templateFromText(tokens.next('a name'));
  const { type, ttl = 0 } = heads.read(tokens);
  const data = templateFromText(tokens.next('the data'));
  const last = tokens.at - 1;
  tokens.end('$GENERATE');
  for (let number = range.start; number <= range.stop; number += range.step) {
    const name = generatedName(owner(number), tokens.origin);
    if (!isWithin(name, zone)) continue;
    yield { name, type, ttl, data: generatedData(data(number), tokens.origin, type, out, last) };
  }
}

/** The data of one record: `text` is split into tokens again. Problems are reported at the template, `token`. */
function generatedData(
  text: string,
  origin: Uint8Array,
  type: number,
  out: DataWriter,
  token: number,
): Buffer {
  if (text.length > MAX_TEMPLATE_BYTES) {
    throw new TokenError('the data of $GENERATE is too long', 'shorten it', token);
  }
  const bytes = Buffer.from(text, 'latin1');
  const entries = new Entries([bytes], bytes.length);
  try {
    entries.next();
    return parseData(type, new Tokens(entries, origin), out);
  } catch (error) {
    if (!(error instanceof TokenError) && !(error instanceof LexicalError)) throw error;
    throw new TokenError(`${error.message}, in "${text.slice(0, 80)}"`, error.fix, token);
  }
}

function generatedName(text: string, origin: Uint8Array): Buffer {
  try {
    return nameFromText(Buffer.from(text, 'latin1'), origin);
  } catch (error) {
    throw error instanceof TokenError ? new TokenError(error.message, error.fix, OWNER_TOKEN) : error;
  }
}
