/** DNS messages in HTTP requests and responses (RFC 8484): what a request asks, and how long its answer may be kept. */
import type { IncomingHttpHeaders } from 'node:http2';
import { DOH_MEDIA_TYPE, DOH_PATH, HEADER_BYTES, skipName, TYPE, u16 } from '@dinodns-bench/wire';
import { MAX_QUERY_BYTES } from './tcp-connection.ts';

/** RFC 9110, section 15. Not from `node:http2`, which a server without HTTPS does not load. */
export const STATUS = {
  ok: 200,
  badRequest: 400,
  notFound: 404,
  methodNotAllowed: 405,
  contentTooLarge: 413,
  uriTooLong: 414,
  unsupportedMediaType: 415,
  unavailable: 503,
} as const;

/** Type, class, TTL and length of a record, after its name. */
const RECORD_BYTES = 10;
const TTL_OFFSET = 4;
const RDLENGTH_OFFSET = 8;
/** Type and class of a question, after its name. */
const QUESTION_BYTES = 4;

/** A message in the request itself, in the body that follows, or the status that refuses the request. */
export type DnsRequest =
  | { readonly kind: 'message'; readonly message: Buffer }
  | { readonly kind: 'body' }
  | { readonly kind: 'refused'; readonly status: number };

function refused(status: number): DnsRequest {
  return { kind: 'refused', status };
}

/** GET: the message is in base64url without padding (RFC 8484, section 4.1). */
function fromQuery(search: string): DnsRequest {
  const text = new URLSearchParams(search).get('dns');
  if (text === null || !/^[\w-]+$/.test(text)) return refused(STATUS.badRequest);
  if (text.length > (MAX_QUERY_BYTES * 4) / 3 + 4) return refused(STATUS.uriTooLong);
  return { kind: 'message', message: Buffer.from(text, 'base64url') };
}

function fromBody(headers: IncomingHttpHeaders): DnsRequest {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== DOH_MEDIA_TYPE) return refused(STATUS.unsupportedMediaType);
  const length = Number(headers['content-length'] ?? 0);
  return length > MAX_QUERY_BYTES ? refused(STATUS.contentTooLarge) : { kind: 'body' };
}

/** Reads the head of a request. */
export function readRequest(headers: IncomingHttpHeaders): DnsRequest {
  const [path, search = ''] = (headers[':path'] ?? '').split('?', 2);
  if (path !== DOH_PATH) return refused(STATUS.notFound);
  switch (headers[':method']) {
    case 'GET':
      return fromQuery(search);
    case 'POST':
      return fromBody(headers);
    default:
      return refused(STATUS.methodNotAllowed);
  }
}

/** Seconds of a TTL; one with the top bit set counts as 0 (RFC 2181, section 8). */
function ttlAt(reply: Buffer, offset: number): number {
  const ttl = reply.readUInt32BE(offset);
  return ttl > 0x7fff_ffff ? 0 : ttl;
}

/**
 * For how many seconds an HTTP cache may keep a reply of ours: the smallest TTL of its answer, or of its SOA record
 * if it has no answer (RFC 8484, section 5.1); 0 if it has neither.
 */
export function freshSeconds(reply: Buffer): number {
  let at = HEADER_BYTES;
  for (let count = u16(reply, 4); count > 0; count--) at = skipName(reply, at) + QUESTION_BYTES;
  const answers = u16(reply, 6);
  const records = answers === 0 ? u16(reply, 8) : answers;
  let smallest = Infinity;
  for (let count = records; count > 0; count--) {
    at = skipName(reply, at);
    if (at < 0 || at + RECORD_BYTES > reply.length) return 0;
    if (answers > 0 || u16(reply, at) === TYPE.SOA)
      smallest = Math.min(smallest, ttlAt(reply, at + TTL_OFFSET));
    at += RECORD_BYTES + u16(reply, at + RDLENGTH_OFFSET);
  }
  return smallest === Infinity ? 0 : smallest;
}
