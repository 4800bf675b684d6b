/** From message options to an encoder. */
import { CLASS, classNumber, encodeQuery, FLAG } from '@dinodns-bench/wire';
import { optRecord } from './edns.ts';
import type { MessageOptions } from './options.ts';

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
