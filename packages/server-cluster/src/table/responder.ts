/** Answers queries in wire form, in place: the interface between answer table and networks. */
import type { QueryReader } from '@dinodns-bench/wire';

/** No reply: the message is a response, too short for an ID, or a query that must be dropped. */
export const DROP = 0;

/** The framework must answer: the table does not hold exactly what the query asks for. */
export const TO_FRAMEWORK = -1;

/**
 * How a query arrived, which limits the length of its reply.
 * `udp`: 512 bytes, or what the client's EDNS says, or this server's own limit; TC=1 beyond.
 * `stream`: 65,535 bytes.
 */
export type Transport = 'udp' | 'stream';

export interface Responder {
  /**
   * Answers the query at `bytes[offset, offset + length)` by writing the reply over it, using at most `capacity`
   * bytes from `offset`. Returns the reply's length, `DROP`, or `TO_FRAMEWORK`; in the last two cases the query's
   * bytes are unchanged. Accesses nothing outside of `bytes[offset, offset + capacity)`, whatever the bytes are.
   * Never throws or allocates. `query` is a reader that has already parsed the message; without it, the message is
   * parsed here.
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
