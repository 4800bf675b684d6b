/**
 * Records as one line of text, as in zone files: `[NAME] [TTL] [IN] TYPE DATA`. This only splits the line
 * into fields; the record schema validates the values.
 */
import { type Problem, suggestion } from '@dinodns-bench/program';
import { joinParts, keysOf, partsOf } from '@dinodns-bench/wire';
import { isRecordType, RECORD_TYPES, type RecordType } from './records.ts';

/** An example of a record of each type, for error messages. */
export const RECORD_EXAMPLES: Record<RecordType, string> = {
  A: 'A 127.0.0.1',
  AAAA: 'AAAA ::1',
  CNAME: 'www CNAME web.{zone}',
  DNAME: 'old DNAME new.{zone}',
  NS: 'NS ns1.example.net',
  MX: 'MX 10 mail.{zone}',
  TXT: 'TXT "v=spf1 -all"',
  SRV: '_sip._tcp SRV 0 5 5060 sip.{zone}',
  CAA: 'CAA 0 issue "ca.example.net"',
  SOA: 'SOA ns1.example.net hostmaster.example.net 1 7200 3600 1209600 3600',
};

/** A parsed line, not yet validated. */
export interface UncheckedRecord {
  name?: string;
  ttl?: unknown;
  type: RecordType;
  data: unknown;
}

/** Kinds of fields that hold a number. */
const NUMBER_KINDS: readonly string[] = ['u8', 'u16', 'u32', 'seconds'];

interface Token {
  /** Within quotes as it is meant, else as it is written. */
  readonly text: string;
  readonly quoted: boolean;
}

/** Splits at blanks, except within double quotes, where a backslash escapes the next character, or is followed by a byte in decimal. */
function tokenize(line: string): Token[] | Problem {
  const tokens: Token[] = [];
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s"]+)(?=\s|$))\s*/suy;
  let end = 0;
  while (end < line.length) {
    pattern.lastIndex = end;
    const match = pattern.exec(line);
    if (match === null) {
      const rest = line.slice(end).trim();
      if (rest === '') break;
      return {
        problem: `the quotes do not match at: ${rest}`,
        fix: 'put text in one pair of double quotes, and a backslash before a quote inside it',
      };
    }
    end = pattern.lastIndex;
    const [, inQuotes, word = ''] = match;
    tokens.push({
      text: inQuotes === undefined ? word : unescaped(inQuotes),
      quoted: inQuotes !== undefined,
    });
  }
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/\\(\d{3}|.)/gsu, (_, meant: string) =>
    meant.length === 3 ? String.fromCharCode(Number(meant)) : meant,
  );
}

function number(text: string | undefined): unknown {
  return text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Whether the line begins with an owner name, which may be spelt like a type ("mx A 192.0.2.1"). */
function beginsWithName(tokens: readonly Token[]): boolean {
  const [first, second] = tokens;
  if (first === undefined || first.quoted) return false;
  if (!isRecordType(first.text.toUpperCase())) return !/^\d+$|^in$/i.test(first.text);
  return !isRecordType(first.text) && second !== undefined && isRecordType(second.text);
}

/** Parses one line, or returns what is wrong with it. */
export function parseRecordText(line: string): UncheckedRecord | Problem {
  const tokens = tokenize(line);
  if (!Array.isArray(tokens)) return tokens;
  const rest = [...tokens];
  const name = beginsWithName(rest) ? rest.shift()?.text : undefined;
  const ttl = /^-?\d+$/.test(rest[0]?.text ?? '') ? rest.shift()?.text : undefined;
  if (rest[0]?.text.toUpperCase() === 'IN') rest.shift();
  const typeText = rest.shift()?.text;
  const type = typeText?.toUpperCase();
  if (typeText === undefined || type === undefined || !isRecordType(type)) {
    // An unknown type at the start of the line looks like a name; capitals tell them apart.
    return missingType(name !== undefined && /^[A-Z0-9]+$/.test(name) ? name : (typeText ?? name));
  }
  const data = dataOf(type, rest);
  if (data === undefined) {
    const keys = keysOf(type);
    const wanted = keys.length === 0 ? '1 value' : `${keys.length} values (${keys.join(', ')})`;
    return {
      problem: `${type} needs ${wanted}, not ${rest.length}`,
      fix: `write it like "${RECORD_EXAMPLES[type]}"`,
    };
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(ttl === undefined ? {} : { ttl: number(ttl) }),
    type,
    data,
  };
}

function missingType(word: string | undefined): Problem {
  if (word === undefined)
    return { problem: 'the record has no type', fix: `use one of ${RECORD_TYPES.join(', ')}` };
  const fix = suggestion(word, RECORD_TYPES);
  return { problem: `unknown record type "${word}"`, fix: `${fix}; a record is "[NAME] [TTL] TYPE DATA"` };
}

function dataOf(type: RecordType, tokens: readonly Token[]): unknown {
  const texts = tokens.map(({ text }) => text);
  if (type === 'TXT') {
    const strings = tokens.map(({ text, quoted }) => (quoted ? text : unescaped(text)));
    return strings.length <= 1 ? strings[0] : strings;
  }
  const parts = partsOf(type, undefined);
  if (texts.length !== parts.length) return undefined;
  return joinParts(
    parts.map((part, index) => ({
      ...part,
      value: NUMBER_KINDS.includes(part.kind) ? number(texts[index]) : texts[index],
    })),
  );
}
