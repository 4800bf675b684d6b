/** The cheapest reply that still tells a real client how to get its answer: over TCP, or with the cookie that comes with it. */
import {
  FLAG,
  HEADER_BYTES,
  OPCODE_MASK,
  OPT_BYTES,
  type QueryReader,
  RCODE,
  RCODE_MASK,
  TYPE,
} from '@dinodns-bench/wire';

/** The reply copies OPCODE and RD from the query (RFC 1035, section 4.1.1). */
const KEPT_FLAGS = (OPCODE_MASK | FLAG.recursionDesired) >> 8;

/**
 * Overwrites the query with its own header and question, QR set, and an empty OPT record if the query had one: with TC set, or
 * BADCOOKIE (RFC 7873, section 5.2.3) for a query with a cookie, if `withCookie`. Returns the length, or 0 if there is no question
 * to answer.
 */
export function writeSlip(
  bytes: Uint8Array,
  offset: number,
  query: QueryReader,
  advertised: number,
  withCookie = false,
): number {
  const { questionEnd, hasQuestion, hasEdns, dnssecOk } = query;
  if (!hasQuestion) return 0;
  const flags = FLAG.response | (withCookie ? 0 : FLAG.truncated);
  bytes[offset + 2] = (flags >> 8) | ((bytes[offset + 2] ?? 0) & KEPT_FLAGS);
  bytes[offset + 3] = withCookie ? RCODE.BADCOOKIE & RCODE_MASK : 0;
  bytes.fill(0, offset + 6, offset + HEADER_BYTES);
  if (!hasEdns) return questionEnd;
  // The query has an OPT record somewhere after its question, so there is room for ours.
  const opt = offset + questionEnd;
  bytes[offset + 11] = 1;
  bytes.fill(0, opt, opt + OPT_BYTES);
  bytes[opt + 2] = TYPE.OPT;
  bytes[opt + 3] = advertised >> 8;
  bytes[opt + 4] = advertised & 0xff;
  bytes[opt + 5] = withCookie ? RCODE.BADCOOKIE >> 4 : 0;
  bytes[opt + 7] = dnssecOk ? 0x80 : 0;
  return questionEnd + OPT_BYTES;
}
