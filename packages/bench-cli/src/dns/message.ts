/** Queries and answers on the wire (RFC 1035), for the few queries that bench itself sends. */
import {
  encodeQuery as encode,
  encodeName,
  encodeOpt,
  HEADER_BYTES,
  RCODE_MASK,
  rcodeName,
  typeNumber,
} from '@dinodns-bench/wire';
import { type Answer, decode } from 'dns-packet';

export interface DnsQuery {
  readonly name: string;
  /** In capitals, as in a zone file; `TYPE65280` for a number. */
  readonly type: string;
  /** Ask for signatures: an OPT record with the DO bit (RFC 3225). Default: no OPT record. */
  readonly dnssecOk?: boolean;
}

export interface DecodedAnswer {
  readonly id: number;
  /** `NOERROR`, `NXDOMAIN`, …, or `RCODE12` for a number without a name. */
  readonly responseCode: string;
  /** The AA bit. */
  readonly authoritative: boolean;
  /** The first question of the answer, as the server wrote it; null if there is none. */
  readonly question: { readonly name: string; readonly type: string; readonly class: string } | null;
  /** The question came back as it was asked: one, same type and class, and the name with the same case. */
  readonly questionEchoed: boolean;
  readonly answers: readonly Answer[];
  readonly authorities: readonly Answer[];
}

/**
 * A query of class IN without recursion desired, as dnsperf sends it; with EDNS only if it asks for signatures.
 * Throws for an unknown type, and for text that is not a domain name.
 */
export function encodeQuery(id: number, { name, type, dnssecOk = false }: DnsQuery): Buffer {
  const number = typeNumber(type);
  if (number === undefined) throw new Error(`unknown record type ${type}`);
  return encode({ id, name: encodeName(name), type: number, opt: dnssecOk ? encodeOpt({ dnssecOk }) : null });
}

/** Decodes the answer to `query`. Throws an Error that says what is wrong with the bytes. */
export function decodeAnswer(bytes: Buffer, query: DnsQuery): DecodedAnswer {
  if (bytes.length < HEADER_BYTES)
    throw new Error(`${bytes.length} bytes are too few for a DNS header of 12`);
  const packet = decode(bytes);
  if (!packet.flag_qr) throw new Error('it is a query, not a response (QR bit clear)');
  const asked = encodeQuery(0, { name: query.name, type: query.type }).subarray(HEADER_BYTES);
  const question = packet.questions?.[0];
  return {
    id: bytes.readUInt16BE(0),
    responseCode: rcodeName(bytes.readUInt16BE(2) & RCODE_MASK),
    authoritative: packet.flag_aa,
    question:
      question === undefined
        ? null
        : { name: question.name, type: question.type, class: question.class ?? 'IN' },
    questionEchoed:
      packet.questions?.length === 1 &&
      asked.equals(bytes.subarray(HEADER_BYTES, HEADER_BYTES + asked.length)),
    answers: packet.answers ?? [],
    authorities: packet.authorities ?? [],
  };
}
