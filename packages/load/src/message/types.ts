/** Names and numbers of the IANA registry "Domain Name System (DNS) Parameters". */

/** Types by name; obsolete ones too, as dnsperf knows them. Without those that no query can ask for. */
const TYPES: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  X25: 19,
  ISDN: 20,
  RT: 21,
  NSAP: 22,
  'NSAP-PTR': 23,
  SIG: 24,
  KEY: 25,
  PX: 26,
  GPOS: 27,
  AAAA: 28,
  LOC: 29,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  SRV: 33,
  ATMA: 34,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  A6: 38,
  DNAME: 39,
  SINK: 40,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  DSYNC: 66,
  SPF: 99,
  UINFO: 100,
  UID: 101,
  GID: 102,
  UNSPEC: 103,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  URI: 256,
  CAA: 257,
  AVC: 258,
  DOA: 259,
  AMTRELAY: 260,
  RESINFO: 261,
  WALLET: 262,
  CLA: 263,
  IPN: 264,
  TA: 32768,
  DLV: 32769,
};

const NAMES = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));

/** Every type name, for messages and suggestions. */
export const TYPE_NAMES: readonly string[] = Object.keys(TYPES);

/**
 * The number of a type by its name in any letter case, or `TYPEnnn` (RFC 3597 §5), 0 to 65535; undefined if it
 * is neither. `TYPE+5` is read as dnsperf reads it.
 */
export function typeNumber(text: string): number | undefined {
  const name = text.toUpperCase();
  const known = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (known !== undefined) return known;
  const digits = /^TYPE\+?(\d{1,9})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) > 0xffff ? undefined : Number(digits);
}

export function typeName(number: number): string {
  return NAMES.get(number) ?? `TYPE${number}`;
}

const CLASSES: Readonly<Record<string, number>> = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 };

/** The number of a class by name in any letter case, or `CLASSnnn` (RFC 3597 §5); undefined if it is neither. */
export function classNumber(text: string): number | undefined {
  const name = text.toUpperCase();
  const known = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
  if (known !== undefined) return known;
  const digits = /^CLASS(\d{1,5})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) > 0xffff ? undefined : Number(digits);
}

/** Response codes by number; those above 15 need EDNS (RFC 6891 §6.1.3). */
const CODES: Readonly<Record<number, string>> = {
  0: 'NOERROR',
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  6: 'YXDOMAIN',
  7: 'YXRRSET',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
  11: 'DSOTYPENI',
  16: 'BADVERS',
  17: 'BADKEY',
  18: 'BADTIME',
  19: 'BADMODE',
  20: 'BADNAME',
  21: 'BADALG',
  22: 'BADTRUNC',
  23: 'BADCOOKIE',
};

export function responseCodeName(code: number): string {
  return CODES[code] ?? `RCODE${code}`;
}

/** The number of a response code by name in any letter case or `RCODEnnn`, 0 to 4095; undefined if unknown. */
export function responseCodeNumber(text: string): number | undefined {
  const name = text.toUpperCase();
  for (const [number, known] of Object.entries(CODES)) if (known === name) return Number(number);
  const digits = /^RCODE(\d{1,4})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) > 4095 ? undefined : Number(digits);
}
