/**
 * Resource records in the shape of the npm package dns-packet, so that its encoder (and DinoDNS, which uses it)
 * accepts them unchanged.
 */
import { joinParts, partsOf } from '@dinodns-bench/wire';

/** The record types that a zone set can hold, in the order of zone files. */
export const RECORD_TYPES = ['SOA', 'NS', 'A', 'AAAA', 'CNAME', 'DNAME', 'MX', 'TXT', 'SRV', 'CAA'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Types that dnsperf and DNS libraries know by these names, including some that zone sets cannot hold. */
export const QUERY_TYPES = [
  ...RECORD_TYPES,
  ...['ANY', 'DNSKEY', 'DS', 'HINFO', 'HTTPS', 'NAPTR', 'NSEC', 'PTR', 'RRSIG', 'SSHFP', 'SVCB', 'TLSA'],
];

export interface MxData {
  preference: number;
  /** Host name without a trailing dot; `.` means that the name accepts no mail (RFC 7505). */
  exchange: string;
}

export interface SrvData {
  priority: number;
  weight: number;
  port: number;
  /** Host name without a trailing dot; `.` means that the service is not available (RFC 2782). */
  target: string;
}

/** Times in seconds. */
export interface SoaData {
  mname: string;
  rname: string;
  serial: number;
  refresh: number;
  retry: number;
  expire: number;
  minimum: number;
}

export interface CaaData {
  flags: number;
  tag: string;
  value: string;
}

/** The data of each record type. Names have no trailing dot. */
export interface RecordData {
  A: string;
  AAAA: string;
  CNAME: string;
  DNAME: string;
  MX: MxData;
  /** Character strings of at most 255 bytes each. */
  TXT: string[];
  NS: string;
  SOA: SoaData;
  SRV: SrvData;
  CAA: CaaData;
}

/** A record type with its data, as a discriminated union. */
export type TypedData = { [T in RecordType]: { readonly type: T; readonly data: RecordData[T] } }[RecordType];

/** `name` is absolute, in lower case, without a trailing dot; `ttl` is in seconds, 0 to 2^31 − 1 (RFC 2181). */
export type ResourceRecord = TypedData & { readonly name: string; readonly ttl: number };

export function isRecordType(text: string): text is RecordType {
  return RECORD_TYPES.some((type) => type === text);
}

/** The same record with `change` applied to every domain name in its data. */
export function mapDataNames(record: TypedData, change: (name: string) => string): TypedData {
  const parts = partsOf(record.type, record.data).map((part) =>
    part.kind === 'name' ? { ...part, value: change(String(part.value)) } : part,
  );
  return { type: record.type, data: joinParts(parts) } as TypedData;
}
