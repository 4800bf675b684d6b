/** What the commands see of the world outside, so that a test can run them in its own. */
import type { Writable } from 'node:stream';
import { messageOf, ZonesError } from '../errors.ts';

export interface Output extends Writable {
  readonly isTTY?: boolean;
}

export interface CliWorld {
  /** Results. */
  readonly stdout: Output;
  /** Everything else. */
  readonly stderr: Output;
  /** Where relative paths begin. */
  readonly cwd: string;
  /** Aborted with the error to report when the user or the system stops the program. */
  readonly signal: AbortSignal;
}

/** Somebody closed the other end of standard output (`… | head`): they have what they wanted. */
export class OutputClosed extends Error {}

/** Writes one chunk and waits until it is out. */
function writeChunk(stream: Output, chunk: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes results to standard output; memory does not grow with their size. */
export async function writeOut({ stdout, signal }: CliWorld, chunks: Iterable<string>): Promise<void> {
  // Without a listener a failed write would end the process with a stack trace; the callback reports it.
  const ignore = () => undefined;
  stdout.on('error', ignore);
  try {
    for (const chunk of chunks) {
      signal.throwIfAborted();
      await writeChunk(stdout, chunk);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') throw new OutputClosed();
    if (code === undefined || error instanceof ZonesError) throw error;
    const problem = {
      problem: `cannot write to standard output: ${messageOf(error)}`,
      fix: 'free some space, or write elsewhere',
    };
    throw new ZonesError('E_WRITE_FAILED', problem.problem, [problem], error);
  }
}

export function say({ stderr }: CliWorld, text: string): void {
  stderr.write(`${text}\n`);
}
