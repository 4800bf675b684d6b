/** What `--expect` checks in each response. */

/** What is expected of answers. Both empty: nothing is checked. */
export interface Expected {
  /** Response codes that are accepted, 0 to 15 (`NOERROR`, `NXDOMAIN`, …). Empty: any. */
  readonly codes: readonly number[];
  /** Addresses: a NOERROR answer must have one of them in an A or AAAA record. Empty: any. */
  readonly addresses: readonly string[];
  /**
   * Answers older than this, in seconds, are stale. Their IPv4 address tells when they were made: 10, and 24 bits of the tenths of a second
   * of Unix time, as the upstream of `dinodns-cluster` gives it. Other addresses have no age. Absent or null: ages are not read.
   */
  readonly maxAgeSeconds?: number | null;
}

/** As expected, or the first mismatch. */
export const VERDICT = { asExpected: 0, wrongCode: 1, wrongAddress: 2, malformed: 3, stale: 4 } as const;
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT];

/**
 * Checks the message `bytes[offset, offset + length)`, whose question is known to be the query's and ends at
 * `answersOffset`. Never throws, never reads outside the message, never allocates.
 */
export type Check = (bytes: Uint8Array, offset: number, length: number, answersOffset: number) => Verdict;
