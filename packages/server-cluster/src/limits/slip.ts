/** The reply that costs least and still tells a real client to come back over TCP. */
import { FLAG, HEADER_BYTES, OPCODE_MASK, OPT_BYTES, type QueryReader, TYPE } from '@dinodns-bench/wire';

/** OPCODE and RD come back (RFC 1035, section 4.1.1). */
const KEPT_FLAGS = (OPCODE_MASK | FLAG.recursionDesired) >> 8;

/**
 * Writes the query's own header and question with QR and TC set over the query, with an empty OPT record if
 * the query had one. Returns the length, or 0 where there is no question to answer.
 */
export function writeSlip(bytes: Uint8Array, offset: number, query: QueryReader, advertised: number): number {
  const { questionEnd, hasQuestion, hasEdns, dnssecOk } = query;
  if (!hasQuestion) return 0;
  bytes[offset + 2] = ((FLAG.response | FLAG.truncated) >> 8) | ((bytes[offset + 2] ?? 0) & KEPT_FLAGS);
  bytes[offset + 3] = 0;
  bytes.fill(0, offset + 6, offset + HEADER_BYTES);
  if (!hasEdns) return questionEnd;
  // The query has an OPT record somewhere behind its question: there is room for ours.
  const opt = offset + questionEnd;
  bytes[offset + 11] = 1;
  bytes.fill(0, opt, opt + OPT_BYTES);
  bytes[opt + 2] = TYPE.OPT;
  bytes[opt + 3] = advertised >> 8;
  bytes[opt + 4] = advertised & 0xff;
  bytes[opt + 7] = dnssecOk ? 0x80 : 0;
  return questionEnd + OPT_BYTES;
}
