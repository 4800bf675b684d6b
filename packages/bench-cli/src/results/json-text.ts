/**
 * Readable JSON: what fits on a line stays on a line, so that thousands of samples do not make a record of hundreds
 * of thousands of lines.
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
