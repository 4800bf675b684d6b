/** The reader of queries, and that of names, against the npm package dns-packet. */
import {
  CLASS,
  className,
  EDNS_OPTION,
  encodeName,
  encodeOpt,
  encodeQuery,
  expandName,
  FLAG,
  GOOD,
  IGNORE,
  nameText,
  QueryReader,
  skipName,
  TYPE,
  typeName,
} from '@dinodns-bench/wire';
import { type DecodedPacket, decode } from 'dns-packet';
import { ensure, type Target } from '../engine/target.ts';
import { bindSeeds } from '../seeds/bind.ts';

/** Bytes around the message, which the reader must not see. */
const MARGIN = 300;
const AT = 7;
/** Offsets at which names are read. */
const NAMES = 32;

interface Reading {
  readonly code: number;
  readonly questionEnd: number;
  readonly labels: string;
  readonly type: number;
  readonly class: number;
  readonly optAt: number;
  readonly udpBytes: number;
  readonly dnssecOk: boolean;
  readonly hasPadding: boolean;
}

function readingOf(reader: QueryReader): Reading {
  const { code, questionEnd, labels, labelCount, type, class: classCode, optAt } = reader;
  return {
    code,
    questionEnd,
    labels: labels.subarray(0, labelCount + 1).join(' '),
    type,
    class: classCode,
    optAt,
    udpBytes: reader.udpBytes,
    dnssecOk: reader.dnssecOk,
    hasPadding: reader.hasPadding,
  };
}

function readAmong(message: Buffer, filler: number): Reading {
  const bytes = Buffer.alloc(AT + message.length + MARGIN, filler);
  bytes.set(message, AT);
  const reader = new QueryReader();
  reader.read(bytes, AT, message.length);
  return readingOf(reader);
}

function reject(): undefined {
  return undefined;
}

function decoded(message: Buffer): DecodedPacket | undefined {
  try {
    return decode(message);
  } catch {
    return reject();
  }
}

function checkName(message: Buffer, at: number): void {
  const end = skipName(message, at);
  ensure(end === -1 || (end > at && end <= message.length), `skipName(${at}) leaves the message: ${end}`);
  try {
    const { name, end: expandedEnd } = expandName(message, at);
    ensure(expandedEnd === end, `expandName(${at}) ends at ${expandedEnd}, skipName at ${end}`);
    ensure(name.length >= 1 && name.length <= 255, `a name of ${name.length} bytes`);
    ensure(encodeName(nameText(name)).equals(name), 'the text of a name does not give the name back');
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

/** The question that both decoders accept must be the same. */
function checkAgainst(other: DecodedPacket, message: Buffer, reading: Reading): void {
  const [question] = other.questions ?? [];
  if (other.questions?.length !== 1 || question === undefined) return;
  const { name } = expandName(message, 12);
  const labels = nameText(name) === '.' ? 0 : reading.labels.split(' ').length - 1;
  ensure(question.name.length <= 4 * name.length && labels <= 127, 'the names have different lengths');
  // dns-packet turns each byte of a label into a character and escapes nothing.
  if (!/[^!-~]|[.\\]/.test(nameText(name).replaceAll('.', ''))) {
    const text = nameText(name);
    ensure(
      question.name === (text === '.' ? '.' : text),
      () => `"${text}" is "${question.name}" to dns-packet`,
    );
  }
  // dns-packet reads the data of some types without regard to its length, so that all later records are others.
  const isFirst = message.readUInt16BE(6) + message.readUInt16BE(8) === 0 && message.readUInt16BE(10) === 1;
  if (!isFirst) return;
  const opt = other.additionals?.find(({ type }) => type === 'OPT');
  if (opt?.type === 'OPT') {
    ensure(reading.optAt !== 0, 'the OPT record is missed');
    ensure(reading.dnssecOk === opt.flag_do, 'DO differs');
  } else if (other.additionals !== undefined) ensure(reading.optAt === 0, 'an OPT record that is not there');
}

function checkQuestion(message: Buffer, reading: Reading): void {
  const { name, end } = expandName(message, 12);
  ensure(end + 4 === reading.questionEnd, 'the question ends elsewhere');
  ensure(message.readUInt16BE(end) === reading.type, 'the type is another');
  ensure(message.readUInt16BE(end + 2) === reading.class, 'the class is another');
  const again = encodeQuery({ name, type: reading.type, class: reading.class });
  const written = readAmong(again, 0);
  ensure(
    written.type === reading.type && written.labels === reading.labels,
    'a query of ours is read otherwise',
  );
}

/** All records that the header counts lie within a good message. */
function checkRecords(message: Buffer, questionEnd: number): void {
  let left = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
  let at = questionEnd;
  for (; left > 0; left--) {
    const body = skipName(message, at);
    ensure(body !== -1 && body + 10 <= message.length, `the record at ${at} is cut off`);
    at = body + 10 + message.readUInt16BE(body + 8);
    ensure(at <= message.length, `the data of the record before ${at} is cut off`);
  }
}

function ownQueries(): Buffer[] {
  const queries = [
    '.',
    'example1.com',
    'a.b.c.d.e.f.example',
    `${'x'.repeat(63)}.test`,
    '\\000\\255\\.a.test',
  ];
  const options = [
    { code: EDNS_OPTION.cookie, data: Buffer.alloc(8, 7) },
    { code: EDNS_OPTION.clientSubnet, data: Buffer.from([0, 1, 24, 0, 192, 0, 2]) },
    { code: EDNS_OPTION.padding, data: Buffer.alloc(5) },
  ];
  const opts = [null, encodeOpt(), encodeOpt({ dnssecOk: true, udpBytes: 512, options })];
  return queries.flatMap((name, at) =>
    opts.map((opt) =>
      encodeQuery({
        id: 0x1234,
        flags: FLAG.recursionDesired,
        name: encodeName(name),
        type: at % 2 === 0 ? TYPE.A : TYPE.HTTPS,
        class: at === 3 ? CLASS.CH : CLASS.IN,
        opt,
      }),
    ),
  );
}

export const query: Target = {
  name: 'query',
  title: 'the reader of queries (wire)',
  maxBytes: 1500,
  dictionary: [
    '\x00\x00\x29',
    '\xc0\x0c',
    '\x00\x01\x00\x01',
    '\x04\xd0\x00\x00\x80\x00',
    '\x3f',
    '\x00\x0a\x00\x08',
  ],
  seeds: () => [...ownQueries(), ...bindSeeds()],
  check(message) {
    const reading = readAmong(message, 0x00);
    const twice = readAmong(message, 0xc0);
    ensure(JSON.stringify(reading) === JSON.stringify(twice), 'bytes outside of the message decide');
    for (let at = 0; at < Math.min(message.length, NAMES); at++) checkName(message, at);
    ensure(
      reading.code !== IGNORE || message.length < 12 || (message.readUInt16BE(2) & FLAG.response) !== 0,
      () => `a query is ignored`,
    );
    if (reading.code !== GOOD) return;
    ensure(
      typeName(reading.type) !== '' && className(reading.class) !== '',
      'a type or a class without a name',
    );
    checkQuestion(message, reading);
    checkRecords(message, reading.questionEnd);
    const other = decoded(message);
    if (other !== undefined) checkAgainst(other, message, reading);
  },
};
