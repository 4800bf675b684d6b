/** The cheapest reply that still tells a real client how to get its answer: over TCP, or with the cookie that comes with it. */
import { EDNS_UDP_BYTES, FLAG, OPT_BYTES, type QueryReader, RCODE, RCODE_MASK } from '@dinodns-bench/wire';
import { ReplyWriter } from '../table/reply-writer.ts';

const reply = new ReplyWriter();

/**
 * Overwrites the query with its own header and question, QR set, and an empty OPT record if the query had one: with TC set, or
 * BADCOOKIE (RFC 7873, section 5.2.3) for a query with a cookie, if `withCookie`. Returns the length, or 0 if there is no question
 * to answer.
 */
export function writeSlip(bytes: Uint8Array, offset: number, query: QueryReader, withCookie = false): number {
  const { questionEnd, hasQuestion, hasEdns, dnssecOk } = query;
  if (!hasQuestion) return 0;
  const code = withCookie ? RCODE.BADCOOKIE : RCODE.NOERROR;
  // The query has an OPT record somewhere after its question, so there is room for ours.
  reply.begin(bytes, offset, questionEnd, questionEnd + OPT_BYTES);
  if (hasEdns) reply.writeOpt(EDNS_UDP_BYTES, dnssecOk, code >> 4);
  return reply.writeHeader((withCookie ? 0 : FLAG.truncated) | (code & RCODE_MASK), 1);
}
