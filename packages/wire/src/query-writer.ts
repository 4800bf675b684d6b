/** Queries in wire format. */
import { HEADER_BYTES } from './header.ts';
import { CLASS } from './types.ts';

export interface QueryFields {
  /** Default 0: the sender sets it. */
  readonly id?: number;
  /** The second word of the header, such as `FLAG.recursionDesired`; default 0. */
  readonly flags?: number;
  /** Uncompressed, in wire format. */
  readonly name: Uint8Array;
  readonly type: number;
  /** Default IN. */
  readonly class?: number;
  /** An OPT record in wire format (`encodeOpt`); default none. */
  readonly opt?: Uint8Array | null;
}

/** A message with one question, and the OPT record if one is given. */
export function encodeQuery({ id = 0, flags = 0, name, type, opt = null, ...rest }: QueryFields): Buffer {
  const questionEnd = HEADER_BYTES + name.length + 4;
  const query = Buffer.alloc(questionEnd + (opt?.length ?? 0));
  query.writeUInt16BE(id, 0);
  query.writeUInt16BE(flags, 2);
  query[5] = 1;
  query.set(name, HEADER_BYTES);
  query.writeUInt16BE(type, questionEnd - 4);
  query.writeUInt16BE(rest.class ?? CLASS.IN, questionEnd - 2);
  if (opt !== null) {
    query[11] = 1;
    query.set(opt, questionEnd);
  }
  return query;
}
