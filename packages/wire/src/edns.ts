/** The OPT record (RFC 6891). */
import { TYPE } from './types.ts';

/** The largest UDP message that avoids fragmentation on nearly every path (RFC 9715; DNS flag day 2020). */
export const EDNS_UDP_BYTES = 1232;

/** An OPT record without options: root, type, payload size, code, version, flags, length. */
export const OPT_BYTES = 11;

/** DNSSEC OK in the flags of an OPT record (RFC 3225). */
export const EDNS_FLAG = { dnssecOk: 0x8000 } as const;

/** Those option codes of the registry "DNS EDNS0 Option Codes (OPT)" that these programs send or read. */
export const EDNS_OPTION = { nsid: 3, clientSubnet: 8, cookie: 10, padding: 12 } as const;

export interface EdnsOption {
  /** 0 to 65,535. */
  readonly code: number;
  readonly data: Uint8Array;
}

export interface OptFields {
  /** The largest UDP message that the sender accepts, 0 to 65,535; default 1232. */
  readonly udpBytes?: number;
  /** DO (RFC 3225); default false. */
  readonly dnssecOk?: boolean;
  /** The upper eight bits of the response code; default 0. */
  readonly extendedRcode?: number;
  /** In this order; default none. */
  readonly options?: readonly EdnsOption[];
}

/** The OPT record of EDNS version 0 in wire format. Throws a RangeError if the options are longer than 65,535 bytes. */
export function encodeOpt(fields: OptFields = {}): Buffer {
  const { udpBytes = EDNS_UDP_BYTES, dnssecOk = false, extendedRcode = 0, options = [] } = fields;
  const size = options.reduce((total, { data }) => total + 4 + data.length, 0);
  const record = Buffer.alloc(OPT_BYTES + size);
  record.writeUInt16BE(TYPE.OPT, 1);
  record.writeUInt16BE(udpBytes, 3);
  record.writeUInt8(extendedRcode, 5);
  record.writeUInt16BE(dnssecOk ? EDNS_FLAG.dnssecOk : 0, 7);
  record.writeUInt16BE(size, 9);
  let at = OPT_BYTES;
  for (const { code, data } of options) {
    record.writeUInt16BE(code, at);
    record.writeUInt16BE(data.length, at + 2);
    record.set(data, at + 4);
    at += 4 + data.length;
  }
  return record;
}
