/** Record data in canonical form (RFC 4034, section 6.2): names in the data of the older types are in lower case. */
import { lowerCaseName, namesIn, TYPE } from '@dinodns-bench/wire';

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

/** The form of the data in which the records of an RRset are compared; `data` itself if it has no such names. */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  if (!TYPES.has(type)) return data;
  const canonical = Uint8Array.from(data);
  for (const [start, end] of namesIn(type, data))
    canonical.set(lowerCaseName(data.subarray(start, end)), start);
  return canonical;
}
