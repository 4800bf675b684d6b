/** The cheapest reply that still tells a real client to retry over TCP. */
import { FLAG, HEADER_BYTES, OPCODE_MASK, OPT_BYTES, type QueryReader, TYPE } from '@dinodns-bench/wire';

/** The reply copies OPCODE and RD from the query (RFC 1035, section 4.1.1). */
const KEPT_FLAGS = (OPCODE_MASK | FLAG.recursionDesired) >> 8;

/**
 * Overwrites the query with its own header and question, QR and TC set, and an empty OPT record if the query had
 * one. Returns the length, or 0 if there is no question to answer.
 */
export function writeSlip(bytes: Uint8Array, offset: number, query: QueryReader, advertised: number): number {
  const { questionEnd, hasQuestion, hasEdns, dnssecOk } = query;
  if (!hasQuestion) return 0;
  bytes[offset + 2] = ((FLAG.response | FLAG.truncated) >> 8) | ((bytes[offset + 2] ?? 0) & KEPT_FLAGS);
  bytes[offset + 3] = 0;
  bytes.fill(0, offset + 6, offset + HEADER_BYTES);
  if (!hasEdns) return questionEnd;
  // The query has an OPT record somewhere after its question, so there is room for ours.
  const opt = offset + questionEnd;
  bytes[offset + 11] = 1;
  bytes.fill(0, opt, opt + OPT_BYTES);
  bytes[opt + 2] = TYPE.OPT;
  bytes[opt + 3] = advertised >> 8;
  bytes[opt + 4] = advertised & 0xff;
  bytes[opt + 7] = dnssecOk ? 0x80 : 0;
  return questionEnd + OPT_BYTES;
}
