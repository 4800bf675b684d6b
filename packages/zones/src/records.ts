/** The types of records that are generated and queried. */

/** The record types that a zone set can hold, in the order of zone files. */
export const RECORD_TYPES = ['SOA', 'NS', 'A', 'AAAA', 'CNAME', 'DNAME', 'MX', 'TXT', 'SRV', 'CAA'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Types that dnsperf and DNS libraries know by these names, including some that zone sets cannot hold. */
export const QUERY_TYPES = [
  ...RECORD_TYPES,
  ...['ANY', 'DNSKEY', 'DS', 'HINFO', 'HTTPS', 'NAPTR', 'NSEC', 'PTR', 'RRSIG', 'SSHFP', 'SVCB', 'TLSA'],
];

export function isRecordType(text: string): text is RecordType {
  return RECORD_TYPES.some((type) => type === text);
}
