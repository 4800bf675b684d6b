/** From message options to an encoder. */

import { randomBytes } from 'node:crypto';
import type { Problem } from '@dinodns-bench/program';
import { CLASS, classNumber, encodeQuery, FLAG } from '@dinodns-bench/wire';
import { LoadError } from '../errors.ts';
import {
  type EdnsOptions,
  optRecord,
  type Parsed,
  parseClientSubnet,
  parseCookie,
  parseOption,
} from './edns.ts';
import type { MessageOptions } from './options.ts';

/** RFC 7873 §4.1. */
const CLIENT_COOKIE_BYTES = 8;

/** Encodes a query for a name in wire format, with id 0: the sender writes the id. */
export type EncodeQuery = (name: Uint8Array, type: number) => Uint8Array;

function valueOr<T>(parsed: Parsed<T>, problems: Problem[], fix: string): T | undefined {
  if ('value' in parsed) return parsed.value;
  problems.push({ problem: parsed.problem, fix });
  return undefined;
}

function cookieOf(text: string): Parsed<Uint8Array> {
  return text === 'random' ? { value: randomBytes(CLIENT_COOKIE_BYTES) } : parseCookie(text);
}

/** The EDNS options; null if none is requested, and then no OPT record is sent. */
function ednsOf(options: MessageOptions): EdnsOptions | null {
  const problems: Problem[] = [];
  const subnet =
    options.clientSubnet === null
      ? undefined
      : valueOr(
          parseClientSubnet(options.clientSubnet),
          problems,
          'give a network, such as 192.0.2.0/24 or 2001:db8::/56',
        );
  const cookie =
    options.cookie === null
      ? undefined
      : valueOr(cookieOf(options.cookie), problems, 'give "random", or 16 to 80 hexadecimal digits');
  const further = options.options.map((text) =>
    valueOr(parseOption(text), problems, 'give the code and the data, such as 10:0011223344556677'),
  );
  const [first, ...others] = problems;
  if (first !== undefined) throw new LoadError('E_OPTIONS', [first, ...others]);
  const asked =
    options.ednsSize !== null ||
    options.dnssec ||
    options.nsid ||
    subnet !== undefined ||
    cookie !== undefined ||
    further.length > 0;
  if (!asked) return null;
  return {
    ...(options.ednsSize === null ? {} : { payloadBytes: options.ednsSize }),
    dnssecOk: options.dnssec,
    nsid: options.nsid,
    ...(subnet === undefined ? {} : { clientSubnet: subnet }),
    ...(cookie === undefined ? {} : { cookie }),
    options: further.filter((option) => option !== undefined),
  };
}

/** @throws LoadError `E_OPTIONS` with all problems. */
export function encoderFor(options: MessageOptions): EncodeQuery {
  const edns = ednsOf(options);
  const common = {
    flags:
      (options.recursionDesired ? FLAG.recursionDesired : 0) |
      (options.authenticData ? FLAG.authenticData : 0) |
      (options.checkingDisabled ? FLAG.checkingDisabled : 0),
    class: classNumber(options.class) ?? CLASS.IN,
    opt: edns === null ? null : optRecord(edns),
  };
  return (name, type) => encodeQuery({ ...common, name, type });
}
