/** The source of an answer table's answers, and its results when there is no answer. */

/** The store has nothing for this question; the chain would ask its next handler. */
export const OUTSIDE = -1;
/** Only the store's own handler can answer this. */
export const FRAMEWORK = -2;

export interface Answers {
  /**
   * Writes the answer to a question with the table's reply writer and returns its flags: RCODE and AA. If there is
   * none, returns `OUTSIDE` or `FRAMEWORK` and writes nothing. `labels` are the offsets of the question's labels
   * from `start`; `count` of them come before the root.
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
