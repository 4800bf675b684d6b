/** The reader of zone files, and the text that it must read back as the same records. */
import { readFileSync } from 'node:fs';
import { DATA_TYPES } from '@dinodns-bench/wire';
import { parseZoneFile, ZoneFileError, type ZoneRecord } from '@dinodns-bench/zones';
import { canonicalText, recordText } from '../../packages/zones/test/zone-file/canonical.ts';
import { ensure, type Target } from '../engine/target.ts';

/** Enough of a `$GENERATE` directive, which may stand for a million records. */
const MAX_RECORDS = 300;

const FIXTURES = new URL('../../packages/zones/test/zone-file/fixtures/', import.meta.url);
const FILES = ['all-types.zone', 'syntax.zone', 'newer-types.zone'];

/** The records before the first problem that ends the file, and the problems. */
function read(text: Uint8Array, origin: string): { records: ZoneRecord[]; error: ZoneFileError | undefined } {
  const records: ZoneRecord[] = [];
  try {
    for (const record of parseZoneFile(text, { origin })) {
      records.push(record);
      if (records.length === MAX_RECORDS) break;
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error;
    return { records, error };
  }
  return { records, error: undefined };
}

function checkPlaces(error: ZoneFileError, text: Buffer): void {
  const lines = text.toString('latin1').split(/\r\n|\r|\n/);
  ensure(error.problems.length > 0 && error.problems.length <= 20, `${error.problems.length} problems`);
  for (const { problem, fix, line, column } of error.problems) {
    ensure(line >= 1 && line <= lines.length, `line ${line} of ${lines.length}`);
    ensure(column >= 1, `column ${column}`);
    ensure(problem !== '' && fix !== '', 'a problem without words');
  }
}

function same(one: ZoneRecord, other: ZoneRecord): boolean {
  return (
    one.type === other.type &&
    one.ttl === other.ttl &&
    Buffer.compare(one.name, other.name) === 0 &&
    Buffer.compare(one.data, other.data) === 0
  );
}

/** Each record, as one line of a zone file. */
function checkPrinted(records: readonly ZoneRecord[]): void {
  const lines = records.map((record) => recordText(record, record.data));
  const again = read(Buffer.from(lines.join('\n'), 'latin1'), '.');
  ensure(
    again.error === undefined,
    () => `what is printed is not read: ${again.error?.message} in ${lines.join('\n')}`,
  );
  ensure(
    again.records.length === records.length,
    () => `${again.records.length} records from ${lines.join('\n')}`,
  );
  for (const [index, record] of records.entries()) {
    const copy = again.records[index];
    ensure(copy !== undefined && same(record, copy), () => `read otherwise: ${lines[index]}`);
  }
}

/** The same text in chunks of seven bytes. */
function* inChunks(text: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < text.length; at += 7) yield text.subarray(at, at + 7);
}

function checkChunks(text: Buffer, whole: readonly ZoneRecord[]): void {
  let count = 0;
  try {
    for (const record of parseZoneFile(inChunks(text), { origin: 'example.' })) {
      const expected = whole[count++];
      ensure(expected !== undefined && same(record, expected), 'the chunks decide about the records');
      if (count === MAX_RECORDS) break;
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error;
  }
  ensure(count === whole.length, 'the chunks decide how many records there are');
}

function seeds(): Buffer[] {
  const files = FILES.map((name) => readFileSync(new URL(name, FIXTURES)));
  const pieces = files.flatMap((file) => {
    const lines = file.toString('latin1').split('\n');
    const starts = Array.from({ length: Math.ceil(lines.length / 4) }, (_, index) => index * 4);
    return starts.map((from) =>
      Buffer.from(`$TTL 60\n@ SOA a b 1 2 3 4 5\n${lines.slice(from, from + 4).join('\n')}\n`, 'latin1'),
    );
  });
  return [
    ...pieces,
    readFileSync(new URL('../seeds/generate.zone', import.meta.url)),
    Buffer.from('@ 60 IN TYPE65280 \\# 4 ( 01 02\n 0304 ) ; comment\n'),
  ];
}

export const zoneFile: Target = {
  name: 'zone-file',
  title: 'the reader of zone files, and canonical text (zones)',
  maxBytes: 2000,
  dictionary: [
    ...DATA_TYPES.map((name) => ` ${name} `),
    '\n',
    ' (',
    ' )',
    '"',
    '\\',
    '\\# ',
    '\\000',
    '\\255',
    ';',
    '$ORIGIN ',
    '$TTL ',
    '$INCLUDE ',
    '$GENERATE 1-3 ',
    ' IN ',
    ' CH ',
    ' CLASS1 ',
    ' TYPE65280 \\# 1 00',
    '@',
    '$',
    '.',
    '{0,3,d}',
    '{-1,4,n}',
    ' 1h ',
    ' 2147483647 ',
    '\r\n',
    'alpn=',
    'key65535=',
    '20261122000000',
    '1:192.0.2.0/24',
    '2001:db8::',
    '192.0.2.1',
  ],
  seeds,
  check(text) {
    const { records, error } = read(text, 'example.');
    if (error !== undefined) checkPlaces(error, text);
    checkChunks(text, records);
    checkPrinted(records);
    const printed = [...canonicalText(records)].join('');
    const again = read(Buffer.from(printed, 'latin1'), '.');
    ensure(again.error === undefined, () => `canonical text is not read: ${again.error?.message}`);
    ensure([...canonicalText(again.records)].join('') === printed, 'canonical text is read otherwise');
  },
};
