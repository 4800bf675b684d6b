/** RCODEs: the registry "DNS RCODEs" of IANA, as of November 2025. */
import { registryOf } from './registry.ts';

/**
 * Response codes; those above 15 need EDNS (RFC 6891 §6.1.3) or a TSIG or TKEY record. The registry assigns 16 twice:
 * BADVERS in EDNS, BADSIG in TSIG.
 */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  DSOTYPENI: 11,
  BADVERS: 16,
  BADSIG: 16,
  BADKEY: 17,
  BADTIME: 18,
  BADMODE: 19,
  BADNAME: 20,
  BADALG: 21,
  BADTRUNC: 22,
  BADCOOKIE: 23,
} as const;

// Twelve bits: four of the header and eight of the OPT record.
const rcodes = registryOf(RCODE, 'RCODE', 0xfff);

/** The mnemonic of a response code, or `RCODEnn` for one that has none. */
export const rcodeName = rcodes.nameOf;

/** The number of a response code by mnemonic or `RCODEnn`, 0 to 4095, in any letter case; undefined if it is neither. */
export const rcodeNumber = rcodes.numberOf;
