/** What an answer table asks for the answer to a question, and how it is told that there is none. */

/** The store has nothing for this question: the next handler of the chain would be asked. */
export const OUTSIDE = -1;
/** Only the store's own handler can answer this. */
export const FRAMEWORK = -2;

export interface Answers {
  /**
   * Writes the answer to a question with the reply writer of the table, and returns its flags: response code
   * and AA. `OUTSIDE` or `FRAMEWORK` if there is none, and then nothing has been written. `labels` are the
   * offsets of the question's labels from `start`, of which `count` come before the root.
   */
  answer(
    bytes: Uint8Array,
    start: number,
    labels: Uint16Array,
    count: number,
    type: number,
    questionClass: number,
    dnssecOk: boolean,
  ): number;
}
