/** What `--expect` checks in each response, at full speed. */

/** What is expected of answers. Both null: nothing is checked. */
export interface Expected {
  /** Response codes that are right, 0 to 15 (`NOERROR`, `NXDOMAIN`, …). Empty: any. */
  readonly codes: readonly number[];
  /** Addresses, one of which must be the data of an A or AAAA record where the code is NOERROR. Empty: any. */
  readonly addresses: readonly string[];
}

/** As expected, or the first thing that is not. */
export const VERDICT = { asExpected: 0, wrongCode: 1, wrongAddress: 2, malformed: 3 } as const;
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT];

/**
 * Checks the message `bytes[offset, offset + length)`, whose question is known to be the query's and ends at
 * `answersOffset`. Never throws, never reads outside the message, never allocates.
 */
export type Check = (bytes: Uint8Array, offset: number, length: number, answersOffset: number) => Verdict;
