/**
 * The ways in which our answers may differ from those of NSD and Knot DNS. Each is explained under its name in
 * docs/differences.md. Whatever no rule allows is a fault.
 */
import { EDNS_OPTION, findNameEnd, GOOD, QueryReader, RCODE, skipName } from '@dinodns-bench/wire';
import { asksForNoRecords } from '../../src/table/write.ts';
import type { View } from './view.ts';

/** From the range for local use (RFC 6891, section 9). */
const UNKNOWN_OPTION = 65_001;
const NOT_FOR_QUERIES = 0x06cf;
const ERRORS: readonly (number | undefined)[] = [RCODE.FORMERR, RCODE.NOTIMP, 9, undefined];

/** Facts about a message that the rules need. */
export interface Facts {
  readonly flags: number;
  readonly type: number;
  readonly class: number;
  readonly isWellFormed: boolean;
  /** The message would be well-formed if its COOKIE option had another type. */
  readonly hasMalformedCookie: boolean;
  readonly hasUnusualRecords: boolean;
  readonly hasBytesBehind: boolean;
}

export function factsOf(message: Buffer): Facts {
  const reader = new QueryReader();
  const code = reader.read(message, 0, message.length);
  const count = (at: number) => (message.length >= 12 ? message.readUInt16BE(at) : 0);
  const isWellFormed = code === GOOD;
  return {
    flags: message.length < 4 ? 0 : message.readUInt16BE(2),
    type: reader.type,
    class: reader.class,
    isWellFormed,
    hasMalformedCookie: !isWellFormed && isWellFormedWithoutCookie(message, reader),
    hasUnusualRecords: count(6) + count(8) > 0 || count(10) > (reader.hasEdns ? 1 : 0),
    hasBytesBehind: isWellFormed && endOf(message) < message.length,
  };
}

/** Options of a type that nobody reads have any length. */
function isWellFormedWithoutCookie(message: Buffer, { optAt }: QueryReader): boolean {
  if (optAt === 0) return false;
  const other = Buffer.from(message);
  const options = optAt + 10;
  const end = options + message.readUInt16BE(optAt + 8);
  for (let at = options; at + 4 <= end; at += 4 + message.readUInt16BE(at + 2)) {
    if (message.readUInt16BE(at) === EDNS_OPTION.cookie) other.writeUInt16BE(UNKNOWN_OPTION, at);
  }
  return new QueryReader().read(other, 0, other.length) === GOOD;
}

/** Offset after everything that the header announces. */
function endOf(message: Buffer): number {
  let at = findNameEnd(message, 12) + 4;
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
  for (let index = 0; index < records; index++) {
    const body = skipName(message, at);
    at = body + 10 + message.readUInt16BE(body + 8);
  }
  return at;
}

export interface Difference {
  readonly facts: Facts;
  readonly ours: View;
  readonly theirs: View;
  /** Keys of the views that differ. */
  readonly keys: readonly (keyof View)[];
}

function only(keys: readonly (keyof View)[], allowed: readonly (keyof View)[]): boolean {
  return keys.every((key) => allowed.includes(key));
}

/** Rules in the order in which they are tried. */
export const RULES: Readonly<Record<string, (difference: Difference) => boolean>> = {
  'never-answered': ({ ours }) => ours.kind === 'none',
  'other-operations': ({ facts, ours }) => (facts.flags & 0x7800) !== 0 && ours.rcode === RCODE.NOTIMP,
  'malformed-messages': ({ facts, ours, theirs }) =>
    !facts.isWellFormed &&
    ours.rcode === RCODE.FORMERR &&
    (ERRORS.includes(theirs.rcode) || theirs.opt.startsWith('badvers')),
  'malformed-cookies': ({ facts, ours, theirs }) =>
    facts.hasMalformedCookie && ours.rcode === RCODE.FORMERR && ours.opt !== '' && theirs.opt !== '',
  'unknown-edns-version': ({ ours, theirs }) =>
    ours.opt.startsWith('badvers') && (theirs.opt.startsWith('badvers') || ERRORS.includes(theirs.rcode)),
  'header-bits': ({ facts, theirs }) =>
    (facts.flags & NOT_FOR_QUERIES) !== 0 && ERRORS.includes(theirs.rcode),
  'header-bits-returned': ({ keys }) => only(keys, ['reservedFlags']),
  'records-in-queries': ({ facts, theirs }) => facts.hasUnusualRecords && ERRORS.includes(theirs.rcode),
  'octets-behind-the-query': ({ facts, theirs }) => facts.hasBytesBehind && ERRORS.includes(theirs.rcode),
  'other-classes': ({ facts, ours }) =>
    facts.class !== 1 && facts.class !== 255 && ours.rcode === RCODE.REFUSED,
  'class-any': ({ facts, ours }) => facts.class === 255 && !ours.authoritative,
  'meta-types': ({ facts, ours }) => asksForNoRecords(facts.type) && ours.rcode === RCODE.REFUSED,
  'type-zero': ({ facts, theirs }) => facts.type === 0 && ERRORS.includes(theirs.rcode),
  'one-set-for-any': ({ facts, ours, theirs, keys }) =>
    facts.type === 255 &&
    ours.answers !== '' &&
    theirs.answers !== '' &&
    only(keys, ['answers', 'authorities', 'additionals', 'truncated']),
  'minimal-answers': ({ ours, keys }) => ours.answers !== '' && only(keys, ['authorities', 'additionals']),
  'redirected-name-too-long': ({ ours, theirs, keys }) =>
    ours.rcode === RCODE.YXDOMAIN && theirs.rcode === RCODE.YXDOMAIN && only(keys, ['truncated', 'answers']),
  'empty-when-truncated': ({ ours, theirs, keys }) =>
    ours.truncated && theirs.truncated && only(keys, ['answers', 'authorities', 'additionals']),
};

/** The name of the rule that allows a difference. */
export function allowedBy(difference: Difference): string | undefined {
  return Object.keys(RULES).find((name) => RULES[name]?.(difference));
}
