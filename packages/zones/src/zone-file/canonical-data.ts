/** Record data in canonical form (RFC 4034, section 6.2): names in the data of the older types are in lower case. */
import { LOWER_CASE, TYPE } from '@dinodns-bench/wire';
import { fieldsOf } from './record-fields.ts';

/** Types with names that compare without regard to case (RFC 4034, section 6.2, except NSEC: RFC 6840, section 5.1). */
const TYPES: ReadonlySet<number> = new Set([
  TYPE.NS,
  TYPE.MD,
  TYPE.MF,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.MB,
  TYPE.MG,
  TYPE.MR,
  TYPE.PTR,
  TYPE.MINFO,
  TYPE.MX,
  TYPE.RP,
  TYPE.AFSDB,
  TYPE.RT,
  TYPE.SIG,
  TYPE.PX,
  TYPE.NXT,
  TYPE.NAPTR,
  TYPE.KX,
  TYPE.SRV,
  TYPE.DNAME,
  TYPE.RRSIG,
]);

/** Sizes in bytes of the fields that can precede a name. */
const SIZES: Readonly<Record<string, number>> = {
  u8: 1,
  u16: 2,
  u32: 4,
  seconds: 4,
  typeCovered: 2,
  oldTypeCovered: 2,
  algorithm: 1,
  signatureTime: 4,
};

/** The form of the data in which the records of an RRset are compared; `data` itself if it has no such names. */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  if (!TYPES.has(type)) return data;
  const lower = Uint8Array.from(data);
  let at = 0;
  for (const field of fieldsOf(type)?.split(' ') ?? []) {
    if (field === 'name') at = lowerName(lower, at);
    else if (field === 'string') at += 1 + (lower[at] ?? 0);
    else if (SIZES[field] === undefined) break;
    else at += SIZES[field];
  }
  return lower;
}

/** Puts a name into lower case, in place, and returns the offset after it. */
function lowerName(data: Uint8Array, start: number): number {
  let at = start;
  while (at < data.length && data[at] !== 0) {
    const end = at + (data[at] ?? 0);
    for (at++; at <= end; at++) data[at] = LOWER_CASE[data[at] ?? 0] ?? 0;
  }
  return at + 1;
}
