/**
 * Query files in dnsperf's format, read as dnsperf 2.10 reads them: a name at the start of the line, blanks (spaces
 * or tabs), and a type; anything after another blank is ignored. Empty lines and lines that begin with `;` are
 * skipped; `#` does not start a comment.
 *
 * Three deliberate differences. dnsperf skips a bad line with a warning on every pass; here it is an error with its
 * line number, before anything is sent. dnsperf 2.10 computes `\DDD` in base 7 (`\065` becomes byte 47) and accepts
 * `\256` to `\999`; here it is decimal up to 255, as in RFC 1035. dnsperf accepts a prefix of a type (`TA` for
 * TALINK, `N` for NS) and a name of 256 bytes; here both are errors.
 */
import { nearest, type Problem } from '@dinodns-bench/program';
import { parseNameBytes, TYPE_NAMES, typeNumber } from '@dinodns-bench/wire';
import { LoadError, loadError } from '../errors.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const HASH = 0x23;
const SEMICOLON = 0x3b;

/** Maximum problems reported: the user of a wrong file need not read about every line. */
const MAX_PROBLEMS = 10;

/** Maximum characters of a bad line shown. */
const MAX_SHOWN_LENGTH = 60;

const EXAMPLE = 'write a name and a type, separated by a space, such as "example.com A"';
const COMMENT_FIX = 'begin a comment line with ;, as dnsperf does: to it, # begins a name';

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function shown(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return JSON.stringify(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text);
}

function endOfWord(line: Uint8Array, from: number): number {
  let to = from;
  while (to < line.length && !isBlank(line[to])) to += 1;
  return to;
}

type Line = { readonly name: Uint8Array; readonly type: number } | Problem;

/** One line that is neither empty nor a comment. */
function parseLine(line: Uint8Array): Line {
  if (line.at(-1) === RETURN) {
    const fix = "convert the file to Unix line endings: sed -i 's/\\r$//' FILE";
    return { problem: 'the line ends in a carriage return', fix };
  }
  if (isBlank(line[0])) return { problem: `${shown(line)} begins with a space or tab`, fix: EXAMPLE };
  const nameEnd = endOfWord(line, 0);
  let typeStart = nameEnd;
  while (isBlank(line[typeStart])) typeStart += 1;
  if (typeStart === line.length) {
    return { problem: `${shown(line)} has no type`, fix: line[0] === HASH ? COMMENT_FIX : EXAMPLE };
  }
  const name = parseNameBytes(line.subarray(0, nameEnd));
  if ('problem' in name) {
    const problem = `${shown(line.subarray(0, nameEnd))} is not a domain name: ${name.problem}`;
    return { problem, fix: 'correct the name, or begin the line with ; to skip it' };
  }
  const typeText = line.subarray(typeStart, endOfWord(line, typeStart));
  const type = typeOf(String.fromCharCode(...typeText.subarray(0, MAX_SHOWN_LENGTH)));
  if (type === undefined) {
    const fix = line[0] === HASH ? COMMENT_FIX : typeFix(typeText);
    return { problem: `${shown(typeText)} is not a type`, fix };
  }
  return { name: name.wire, type };
}

/** dnsperf accepts `TYPE+5` as well as `TYPE5`. */
function typeOf(text: string): number | undefined {
  return typeNumber(text.replace(/^(type)\+/i, '$1'));
}

function typeFix(text: Uint8Array): string {
  const near = nearest(new TextDecoder().decode(text.subarray(0, MAX_SHOWN_LENGTH)), TYPE_NAMES);
  const number = 'give a type by name or by number, such as A, AAAA or TYPE65';
  return near === undefined ? number : `did you mean ${near}? Otherwise ${number}`;
}

/**
 * Calls `onQuery` for each query of a file's content, in order; returns their number, at least 1.
 * @throws LoadError `E_QUERY_FILE` with the first problems, each with its line number, and how many there are.
 */
export function parseQueryFile(
  path: string,
  content: Uint8Array,
  onQuery: (name: Uint8Array, type: number) => void,
): number {
  const problems: Problem[] = [];
  let count = 0;
  let total = 0;
  let lineNumber = 0;
  for (let start = 0; start < content.length; ) {
    lineNumber += 1;
    const newline = content.indexOf(NEWLINE, start);
    const end = newline === -1 ? content.length : newline;
    const line = content.subarray(start, end);
    start = end + 1;
    if (line.length === 0 || line[0] === SEMICOLON) continue;
    const query = parseLine(line);
    if ('name' in query) {
      onQuery(query.name, query.type);
      count += 1;
      continue;
    }
    total += 1;
    if (total <= MAX_PROBLEMS)
      problems.push({ ...query, problem: `${path}, line ${lineNumber}: ${query.problem}` });
  }
  if (problems.length > 0) throw new LoadError('E_QUERY_FILE', problems, { total });
  if (count === 0) throw loadError('E_QUERY_FILE', `${path} contains no query`, EXAMPLE);
  return count;
}
