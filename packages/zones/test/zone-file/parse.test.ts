import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATA_TYPES, typeNumber } from '@dinodns-bench/wire';
import { afterAll, describe, expect, it } from 'vitest';
import {
  dataText,
  originFromText,
  type ParseOptions,
  parseZoneFile,
  readZoneFile,
  ZoneFileError,
  type ZoneFileProblem,
  zoneFileName,
} from '../../src/index.ts';
import { canonicalText } from './canonical.ts';

const fixtures = new URL('fixtures/', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'zone-file-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HEAD = '$ORIGIN example.\n$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns.other.\n';

/** Records as short text, without those of `HEAD`. */
function texts(text: string, options?: ParseOptions): string[] {
  return Array.from(
    parseZoneFile(HEAD + text, options),
    (record) => `${zoneFileName(record.name)} ${record.ttl} ${dataText(record.type, record.data)}`,
  ).slice(2);
}

function problemsOf(text: string | Iterable<Uint8Array>, options?: ParseOptions): readonly ZoneFileProblem[] {
  try {
    for (const _record of parseZoneFile(text, options));
  } catch (error) {
    if (error instanceof ZoneFileError) return error.problems;
    throw error;
  }
  return [];
}

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

describe('parseZoneFile', () => {
  it('gives records with wire data, file and line', () => {
    const [record] = parseZoneFile('\n\nwww 300 IN MX 10 mail', { file: 'f.zone', origin: 'example.' });
    expect(record).toEqual({
      name: Buffer.from('\x03www\x07example\x00'),
      type: 15,
      ttl: 300,
      data: Buffer.from('\x00\x0a\x04mail\x07example\x00'),
      file: 'f.zone',
      line: 3,
    });
  });

  it('gives the same records whatever chunks the text comes in', () => {
    const text = readFileSync(join(fixtures, 'all-types.zone'));
    const whole = [...parseZoneFile(text, { origin: 'example.' })];
    for (const size of [1, 7, 100, 4096]) {
      function* chunks() {
        for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size);
      }
      expect([...parseZoneFile(chunks(), { origin: 'example.' })]).toEqual(whole);
    }
  });

  it('has an example of every type in the fixtures, and reads what it prints', () => {
    const records = ['all-types.zone', 'newer-types.zone'].flatMap((name) => [
      ...readZoneFile(join(fixtures, name), { origin: 'example.' }),
    ]);
    const types = new Set(records.map(({ type }) => type));
    const obsolete = new Set(['MD', 'MF']);
    expect(DATA_TYPES.filter((name) => !obsolete.has(name) && !types.has(typeNumber(name) ?? 0))).toEqual([]);
    const text = [...canonicalText(records)].join('');
    expect([...canonicalText(parseZoneFile(text))].join('')).toBe(text);
  });

  it('takes a missing TTL from the minimum of the SOA record', () => {
    const records = [...parseZoneFile('@ SOA a b 1 2 3 4 77\nx A 192.0.2.1\n', { origin: 'z.' })];
    expect(records.map(({ ttl }) => ttl)).toEqual([77, 77]);
  });

  it('completes names with the origin, and keeps their case', () => {
    expect(texts('A.b NS C\n@ NS @\n$ORIGIN d\nx NS y.\n')).toEqual([
      'A.b.example. 60 C.example.',
      'example. 60 example.',
      'x.d.example. 60 y.',
    ]);
  });

  it('reads the files that $INCLUDE names, relative to the including file', () => {
    const path = write('outer.zone', `${HEAD}$INCLUDE inner.txt sub\nb A 192.0.2.2\n`);
    write('inner.txt', 'a A 192.0.2.1\n');
    const records = [...readZoneFile(path)].slice(2);
    expect(records.map(({ name, file, line }) => [zoneFileName(name), file, line])).toEqual([
      ['a.sub.example.', join(directory, 'inner.txt'), 1],
      ['b.example.', path, 6],
    ]);
  });

  it('ignores what a zone file may hold but a zone does not', () => {
    expect(texts(' \n;\n\t ; x\n$DATE 20260101000000\n( ; y\n )\n')).toEqual([]);
  });
});

describe('problems of zone files', () => {
  it.each([
    ['x A 1.2.3', '1:5', '"1.2.3" is not an IPv4 address', 'write four numbers'],
    ['x A ::1', '1:5', '"::1" is not an IPv4 address', 'use type AAAA'],
    ['x A', '1:4', 'the record ends where an IPv4 address should follow', 'add an IPv4 address'],
    ['x A 192.0.2.1 2', '1:15', 'there is text after the end of the A record: "2"', 'put a ; before'],
    ['x AAA ::1', '1:3', '"AAA" is not a record type', 'such as AAAA'],
    ['x MX ( 10\n  "mail" )', '2:3', 'a name is in quotes', 'remove the quotes'],
    ['x MX (\n70000\nmail )', '2:1', '"70000" is not a whole number from 0 to 65535', 'decimal'],
    ['x TXT "a\nb"', '1:7', 'the quoted text does not end on its line', 'close the text'],
    ['x TXT ( a\nb\n', '1:7', 'the "(" is not closed', 'close it'],
    ['x TXT a )', '1:9', 'there is a ")" without a "("', 'remove it'],
    ['x\u0000 A 1.1.1.1', '1:2', 'there is a null byte', 'give a text file'],
    ['a..b A 1.1.1.1', '1:1', 'the name "a..b" has an empty label', 'single dots'],
    ['x NS a\\300', '1:6', '"\\300" is not a byte', '\\000 to \\255'],
    ['x CH TXT a', '1:3', 'the class is CH, but that of the zone is IN', 'omit the class'],
    ['x ANY', '1:3', 'the class is ANY', 'omit'],
    ['x OPT a', '1:3', 'OPT is a type for queries', 'remove the record'],
    ['x MD a', '1:3', 'the type MD is obsolete', 'MX record'],
    ['x TYPE65280 a', '1:3', 'TYPE65280 has no text form', '\\# LENGTH HEX'],
    ['x TYPE65280 \\# 2 00', '1:18', 'the length of the data is 1, not 2', 'write \\# 1'],
    ['x NS \\# 2 0001', '1:11', 'the data is not valid for type NS', 'text form of NS'],
    ['x 99999999999 A 1.1.1.1', '1:3', 'the TTL 99999999999 is too large', '2147483647'],
    ['$TTL x', '1:6', '"x" is not a TTL', '1h30m'],
    ['$ORIGIN', '1:8', 'the record ends where the origin should follow', 'add the origin'],
    ['$NOTHING', '1:1', 'there is no directive $NOTHING', '$INCLUDE'],
    ['$INCLUDE x', '1:10', '$INCLUDE is not allowed here', 'one file'],
    ['$GENERATE 2-1 a$ A 1.1.1.1', '1:11', '"2-1" is not a range', 'START-STOP'],
    ['$GENERATE 1-2 $\u007bx} A 1.1.1.1', '1:15', '"$\u007bx}" is not a modifier', 'OFFSET'],
    ['$GENERATE 1-2 a$ A 1.1.$', '1:20', '"1.1.1" is not an IPv4 address, in "1.1.1"', 'four numbers'],
    ['$GENERATE 0-2000000 a$ A 1.1.1.1', '1:11', 'more than 1000000 records', 'fewer'],
    ['x DS 1 8 2 00', '1:12', 'a digest of type 2 has 32 bytes, not 1', '64 hexadecimal digits'],
    ['x SVCB 1 . port=1 port=2', '1:19', 'the key port is given twice', 'once'],
    // These are words of every JavaScript object.
    ['x SVCB 1 . constructor=1', '1:12', '"constructor" is not a key', 'keyNNNNN'],
    ['x WKS 1.1.1.1 constructor 25', '1:15', '"constructor" is not a protocol', 'tcp'],
    ['x WKS 1.1.1.1 tcp constructor', '1:19', '"constructor" is not a known service', 'the port'],
    [`x TXT "${'a'.repeat(256)}"`, '1:7', 'a string has 256 bytes', 'split it'],
  ])('%j is a problem at %s', (text, place, problem, fix) => {
    const [found, ...others] = problemsOf(`$TTL 60\n${text}\n`, { file: 'f', origin: 'z.' });
    expect(others).toEqual([]);
    const [line, column] = place.split(':').map(Number);
    expect(found).toMatchObject({ file: 'f', line: (line ?? 0) + 1, column });
    expect(found?.problem).toContain(`f:${(line ?? 0) + 1}:${column}: `);
    expect(found?.problem).toContain(problem);
    expect(found?.fix).toContain(fix);
  });

  it('are records that fit into no DNS message', () => {
    const record = (bytes: number) => `x TYPE65280 \\# ${bytes} ${'ab'.repeat(bytes)}\n`;
    expect(texts(record(65_213))).toHaveLength(1);
    const [found] = problemsOf(HEAD + record(65_214));
    expect(found).toMatchObject({ line: 5 });
    expect(found?.problem).toContain('more than 65213 bytes, which fit into no DNS message');
  });

  it('are all shown at once, 20 at most', () => {
    expect(problemsOf(`${HEAD}a A x\nb A 192.0.2.1\nc A y\n`).map(({ line }) => line)).toEqual([5, 7]);
    expect(problemsOf('x\n'.repeat(1000))).toHaveLength(20);
  });

  it('are those of the included file where it has them', () => {
    const path = write('outer.zone', `${HEAD}$INCLUDE broken.txt\n$INCLUDE missing.txt\n`);
    write('broken.txt', '\nx A y\n');
    expect(() => [...readZoneFile(path)]).toThrow(`${join(directory, 'broken.txt')}:2:5: "y" is not an IPv4`);
    expect(() => [...readZoneFile(path)]).toThrow(
      `${path}:6:10: cannot read ${join(directory, 'missing.txt')}`,
    );
  });

  it('stop a file that includes itself', () => {
    const path = write('loop.zone', `${HEAD}$INCLUDE loop.zone\n`);
    expect(() => [...readZoneFile(path)]).toThrow('$INCLUDE is nested more than 16 files deep');
    const twice = write('twice.zone', '$TTL 1\n$INCLUDE twice.zone\n$INCLUDE twice.zone\n');
    expect(() => [...readZoneFile(twice)]).toThrow('$INCLUDE is nested more than 16 files deep');
  });

  it('name a file that cannot be read', () => {
    expect(() => [...readZoneFile(directory)]).toThrow('it is not a regular file');
    expect(() => [...readZoneFile('/dev/zero')]).toThrow('it is not a regular file');
    expect(() => [...readZoneFile(join(directory, 'none'))]).toThrow('none does not exist');
  });

  it('do not wait for somebody to write to a named pipe', () => {
    // In a process of its own: one that waits for somebody to write would wait for ever.
    const pipe = join(directory, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    const source = JSON.stringify(import.meta.resolve('../../src/zone-file/read-file.ts'));
    const read = `import { readZoneFile } from ${source}; [...readZoneFile(${JSON.stringify(pipe)})];`;
    const options = ['--conditions=@dinodns-bench/source', '--input-type=module', '--eval', read];
    const { stderr } = spawnSync(process.execPath, options, { encoding: 'utf8', timeout: 50_000 });
    expect(stderr).toContain('it is not a regular file');
  });

  it('leave no file open, whether all records are read or one', () => {
    const count = () => readdirSync('/proc/self/fd').length;
    const before = count();
    const path = write('outer.zone', `${HEAD}$INCLUDE inner.txt\n`);
    write('inner.txt', 'a A 192.0.2.1\nb A 192.0.2.1\n');
    for (let round = 0; round < 10; round++) {
      for (const { line, file } of readZoneFile(path)) if (file.endsWith('inner.txt') && line === 1) break;
      for (const _record of readZoneFile(path));
      expect(() => [...readZoneFile(write('bad.zone', 'x\n'))]).toThrow();
    }
    expect(count()).toBe(before);
  });

  it('report an origin that is not a name', () => {
    expect(() => originFromText('a..b')).toThrow('the name "a..b" has an empty label');
    expect(() => parseZoneFile('', { origin: 'a..b' })).toThrow('the name "a..b" has an empty label');
  });
});

describe('memory', () => {
  /** Endless chunks, counted. */
  function* endless(text: string, counter: { bytes: number }) {
    const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
    for (;;) {
      counter.bytes += chunk.length;
      yield chunk;
    }
  }

  it.each([
    ['a parenthesis that is never closed', '( a ', 'is not closed'],
    ['a line that never ends', 'aaaaaaaa', 'a line has more than'],
    ['blanks that never end', '        ', 'a line has more than'],
  ])('of %s is bounded', (_what, text, problem) => {
    const counter = { bytes: 0 };
    expect(problemsOf(endless(text, counter))[0]?.problem).toMatch(
      problem === 'is not closed' ? /words|closed/ : problem,
    );
    expect(counter.bytes).toBeLessThan(2 * 1024 * 1024);
  });

  it('of a comment of any length is that of a chunk', () => {
    function* comment() {
      yield Buffer.from(`${HEAD};`);
      for (let chunk = 0; chunk < 200; chunk++) yield Buffer.alloc(65_536, 'c');
      yield Buffer.from('\nx A 192.0.2.1\n');
    }
    expect([...parseZoneFile(comment())]).toHaveLength(3);
  });
});
