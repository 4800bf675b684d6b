/** What the command line sees of the world outside, so that a test can run it in its own. */
import type { Writable } from 'node:stream';
import { loadError, messageOf, systemErrorCode } from '../errors.ts';

export interface Output extends Writable {
  readonly isTTY?: boolean;
}

export interface CliWorld {
  /** Results. */
  readonly stdout: Output;
  /** Everything else. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted, with the error to report, when the user or the system stops the program. */
  readonly signal: AbortSignal;
}

/** Somebody closed the other end of standard output (`… | head`): they have what they wanted. */
export class OutputClosed extends Error {}

/** Writes results and waits until they are out. */
export async function writeOut({ stdout }: CliWorld, text: string): Promise<void> {
  // Without a listener a failed write would end the process with a stack trace; the callback reports it.
  const ignore = () => undefined;
  stdout.on('error', ignore);
  try {
    await new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') throw new OutputClosed();
    const problem = `cannot write to standard output: ${messageOf(error)}`;
    throw loadError('E_WRITE_FAILED', problem, 'free some space, or write elsewhere', error);
  } finally {
    stdout.off('error', ignore);
  }
}

export function say({ stderr }: CliWorld, text: string): void {
  stderr.write(`${text}\n`);
}

/** Whether a stream is a terminal that understands colours and cursor movement (https://no-color.org). */
export function terminalOf(stream: Output, env: CliWorld['env']): { live: boolean; colours: boolean } {
  const live = stream.isTTY === true && env.TERM !== 'dumb';
  return { live, colours: live && (env.NO_COLOR === undefined || env.NO_COLOR === '') };
}
