/** Queries with exactly one right answer, and a check of the reply. */
import { decode } from 'dns-packet';
import { query, RCODE } from '../support/client.ts';

export interface GoodQuery {
  readonly bytes: Buffer;
  /** Null if the reply is right, else the fault. */
  judge(reply: Buffer): string | null;
}

interface Expected {
  readonly rcode: number;
  readonly answers: number;
  readonly authorities: number;
  readonly flags: number;
}

const AUTHORITATIVE = 0x0400;

function judge(bytes: Buffer, reply: Buffer, expected: Expected): string | null {
  const questionEnd = bytes.length;
  if (reply.length < questionEnd) return `${reply.length} bytes`;
  if (!reply.subarray(12, questionEnd).equals(bytes.subarray(12))) return 'another question';
  const flags = reply.readUInt16BE(2);
  const wanted = 0x8000 | (bytes.readUInt16BE(2) & 0x0100) | expected.flags | expected.rcode;
  if (flags !== wanted) return `flags ${flags.toString(16)}, not ${wanted.toString(16)}`;
  const { answers = [], authorities = [] } = decode(reply);
  if (answers.length !== expected.answers) return `${answers.length} answers`;
  if (authorities.length !== expected.authorities) return `${authorities.length} authorities`;
  const [answer] = answers;
  if (answer !== undefined && (answer.type !== 'A' || answer.data !== '127.0.0.1'))
    return JSON.stringify(answer);
  return null;
}

function good(name: string, type: string, expected: Expected): GoodQuery {
  const bytes = query(name, type);
  return { bytes, judge: (reply) => judge(bytes, reply, expected) };
}

/** For a server with the zones of `--zones 100`: names that exist, types that do not, names in and out of zones. */
export function goodQueries(): GoodQuery[] {
  const found = { rcode: RCODE.NOERROR, answers: 1, authorities: 0, flags: AUTHORITATIVE };
  const noData = { rcode: RCODE.NOERROR, answers: 0, authorities: 1, flags: AUTHORITATIVE };
  const nameError = { rcode: RCODE.NXDOMAIN, answers: 0, authorities: 1, flags: AUTHORITATIVE };
  const outside = { rcode: RCODE.REFUSED, answers: 0, authorities: 0, flags: 0 };
  return Array.from({ length: 100 }, (_, index) => 2 * index + 1).flatMap((odd) => [
    good(`ExAmple${odd}.com`, 'A', found),
    good(`example${odd}.com`, 'AAAA', noData),
    good(`www.example${odd}.com`, 'A', nameError),
    good(`example${odd + 1}.com`, 'A', outside),
  ]);
}
