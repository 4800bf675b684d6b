/** From message options to an encoder: header flags, class, and the OPT record (RFC 6891) with its options. */
import { randomBytes } from 'node:crypto';
import type { Problem } from '@dinodns-bench/program';
import {
  CLASS,
  classNumber,
  EDNS_OPTION,
  type EdnsOption,
  encodeOpt,
  encodeQuery,
  FLAG,
  parsePrefix,
  prefixBytes,
} from '@dinodns-bench/wire';
import { LoadError } from '../errors.ts';
import type { MessageOptions } from '../options.ts';

/** RFC 7873 §4.1. */
const CLIENT_COOKIE_BYTES = 8;

/** Prefix lengths that RFC 7871 §11.1 recommends, of IPv4 and IPv6. */
const RECOMMENDED_BITS = [24, 56] as const;

/**
 * Reads `192.0.2.0/24` or `2001:db8::/56`. RFC 7871 §6: no more bytes than the prefix needs, and the bits beyond it zero:
 * servers must answer anything else with FORMERR.
 */
function clientSubnetOption(text: string): EdnsOption | Problem {
  const prefix = parsePrefix(text);
  if (prefix === undefined) {
    const problem = `"${text}" is not an address with a prefix length that it can have, such as 192.0.2.0/24`;
    return { problem, fix: 'give a network, such as 192.0.2.0/24 or 2001:db8::/56' };
  }
  const isIpv4 = prefix.bytes.length === 4;
  const bits = prefix.bits ?? RECOMMENDED_BITS[isIpv4 ? 0 : 1];
  const bytes = prefixBytes(prefix.bytes, bits).subarray(0, Math.ceil(bits / 8));
  return { code: EDNS_OPTION.clientSubnet, data: Uint8Array.of(0, isIpv4 ? 1 : 2, bits, 0, ...bytes) };
}

/** Reads `random` or hexadecimal digits: 8 bytes for a client cookie, or 16 to 40 with the server's (RFC 7873 §4). */
function cookieOption(text: string): EdnsOption | Problem {
  const data = text === 'random' ? randomBytes(CLIENT_COOKIE_BYTES) : hexBytes(text);
  const fix = 'give "random", or 16 to 80 hexadecimal digits';
  if (data === undefined)
    return { problem: `the cookie "${text}" is not written in hexadecimal digits`, fix };
  const { length } = data;
  if (length !== CLIENT_COOKIE_BYTES && (length < 16 || length > 40))
    return { problem: `the cookie "${text}" has ${length} bytes: a cookie has 8, or 16 to 40`, fix };
  return { code: EDNS_OPTION.cookie, data };
}

/** Reads `code:hexdigits` like dnsperf's `-E`, for example `10:0011223344556677`. */
function anyOption(text: string): EdnsOption | Problem {
  const [, code, digits] = /^(\d{1,5}):([0-9a-f]*)$/i.exec(text) ?? [];
  const data = digits === undefined ? undefined : hexBytes(digits);
  if (code !== undefined && data !== undefined && Number(code) <= 0xffff) return { code: Number(code), data };
  return {
    problem: `"${text}" is no EDNS option: give code:hexadecimal, such as 10:0011223344556677`,
    fix: 'give the code and the data, such as 10:0011223344556677',
  };
}

function hexBytes(digits: string): Uint8Array | undefined {
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return undefined;
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

const isProblem = (read: EdnsOption | Problem): read is Problem => 'problem' in read;

/**
 * The OPT record in wire format; null if nothing asks for one.
 * @throws LoadError `E_OPTIONS` with all problems.
 */
function optRecord(asked: MessageOptions): Uint8Array | null {
  const { ednsSize, dnssec, nsid, clientSubnet, cookie } = asked;
  const read = [
    ...(nsid ? [{ code: EDNS_OPTION.nsid, data: new Uint8Array(0) }] : []),
    ...(clientSubnet === null ? [] : [clientSubnetOption(clientSubnet)]),
    ...asked.options.map(anyOption),
    // Last, so that the server's part can be appended (engine/cookies.ts).
    ...(cookie === null ? [] : [cookieOption(cookie)]),
  ];
  const problems = read.filter(isProblem);
  if (problems.length > 0) throw new LoadError('E_OPTIONS', problems);
  if (ednsSize === null && !dnssec && read.length === 0) return null;
  const options = read.filter((option): option is EdnsOption => !isProblem(option));
  return encodeOpt({ ...(ednsSize === null ? {} : { udpBytes: ednsSize }), dnssecOk: dnssec, options });
}

/** Encodes a query for a name in wire format, with id 0: the sender writes the id. */
export type EncodeQuery = (name: Uint8Array, type: number) => Uint8Array;

/** @throws LoadError `E_OPTIONS` with all problems. */
export function encoderFor(options: MessageOptions): EncodeQuery {
  const common = {
    flags:
      (options.recursionDesired ? FLAG.recursionDesired : 0) |
      (options.authenticData ? FLAG.authenticData : 0) |
      (options.checkingDisabled ? FLAG.checkingDisabled : 0),
    class: classNumber(options.class) ?? CLASS.IN,
    opt: optRecord(options),
  };
  return (name, type) => encodeQuery({ ...common, name, type });
}
