/** Standard output and standard error for all programs of this project. */
import type { Writable } from 'node:stream';
import { isExplained, messageOf, ProgramError, systemErrorCode } from './errors.ts';

export interface Output extends Writable {
  readonly isTTY?: boolean;
}

/** The reader of standard output closed it (`… | head`): it has what it wanted. */
export class OutputClosed extends Error {}

/** Writes one chunk and waits until it is written. */
function writeChunk(stream: Output, chunk: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

const watched = new WeakSet<Output>();

/** Without a listener a failed write would end the process with a stack trace; the callback reports it. */
function watch(stream: Output): void {
  if (watched.has(stream)) return;
  watched.add(stream);
  stream.on('error', () => undefined);
}

/** A failed write to standard output as an error: `OutputClosed`, or `E_WRITE_FAILED`. */
export function outputError(error: unknown): Error {
  const code = systemErrorCode(error);
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new OutputClosed();
  const problem = `cannot write to standard output: ${messageOf(error)}`;
  return new ProgramError('E_WRITE_FAILED', 'output', {
    problems: [{ problem, fix: 'free some space, or write elsewhere' }],
    cause: error,
  });
}

/**
 * Writes results to standard output and waits until they are written; memory does not grow with their size.
 * Throws `OutputClosed`, an error with the code `E_WRITE_FAILED`, or the reason of `signal`.
 */
export async function writeOut(
  { stdout, signal }: { readonly stdout: Output; readonly signal?: AbortSignal },
  text: string | Iterable<string>,
): Promise<void> {
  watch(stdout);
  const chunks = typeof text === 'string' ? [text] : text;
  for (const chunk of chunks) {
    if (typeof text !== 'string') signal?.throwIfAborted();
    await writeChunk(stdout, chunk).catch((error: unknown) => {
      throw isExplained(error) ? error : outputError(error);
    });
  }
}

/** Writes a line to standard error. */
export function say({ stderr }: { readonly stderr: Output }, text: string): void {
  stderr.write(`${text}\n`);
}

/** Whether a stream is a terminal, and supports colours and cursor movement (https://no-color.org). */
export function terminalOf(
  { isTTY }: { readonly isTTY?: boolean },
  { TERM, NO_COLOR }: Readonly<Record<string, string | undefined>>,
): { readonly live: boolean; readonly colours: boolean } {
  const live = isTTY === true && TERM !== 'dumb';
  return { live, colours: live && (NO_COLOR === undefined || NO_COLOR === '') };
}
