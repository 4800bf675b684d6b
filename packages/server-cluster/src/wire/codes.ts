/** Numbers of the DNS protocol (RFC 1035, section 4.1.1, and RFC 6891) that this package uses. */

export const HEADER_OCTETS = 12;

export const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  authenticData: 0x0020,
} as const;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  /** Here: a DNAME record makes the name longer than a name can be (RFC 6672, section 2.2). */
  YXDOMAIN: 6,
  /** An extended code: its upper eight bits, 1, go into the OPT record (RFC 6891, section 6.1.3). */
  BADVERS: 16,
} as const;

export const TYPE_OPT = 41;
export const CLASS_IN = 1;

/** Largest UDP payload that needs no EDNS (RFC 1035, section 4.2.1). */
export const PLAIN_UDP_OCTETS = 512;
/** Largest UDP response that we send, and advertise: what passes any path unfragmented (RFC 9715). */
export const EDNS_UDP_OCTETS = 1232;
/** A message over TCP has a length field of 16 bits. */
export const MAX_MESSAGE_OCTETS = 65_535;
