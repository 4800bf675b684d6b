/** Reads what a program beside CoreDNS prints: lines of its own, and why it stopped. */
import { z } from 'zod';
import { BenchError } from '../../../errors.ts';
import { parseLine } from '../../../process.ts';

const stopSchema = z.union([
  z.object({ ended: z.string() }),
  z.object({ slow: z.string() }),
  z.object({ failed: z.string() }),
]);

export interface LineReader {
  onLine(line: string): void;
  /**
   * Why it stopped, as an error: `E_SERVER_DIED` if CoreDNS ended, `E_CLUSTER_REFUSED` if the API server got slow,
   * `E_LOADER_FAILED` if the program itself has failed; null while nothing has stopped it.
   */
  readonly stopped: BenchError | null;
}

/** What the errors say besides. */
export interface LineWords {
  /** `CoreDNS`, which could not be measured. */
  readonly measured: string;
  /** What to do if the API server got slow. */
  readonly slow: string;
  /** If the program has failed. */
  readonly failed: string;
}

export function readLines<S extends z.ZodType>(
  own: S,
  onOwn: (line: z.output<S>) => void,
  words: LineWords,
): LineReader {
  const errorOf = (line: z.output<typeof stopSchema>) => {
    if ('ended' in line)
      return new BenchError('E_SERVER_DIED', line.ended, { fix: 'See whether the node ran out of memory.' });
    if ('failed' in line)
      return new BenchError('E_LOADER_FAILED', `${words.measured} could not be measured: ${line.failed}`, {
        fix: words.failed,
      });
    return new BenchError('E_CLUSTER_REFUSED', `the API server got slow: ${line.slow}`, {
      evidence: ['What was created is deleted again'],
      fix: words.slow,
    });
  };
  let stopped: BenchError | null = null;
  return {
    get stopped() {
      return stopped;
    },
    onLine(text) {
      const line = parseLine(own, text);
      if (line !== null) onOwn(line);
      const stop = parseLine(stopSchema, text);
      if (stop !== null) stopped = errorOf(stop);
    },
  };
}
