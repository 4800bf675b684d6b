/** Queries in wire format. */
import { type EdnsOptions, optRecord } from './edns.ts';

/** What all queries of a run have in common. */
export interface QueryFlags {
  /** Recursion desired; default true, as dnsperf sets it. */
  readonly recursionDesired?: boolean;
  /** CD (RFC 4035 §3.2.2); default false. */
  readonly checkingDisabled?: boolean;
  /** AD (RFC 6840 §5.7); default false. */
  readonly authenticData?: boolean;
  /** Class by number; default 1, IN. */
  readonly class?: number;
  /** Null (default) sends no OPT record. */
  readonly edns?: EdnsOptions | null;
}

/** Octets of a message's header (RFC 1035 §4.1.1); the question of a query begins there. */
export const HEADER_BYTES = 12;

/** An encoder for queries that differ in name and type only. The message id is 0: the sender writes its own. */
export function queryEncoder(flags: QueryFlags = {}): (name: Uint8Array, type: number) => Uint8Array {
  const opt = flags.edns === undefined || flags.edns === null ? new Uint8Array(0) : optRecord(flags.edns);
  const high = flags.recursionDesired === false ? 0 : 0x01;
  const low = (flags.authenticData === true ? 0x20 : 0) | (flags.checkingDisabled === true ? 0x10 : 0);
  const queryClass = flags.class ?? 1;
  return (name, type) => {
    const query = new Uint8Array(HEADER_BYTES + name.length + 4 + opt.length);
    query[2] = high;
    query[3] = low;
    query[5] = 1;
    if (opt.length > 0) query[11] = 1;
    query.set(name, HEADER_BYTES);
    let at = HEADER_BYTES + name.length;
    query[at++] = type >> 8;
    query[at++] = type & 0xff;
    query[at++] = queryClass >> 8;
    query[at++] = queryClass & 0xff;
    query.set(opt, at);
    return query;
  };
}
