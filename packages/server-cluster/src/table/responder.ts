/** What answers queries in wire form, in place: the seam between the answer table and the networks. */
import type { QueryReader } from '@dinodns-bench/wire';

/** The reply to give is none: a response, a datagram too short for an id, a query that must be dropped. */
export const DROP = 0;

/** The framework must answer: the query asks for something that the table does not hold exactly. */
export const TO_FRAMEWORK = -1;

/**
 * How a query came, which decides how long its reply may be.
 * `udp`: 512 bytes, or what the client's EDNS says, or this server's own limit; TC=1 beyond.
 * `stream`: 65,535 bytes.
 */
export type Transport = 'udp' | 'stream';

export interface Responder {
  /**
   * Answers the query at `bytes[offset, offset + length)` by writing the reply over it, using at most
   * `capacity` bytes from `offset`. Returns the reply's length, `DROP`, or `TO_FRAMEWORK`; in the latter
   * two cases the query's bytes are unchanged. Reads and writes nothing outside of
   * `bytes[offset, offset + capacity)`, whatever the bytes are. Never throws, and allocates nothing. `query` is
   * what a reader has read of the message, so that it is read once; without it, it is read here.
   */
  answer(
    bytes: Uint8Array,
    offset: number,
    length: number,
    capacity: number,
    transport: Transport,
    query?: QueryReader,
  ): number;
}
