/** Errors as text for people: what failed, the evidence, the fix. Pure. */
import { type Explained, isExplained, messageOf, whyUnreadable } from './errors.ts';

export interface RenderErrorOptions {
  /** The program's name. */
  readonly program: string;
  /** With ANSI colours. */
  readonly colours: boolean;
}

type Paint = (text: string) => string;
type Painter = Readonly<Record<'red' | 'dim' | 'bold', Paint>>;

/** SGR codes to begin and to end with (ECMA-48, 8.3.117). */
function painter(colours: boolean): Painter {
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { red: paint(31, 39), dim: paint(2, 22), bold: paint(1, 22) };
}

const firstLine = (text: string) => text.split('\n')[0] ?? '';

/** The cause, unless the message or the evidence already says it. */
function causeLines({ message, cause, evidence = [] }: Explained): string[] {
  if (!(cause instanceof Error) || isExplained(cause)) return [];
  const said = firstLine(cause.message);
  const isQuoted = [message, ...evidence].some(
    (text) => text.includes(said) || text.includes(whyUnreadable(cause)),
  );
  return said === '' || isQuoted ? [] : [`  cause: ${said}`];
}

function problemLines({ fix, problems = [] }: Explained, { bold }: Painter): string[] {
  if (problems.length < 2) return [`  ${bold('fix:')} ${fix}`];
  const [shared = '', ...others] = new Set(problems.map((each) => each.fix));
  if (others.length === 0)
    return [...problems.map(({ problem }) => `  - ${problem}`), `  ${bold('fix:')} ${shared}`];
  return problems.flatMap((each) => [`  - ${each.problem}`, `    ${bold('fix:')} ${each.fix}`]);
}

function explained(error: Explained, paint: Painter): string[] {
  const { problems = [], evidence = [] } = error;
  const message = problems.length < 2 ? error.message : firstLine(error.message);
  return [
    `${paint.red('error')} ${paint.dim(`[${error.code}]`)}: ${message}`,
    ...evidence.map((line) => `    ${line}`),
    ...causeLines(error),
    ...problemLines(error, paint),
  ];
}

/** Anything thrown, as lines for standard error. An error without code and fix is a bug, and shows its stack. */
export function renderError(error: unknown, { program, colours }: RenderErrorOptions): string {
  const paint = painter(colours);
  if (isExplained(error)) return `${explained(error, paint).join('\n')}\n`;
  const stack = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
  return `${paint.red('error')}: this is a bug in ${program}; please report it with these lines\n${stack}\n`;
}
