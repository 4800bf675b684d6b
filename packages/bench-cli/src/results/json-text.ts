/**
 * Readable JSON: what fits on a line stays on a line, so that thousands of samples do not make a record of hundreds
 * of thousands of lines. Also finds the error in damaged JSON, which `JSON.parse` often does not report.
 */

const LINE_WIDTH = 110;

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Formatted {
  readonly text: string;
  readonly isOneLine: boolean;
}

function formatMembers(members: readonly Formatted[], brackets: string, indent: string): Formatted {
  const [open = '', close = ''] = brackets;
  if (members.length === 0) return { text: brackets, isOneLine: true };
  const space = open === '{' ? ' ' : '';
  const length = members.reduce((sum, { text }) => sum + text.length + 2, 2);
  if (members.every(({ isOneLine }) => isOneLine) && length + indent.length <= LINE_WIDTH) {
    const text = members.map((member) => member.text).join(', ');
    return { text: `${open}${space}${text}${space}${close}`, isOneLine: true };
  }
  const inner = `${indent}  `;
  const text = members.map((member) => inner + member.text).join(',\n');
  return { text: `${open}\n${text}\n${indent}${close}`, isOneLine: false };
}

function formatValue(value: unknown, indent: string): Formatted {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return formatMembers(
      value.map((item) => formatValue(item, inner)),
      '[]',
      indent,
    );
  }
  if (isPlainObject(value)) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => {
        const formatted = formatValue(member, inner);
        return { ...formatted, text: `${JSON.stringify(key)}: ${formatted.text}` };
      });
    return formatMembers(members, '{}', indent);
  }
  return { text: JSON.stringify(value) ?? 'null', isOneLine: true };
}

/**
 * `value` as JSON with a line break at the end. Parses to the same as `JSON.stringify(value)`. For plain data
 * only: strings, numbers, booleans, null, arrays and objects.
 */
export function formatJson(value: unknown): string {
  return `${formatValue(value, '').text}\n`;
}

const WHITESPACE = /[ \t\r\n]*/y;
/** Punctuation, a string (checked further by `JSON.parse`), or another value. */
const TOKEN =
  /([{}[\],:])|("[^"\\]*(?:\\.[^"\\]*)*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

function isJsonString(token: string): boolean {
  try {
    return typeof JSON.parse(token) === 'string';
  } catch {
    return false;
  }
}

/** What may stand at a place in the text. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

interface ScanState {
  readonly stack: ('{' | '[')[];
  expected: Expected;
}

/** Takes one token; false if it may not stand here. */
function accept(state: ScanState, punctuation: string | undefined, string: string | undefined): boolean {
  const { stack, expected } = state;
  const wantsValue = expected === 'value' || expected === 'value-or-end';
  const afterValue = (): Expected => (stack.length === 0 ? 'nothing' : 'comma-or-end');
  if (punctuation === undefined) {
    const wantsKey = expected === 'key' || expected === 'key-or-end';
    if (string !== undefined && !isJsonString(string)) return false;
    if (wantsKey ? string === undefined : !wantsValue) return false;
    state.expected = wantsKey ? 'colon' : afterValue();
    return true;
  }
  if (punctuation === '{' || punctuation === '[') {
    if (!wantsValue) return false;
    stack.push(punctuation);
    state.expected = punctuation === '{' ? 'key-or-end' : 'value-or-end';
    return true;
  }
  if (punctuation === ':') {
    state.expected = 'value';
    return expected === 'colon';
  }
  const top = stack.at(-1);
  if (punctuation === ',') {
    state.expected = top === '{' ? 'key' : 'value';
    return expected === 'comma-or-end';
  }
  const mayEnd = expected === 'comma-or-end' || expected === (top === '{' ? 'key-or-end' : 'value-or-end');
  if (!mayEnd || punctuation !== (top === '{' ? '}' : ']')) return false;
  stack.pop();
  state.expected = afterValue();
  return true;
}

/**
 * Where text stops being JSON: the offset of the first invalid token, or of the end of incomplete text. Null for
 * valid JSON.
 */
export function jsonErrorOffset(text: string): number | null {
  const state: ScanState = { stack: [], expected: 'value' };
  const space = new RegExp(WHITESPACE);
  const token = new RegExp(TOKEN);
  let offset = 0;
  for (;;) {
    space.lastIndex = offset;
    space.test(text);
    offset = space.lastIndex;
    if (offset === text.length) return state.expected === 'nothing' ? null : offset;
    token.lastIndex = offset;
    const match = token.exec(text);
    if (match === null || !accept(state, match[1], match[2])) return offset;
    offset = token.lastIndex;
  }
}

/** Line and column, both counted from 1, of an offset. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
