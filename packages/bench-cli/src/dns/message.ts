/** Queries and answers on the wire (RFC 1035), for the few queries that bench itself sends. */
import { type Answer, type DecodedPacket, decode, encode, type RecordType } from 'dns-packet';

export interface DnsQuery {
  readonly name: string;
  /** In capitals, as in a zone file; `UNKNOWN_65` for a number. */
  readonly type: string;
}

export interface DecodedAnswer {
  readonly id: number;
  /** `NOERROR`, `NXDOMAIN`, …, or `RCODE_11` for a number without a name. */
  readonly responseCode: string;
  /** The AA bit. */
  readonly authoritative: boolean;
  /** The TC bit: the answer did not fit into the datagram. */
  readonly truncated: boolean;
  /** The first question of the answer, as the server wrote it; null if there is none. */
  readonly question: { readonly name: string; readonly type: string; readonly class: string } | null;
  /** The question came back as it was asked: one, same type and class, and the name with the same case. */
  readonly questionEchoed: boolean;
  readonly answers: readonly Answer[];
  readonly authorities: readonly Answer[];
  readonly bytes: number;
  /** Everything else that dns-packet decoded. */
  readonly packet: DecodedPacket;
}

/** RFC 1035 section 4.1.1, RFC 2136 section 2.2. */
const RESPONSE_CODES = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
] as const;

const withoutDot = (name: string) => (name.endsWith('.') ? name.slice(0, -1) : name);

/** Types that dns-packet knows by number only (RFC 9460). */
const NUMBERED_TYPES: Readonly<Record<string, string>> = { SVCB: 'UNKNOWN_64', HTTPS: 'UNKNOWN_65' };

const packetType = (type: string) => (NUMBERED_TYPES[type] ?? type) as RecordType;

/**
 * A query of class IN without recursion desired and without EDNS, as dnsperf sends it.
 * Throws for an unknown type.
 */
export function encodeQuery(id: number, { name, type }: DnsQuery): Buffer {
  const message = encode({
    type: 'query',
    id,
    flags: 0,
    questions: [{ name: withoutDot(name), type: packetType(type), class: 'IN' }],
  });
  // Type and class end the message; dns-packet writes type 0 for a name that it does not know.
  if (message.readUInt16BE(message.length - 4) === 0) throw new Error(`unknown record type ${type}`);
  return message;
}

/** Decodes the answer to `query`. Throws an Error that says what is wrong with the bytes. */
export function decodeAnswer(bytes: Buffer, query: DnsQuery): DecodedAnswer {
  if (bytes.length < 12) throw new Error(`${bytes.length} bytes are too few for a DNS header of 12`);
  const packet = decode(bytes);
  if (!packet.flag_qr) throw new Error('it is a query, not a response (QR bit clear)');
  const code = bytes.readUInt16BE(2) & 0xf;
  const question = packet.questions?.[0];
  return {
    id: bytes.readUInt16BE(0),
    responseCode: RESPONSE_CODES[code] ?? `RCODE_${code}`,
    authoritative: packet.flag_aa,
    truncated: packet.flag_tc,
    question:
      question === undefined
        ? null
        : { name: question.name, type: question.type, class: question.class ?? 'IN' },
    questionEchoed:
      packet.questions?.length === 1 &&
      question?.name === withoutDot(query.name) &&
      question.type === packetType(query.type) &&
      (question.class ?? 'IN') === 'IN',
    answers: packet.answers ?? [],
    authorities: packet.authorities ?? [],
    bytes: bytes.length,
    packet,
  };
}
