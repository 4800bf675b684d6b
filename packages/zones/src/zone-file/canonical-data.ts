/** Record data in canonical form (RFC 4034, section 6.2): names in the data of the older types are in lower case. */
import { lowerCaseName, namesIn, typeNumber } from '@dinodns-bench/wire';

/** Types with names that compare without regard to case (RFC 4034, section 6.2, except NSEC: RFC 6840, section 5.1). */
const TYPES: ReadonlySet<number | undefined> = new Set(
  'NS MD MF CNAME SOA MB MG MR PTR MINFO MX RP AFSDB RT SIG PX NXT NAPTR KX SRV DNAME RRSIG'
    .split(' ')
    .map(typeNumber),
);

/** The form of the data in which the records of an RRset are compared; `data` itself if it has no such names. */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  if (!TYPES.has(type)) return data;
  const canonical = Uint8Array.from(data);
  for (const [start, end] of namesIn(type, data))
    canonical.set(lowerCaseName(data.subarray(start, end)), start);
  return canonical;
}
