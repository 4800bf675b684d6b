/** The source of an answer table's answers, and its results when there is no answer. */
import type { QueryReader } from '@dinodns-bench/wire';

/** The store has nothing for this question; the chain would ask its next handler. */
export const OUTSIDE = -1;
/** Only the store's own handler can answer this. */
export const FRAMEWORK = -2;

export interface Answers {
  /**
   * Writes the answer to a question with the table's reply writer and returns its flags: RCODE and AA. If there is
   * none, returns `OUTSIDE` or `FRAMEWORK` and writes nothing. `query` is a reader that has parsed the message at
   * `start`.
   */
  answer(bytes: Uint8Array, start: number, query: QueryReader): number;
}
