/** Errors as a person reads them: what failed, the evidence, what to do. Pure. */
import { Ansis } from 'ansis';
import { BenchError } from './errors.ts';

/**
 * Any error with a `code` and a `fix` is shown in full: those of bench, and those of the zones and server
 * packages, which have the same shape. Anything else is a bug and shows its stack.
 */
export function renderError(error: unknown, colours: boolean): string {
  const style = new Ansis(colours ? 1 : 0);
  if (!isExplained(error)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${style.red('Error:')} this is a bug in bench; please report it with these lines\n${stack}\n`;
  }
  const lines = [`${style.red('Error')} ${style.dim(`[${error.code}]`)} ${error.message}`];
  if (error instanceof BenchError) lines.push(...error.evidence.map((line) => `    ${line}`));
  lines.push(`${style.bold('Fix:')} ${error.fix}`);
  return `${lines.join('\n')}\n`;
}

function isExplained(error: unknown): error is Error & { code: string; fix: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'fix' in error &&
    typeof error.fix === 'string'
  );
}
