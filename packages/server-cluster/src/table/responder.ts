/**
 * Answers queries in wire form, in place: the interface between answer table and networks, and that between the table and its source
 * of records. All that a query may become instead of a reply stands here.
 */
import type { QueryReader } from '@dinodns-bench/wire';

/** No reply: the message is a response, too short for an ID, or a query that must be dropped. */
export const DROP = 0;
/** The framework must answer: the table does not hold exactly what the query asks for. */
export const TO_FRAMEWORK = -1;
/** Only of a source: it has nothing for this question; the chain would ask its next handler. */
export const OUTSIDE = -2;
/** Only of a source: it has the answer. */
export const FOUND = -3;
/** Only within `write`: the answer so far ends with a CNAME record, whose target comes next. */
export const ALIAS = -4;

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
   * Never throws, and allocates nothing but the hashes of NSEC3. `query` is a reader that has already parsed the message; without it, the message is
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

/** Where the table's records come from. */
export interface Source {
  /** `FOUND`, `OUTSIDE` or `TO_FRAMEWORK`. `query` is a reader that has parsed the message at `start`. */
  find(bytes: Uint8Array, start: number, query: QueryReader): number;
  /** Writes the answer that has been found with the table's reply writer, and returns its flags: RCODE and AA. */
  write(): number;
}
