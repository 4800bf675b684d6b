/** What every reply to a query must be: a well-formed message that answers that query, with nothing twice. */
import { expandName, FLAG, HEADER_BYTES, nameText, QueryReader, TYPE } from '@dinodns-bench/wire';
import { ensure } from './engine/target.ts';

export interface ReplyRecord {
  /** In lower case, as text. */
  readonly owner: string;
  readonly type: number;
  /** Expanded and in lower case where it is a name, else as it is. */
  readonly data: string;
}

export interface CheckedReply {
  readonly truncated: boolean;
  readonly answers: readonly ReplyRecord[];
  readonly authorities: readonly ReplyRecord[];
  readonly additionals: readonly ReplyRecord[];
}

/** Where compressed names are in the data of a type: bytes before them, and how many (RFC 1035; RFC 3597, section 4). */
const NAMES: ReadonlyMap<number, readonly [before: number, names: number]> = new Map([
  [TYPE.NS, [0, 1]],
  [TYPE.CNAME, [0, 1]],
  [TYPE.SOA, [0, 2]],
  [TYPE.PTR, [0, 1]],
  [TYPE.MX, [2, 1]],
]);

/** A name whose pointers all point back; its text in lower case. */
function nameAt(reply: Buffer, at: number): { text: string; end: number } {
  const { name, end } = expandName(reply, at);
  return { text: nameText(name).toLowerCase(), end };
}

function recordAt(reply: Buffer, start: number): { record: ReplyRecord; end: number } {
  const owner = nameAt(reply, start);
  ensure(owner.end + 10 <= reply.length, `the record at ${start} is cut off`);
  const type = reply.readUInt16BE(owner.end);
  const from = owner.end + 10;
  const end = from + reply.readUInt16BE(owner.end + 8);
  ensure(end <= reply.length, `the data of the record at ${start} is cut off`);
  const [before, names] = NAMES.get(type) ?? [0, 0];
  const parts = [reply.toString('hex', from, from + before)];
  let at = from + before;
  for (let count = 0; count < names; count++) {
    const name = nameAt(reply, at);
    parts.push(name.text);
    at = name.end;
  }
  ensure(at <= end, `the names in the record at ${start} leave its data`);
  parts.push(reply.toString('hex', at, end));
  return { record: { owner: owner.text, type, data: parts.join(' ') }, end };
}

/**
 * Throws unless the reply is well formed to its last byte, answers the query, and has no record twice in a section (RFC 2181,
 * section 5), an OPT record if and only if the query has one, and no more than `limit` bytes.
 */
export function checkReply(reply: Buffer, query: Buffer, limit: number): CheckedReply {
  ensure(reply.length >= HEADER_BYTES, `a reply of ${reply.length} bytes`);
  ensure(reply.length <= limit, `a reply of ${reply.length} bytes where ${limit} are allowed`);
  const reader = new QueryReader();
  reader.read(query, 0, query.length);
  ensure(reply.readUInt16BE(0) === query.readUInt16BE(0), 'the ID is another');
  const flags = reply.readUInt16BE(2);
  ensure((flags & FLAG.response) !== 0, 'the reply is no response');
  const questions = reply.readUInt16BE(4);
  const questionEnd = questions === 0 ? HEADER_BYTES : reader.questionEnd;
  ensure(questions <= 1, `${questions} questions`);
  const question = query.subarray(HEADER_BYTES, questionEnd);
  ensure(reply.subarray(HEADER_BYTES, questionEnd).equals(question), 'the question is another');
  let at = questionEnd;
  const section = (count: number) => {
    const seen = new Set<string>();
    return Array.from({ length: count }, () => {
      const { record, end } = recordAt(reply, at);
      const text = `${record.owner} ${record.type} ${record.data}`;
      ensure(!seen.has(text), () => `a record is there twice: ${text}`);
      seen.add(text);
      at = end;
      return record;
    });
  };
  const answers = section(reply.readUInt16BE(6));
  const authorities = section(reply.readUInt16BE(8));
  const additionals = section(reply.readUInt16BE(10));
  ensure(at === reply.length, `${reply.length - at} bytes after the last record`);
  const opts = additionals.filter(({ type }) => type === TYPE.OPT).length;
  ensure(opts === (reader.hasEdns ? 1 : 0), `${opts} OPT records`);
  const truncated = (flags & FLAG.truncated) !== 0;
  ensure(!truncated || answers.length === 0, 'a truncated reply has a part of the answer');
  return { truncated, answers, authorities, additionals };
}
