/** The OPT record of a query (RFC 6891) and its options: NSID, client subnet, cookie, any other. */
import {
  type AddressPrefix,
  EDNS_OPTION,
  type EdnsOption,
  encodeOpt,
  parsePrefix,
  prefixBytes,
} from '@dinodns-bench/wire';

export interface EdnsOptions {
  /** The UDP payload size offered, 512 to 65535; default 1232. */
  readonly payloadBytes?: number;
  /** DO (RFC 3225). */
  readonly dnssecOk?: boolean;
  /** Ask for the server's identifier (RFC 5001). */
  readonly nsid?: boolean;
  /** RFC 7871. */
  readonly clientSubnet?: AddressPrefix;
  /** RFC 7873: 8 bytes for a client cookie, or 16 to 40 for client and server cookie. */
  readonly cookie?: Uint8Array;
  /** Further options, sent unchanged. */
  readonly options?: readonly EdnsOption[];
}

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** Reads `192.0.2.0/24` or `2001:db8::/56`. */
export function parseClientSubnet(text: string): Parsed<AddressPrefix> {
  const value = parsePrefix(text);
  return value === undefined
    ? { problem: `"${text}" is not an address with a prefix length that it can have, such as 192.0.2.0/24` }
    : { value };
}

/** Reads hexadecimal digits: 8 bytes for a client cookie, or 16 to 40 with the server's (RFC 7873 §4). */
export function parseCookie(text: string): Parsed<Uint8Array> {
  const bytes = hexBytes(text);
  if (bytes === undefined) return { problem: `the cookie "${text}" is not written in hexadecimal digits` };
  const { length } = bytes;
  if (length !== 8 && (length < 16 || length > 40))
    return { problem: `the cookie "${text}" has ${length} bytes: a cookie has 8, or 16 to 40` };
  return { value: bytes };
}

/** Reads `code:hexdigits` like dnsperf's `-E`, for example `10:0011223344556677`. */
export function parseOption(text: string): Parsed<EdnsOption> {
  const [, code, digits] = /^(\d{1,5}):([0-9a-f]*)$/i.exec(text) ?? [];
  const data = digits === undefined ? undefined : hexBytes(digits);
  if (code === undefined || data === undefined || Number(code) > 0xffff)
    return { problem: `"${text}" is no EDNS option: give code:hexadecimal, such as 10:0011223344556677` };
  return { value: { code: Number(code), data } };
}

function hexBytes(digits: string): Uint8Array | undefined {
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return undefined;
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

/** Prefix lengths that RFC 7871 §11.1 recommends, of IPv4 and IPv6. */
const RECOMMENDED_BITS = [24, 56] as const;

/**
 * RFC 7871 §6: no more bytes than the prefix needs, and the bits beyond it zero: servers must answer anything else
 * with FORMERR.
 */
function clientSubnetData({ bytes, bits: given }: AddressPrefix): Uint8Array {
  const isIpv4 = bytes.length === 4;
  const bits = given ?? RECOMMENDED_BITS[isIpv4 ? 0 : 1];
  const prefix = prefixBytes(bytes, bits).subarray(0, Math.ceil(bits / 8));
  return Uint8Array.of(0, isIpv4 ? 1 : 2, bits, 0, ...prefix);
}

/** The OPT record in wire format. */
export function optRecord(edns: EdnsOptions): Uint8Array {
  const options = [
    ...(edns.nsid === true ? [{ code: EDNS_OPTION.nsid, data: new Uint8Array(0) }] : []),
    ...(edns.clientSubnet === undefined
      ? []
      : [{ code: EDNS_OPTION.clientSubnet, data: clientSubnetData(edns.clientSubnet) }]),
    ...(edns.options ?? []),
    // Last, so that the server's part can be appended (engine/cookies.ts).
    ...(edns.cookie === undefined ? [] : [{ code: EDNS_OPTION.cookie, data: edns.cookie }]),
  ];
  return encodeOpt({
    ...(edns.payloadBytes === undefined ? {} : { udpBytes: edns.payloadBytes }),
    ...(edns.dnssecOk === undefined ? {} : { dnssecOk: edns.dnssecOk }),
    options,
  });
}
