/** Pads replies, so that the length of what is encrypted tells less about it (RFC 7830). */
import { EDNS_OPTION, HEADER_BYTES, MAX_MESSAGE_BYTES, skipName, TYPE, u16 } from '@dinodns-bench/wire';

/** The length of a padded reply is a multiple of this (RFC 8467, section 4.1). */
const BLOCK_BYTES = 468;
const OPTION_HEAD_BYTES = 4;
/** Type and class of a question, after its name. */
const QUESTION_BYTES = 4;
/** Type, class, TTL and length of a record, after its name. */
const RECORD_BYTES = 10;

/**
 * The reply with padding as its last option, as far as a message may be longer. It is one of ours, which ends with its OPT record, behind
 * `headroom` bytes for the caller to fill.
 */
export function padded(reply: Buffer, headroom: number): Buffer {
  const length = reply.length - headroom;
  const least = length + OPTION_HEAD_BYTES;
  const target = Math.min(Math.ceil(least / BLOCK_BYTES) * BLOCK_BYTES, MAX_MESSAGE_BYTES);
  const opt = lastRecord(reply, headroom);
  if (target < least || u16(reply, opt) !== TYPE.OPT) return reply;
  const out = Buffer.alloc(headroom + target);
  reply.copy(out);
  const lengthAt = opt + RECORD_BYTES - 2;
  out.writeUInt16BE(u16(reply, lengthAt) + target - length, lengthAt);
  out.writeUInt16BE(EDNS_OPTION.padding, reply.length);
  out.writeUInt16BE(target - least, reply.length + 2);
  return out;
}

/** The offset of the last record's type. */
function lastRecord(reply: Buffer, start: number): number {
  let at = start + HEADER_BYTES;
  for (let count = u16(reply, start + 4); count > 0; count--) at = skipName(reply, at) + QUESTION_BYTES;
  let last = at;
  const records = u16(reply, start + 6) + u16(reply, start + 8) + u16(reply, start + 10);
  for (let count = records; count > 0; count--) {
    last = skipName(reply, at);
    at = last + RECORD_BYTES + u16(reply, last + RECORD_BYTES - 2);
  }
  return last;
}
