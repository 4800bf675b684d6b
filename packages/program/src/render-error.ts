/** Errors as text for people: what failed, the evidence, the fix. Pure. */
import { styleText } from 'node:util';
import { type Explained, isExplained, messageOf, whyUnreadable } from './errors.ts';

export interface RenderErrorOptions {
  /** The program's name. */
  readonly program: string;
  /** With ANSI colours. */
  readonly colours: boolean;
}

/** Colours a text. */
type Paint = (colour: 'red' | 'dim' | 'bold' | 'yellow', text: string) => string;

/** Without `colours`, texts stay as they are. */
export function painter(colours: boolean): Paint {
  return (colour, text) => (colours ? styleText(colour, text, { validateStream: false }) : text);
}

/** Controls (C0, C1, DEL) and format characters (among them the bidirectional ones), except line feed and tab. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/** A server's log or a file name may contain escape sequences, which would colour, move and erase the text around them. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\ufffd');
}

const firstLine = (text: string) => text.split('\n')[0] ?? '';

/** The cause, unless the message or the evidence already says it. */
function causeLines({ message, cause, evidence = [] }: Explained): string[] {
  if (!(cause instanceof Error) || isExplained(cause)) return [];
  const said = firstLine(cause.message);
  const isQuoted = [message, ...evidence].some(
    (text) => text.includes(said) || text.includes(whyUnreadable(cause)),
  );
  return said === '' || isQuoted ? [] : [`  cause: ${printable(said)}`];
}

function problemLines({ fix, problems = [] }: Explained, paint: Paint): string[] {
  const fixLine = (text: string) => `${paint('bold', 'fix:')} ${printable(text)}`;
  const problemLine = (text: string) => `  - ${printable(text)}`;
  if (problems.length < 2) return [`  ${fixLine(fix)}`];
  const [shared = '', ...others] = new Set(problems.map((each) => each.fix));
  if (others.length === 0)
    return [...problems.map(({ problem }) => problemLine(problem)), `  ${fixLine(shared)}`];
  return problems.flatMap((each) => [problemLine(each.problem), `    ${fixLine(each.fix)}`]);
}

function explained(error: Explained, paint: Paint): string[] {
  const { problems = [], evidence = [] } = error;
  const message = problems.length < 2 ? error.message : firstLine(error.message);
  return [
    `${paint('red', 'error')} ${paint('dim', `[${error.code}]`)}: ${printable(message)}`,
    ...evidence.map((line) => `    ${printable(line)}`),
    ...causeLines(error),
    ...problemLines(error, paint),
  ];
}

/** Anything thrown, as lines for standard error. An error without code and fix is a bug, and shows its stack. */
export function renderError(error: unknown, { program, colours }: RenderErrorOptions): string {
  const paint = painter(colours);
  if (isExplained(error)) return `${explained(error, paint).join('\n')}\n`;
  const stack = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
  return `${paint('red', 'error')}: this is a bug in ${program}; please report it with these lines\n${stack}\n`;
}
