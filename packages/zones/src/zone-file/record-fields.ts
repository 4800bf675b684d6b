/**
 * The fields of each record type's data, in order; `rdata/` reads and writes their kinds. To add a type, add a line
 * here.
 */
import { CLASS, classNumber, isMetaType, TYPE, type TypeName, typeNumber } from '@dinodns-bench/wire';

/** The fields of each type's data. Data without fields is written only as `\# LENGTH HEX` (RFC 3597). */
const FIELDS = {
  A: 'ipv4',
  NS: 'name',
  MD: 'name',
  MF: 'name',
  CNAME: 'name',
  SOA: 'name name u32 seconds seconds seconds seconds',
  MB: 'name',
  MG: 'name',
  MR: 'name',
  NULL: '',
  WKS: 'services',
  PTR: 'name',
  HINFO: 'string string',
  MINFO: 'name name',
  MX: 'u16 name',
  TXT: 'strings',
  RP: 'name name',
  AFSDB: 'u16 name',
  X25: 'digits',
  ISDN: 'string optionalString',
  RT: 'u16 name',
  NSAP: 'nsapAddress',
  'NSAP-PTR': 'name',
  SIG: 'oldTypeCovered algorithm u8 seconds signatureTime signatureTime u16 name base64',
  KEY: 'keyFlags protocol algorithm publicKey',
  PX: 'u16 name name',
  GPOS: 'string string string',
  AAAA: 'ipv6',
  LOC: 'location',
  NXT: 'name nxtBitmap',
  EID: 'hex',
  NIMLOC: 'hex',
  SRV: 'u16 u16 u16 name',
  ATMA: 'atmAddress',
  NAPTR: 'u16 u16 string string string name',
  KX: 'u16 name',
  CERT: 'certificateType u16 algorithmName base64',
  A6: 'a6',
  DNAME: 'name',
  SINK: 'u8 u8 u8 optionalBase64',
  APL: 'prefixes',
  DS: 'u16 algorithm digestType digest',
  SSHFP: 'u8 u8 hex',
  IPSECKEY: 'u8 ipsecGateway optionalBase64',
  RRSIG: 'typeCovered algorithm u8 seconds signatureTime signatureTime u16 name base64',
  NSEC: 'name typeBitmap',
  DNSKEY: 'keyFlags protocol algorithm publicKey',
  DHCID: 'base64',
  NSEC3: 'u8 u8 u16 salt nextHash typeBitmap',
  NSEC3PARAM: 'u8 u8 u16 salt',
  TLSA: 'u8 u8 u8 hex',
  SMIMEA: 'u8 u8 u8 hex',
  HIP: 'hostIdentity',
  NINFO: 'strings',
  RKEY: 'keyFlags protocol algorithm publicKey',
  TALINK: 'name name',
  CDS: 'u16 algorithm digestType digest',
  CDNSKEY: 'keyFlags protocol algorithm publicKey',
  OPENPGPKEY: 'base64',
  CSYNC: 'u32 u16 typeBitmap',
  ZONEMD: 'u32 u8 u8 zoneDigest',
  SVCB: 'u16 name parameters',
  HTTPS: 'u16 name parameters',
  DSYNC: 'typeCovered u8 u16 name',
  HHIT: 'base64',
  BRID: 'base64',
  SPF: 'strings',
  UINFO: '',
  UID: '',
  GID: '',
  UNSPEC: '',
  NID: 'u16 locator64',
  L32: 'u16 ipv4',
  L64: 'u16 locator64',
  LP: 'u16 name',
  EUI48: 'eui48',
  EUI64: 'eui64',
  URI: 'u16 u16 text',
  CAA: 'u8 tag text',
  AVC: 'strings',
  DOA: 'u32 u32 u8 string dashBase64',
  AMTRELAY: 'u8 relay',
  RESINFO: 'strings',
  WALLET: 'strings',
  CLA: 'strings',
  IPN: '',
  TA: 'u16 algorithm digestType digest',
  DLV: 'u16 algorithm digestType digest',
} as const satisfies Partial<Record<TypeName, string>>;

/** Obsolete types (RFC 1035, section 3.2.2) that other servers refuse. */
const OBSOLETE_TYPES: readonly number[] = [TYPE.MD, TYPE.MF];

const fields = new Map(Object.entries(FIELDS).map(([name, kinds]) => [typeNumber(name), kinds]));

/** The mnemonics of all types that a zone file can hold. */
export const TYPES_IN_FILES: readonly string[] = Object.keys(FIELDS);

/** The kinds of a type's fields, separated by blanks; undefined for an unknown type. */
export function fieldsOf(type: number): string | undefined {
  return fields.get(type);
}

/** Why no record of a zone may have this type; undefined if it may. */
export function unusable(type: number): 'meta' | 'obsolete' | undefined {
  if (type === 0 || isMetaType(type)) return 'meta';
  return OBSOLETE_TYPES.includes(type) ? 'obsolete' : undefined;
}

/** The number of a class as a zone file writes it: `IN`, `CHAOS`, `CLASS1`; undefined for other text. */
export function classFromText(text: string): number | undefined {
  return text.toUpperCase() === 'CHAOS' ? CLASS.CH : classNumber(text);
}
