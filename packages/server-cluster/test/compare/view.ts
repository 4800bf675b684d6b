/** What is compared of a reply: everything but the id, the order within a section, and sizes that are the server's own. */
import { decoded } from '../table/ask.ts';

export interface View {
  readonly kind: 'none' | 'reply';
  readonly rcode: number | undefined;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionDesired: boolean;
  /** RA, Z, AD and CD. */
  readonly reservedFlags: number;
  readonly operation: number;
  /** The question's bytes, in hexadecimal digits; empty without a question. */
  readonly question: string;
  readonly answers: string;
  readonly authorities: string;
  readonly additionals: string;
  /** Empty without an OPT record; else its version and DO bit. */
  readonly opt: string;
}

const NONE: View = {
  kind: 'none',
  rcode: undefined,
  authoritative: false,
  truncated: false,
  recursionDesired: false,
  reservedFlags: 0,
  operation: 0,
  question: '',
  answers: '',
  authorities: '',
  additionals: '',
  opt: '',
};

function sorted(records: readonly object[]): string {
  return records
    .map((record) => JSON.stringify(record))
    .sort()
    .join('\n');
}

export function viewOf(reply: Buffer | number): View {
  if (typeof reply === 'number') return NONE;
  const flags = reply.readUInt16BE(2);
  const { rcode, authoritative, truncated, answers, authorities, additionals, opt } = decoded(reply);
  return {
    kind: 'reply',
    rcode,
    authoritative,
    truncated,
    recursionDesired: (flags & 0x0100) !== 0,
    reservedFlags: flags & 0x00f0,
    operation: (flags >> 11) & 0xf,
    question: questionOf(reply),
    answers: sorted(answers),
    authorities: sorted(authorities),
    additionals: sorted(additionals),
    opt:
      opt?.type === 'OPT'
        ? `${opt.extendedRcode === 1 ? 'badvers ' : ''}${opt.ednsVersion} ${opt.flag_do}`
        : '',
  };
}

function questionOf(reply: Buffer): string {
  if (reply.readUInt16BE(4) === 0) return '';
  let at = 12;
  while ((reply[at] ?? 0) !== 0) at += (reply[at] ?? 0) + 1;
  return reply.toString('hex', 12, at + 5);
}
