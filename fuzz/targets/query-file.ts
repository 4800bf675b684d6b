/** The reader of query files in dnsperf's format. */
import { LoadError, parseQueryFile } from '@dinodns-bench/load';
import { findNameEnd, nameText, typeName } from '@dinodns-bench/wire';
import { ensure, type Target } from '../engine/target.ts';

interface Query {
  readonly name: Uint8Array;
  readonly type: number;
}

function read(text: Uint8Array): Query[] | LoadError {
  const queries: Query[] = [];
  try {
    const count = parseQueryFile('queries.txt', text, (name, type) => queries.push({ name, type }));
    ensure(count === queries.length && count > 0, `${count} queries, ${queries.length} of them reported`);
    return queries;
  } catch (error) {
    if (error instanceof LoadError) return error;
    throw error;
  }
}

function checkError({ code, problems }: LoadError, text: Buffer): void {
  ensure(code === 'E_QUERY_FILE', `the code ${code}`);
  ensure(problems.length <= 10, `${problems.length} problems`);
  const lines = text.toString('latin1').split('\n').length;
  for (const { problem, fix } of problems) {
    const line = Number(/^queries\.txt, line (\d+): /.exec(problem)?.[1] ?? 1);
    ensure(line >= 1 && line <= lines, `line ${line} of ${lines}`);
    ensure(fix !== '', 'a problem without a fix');
  }
}

export const queryFile: Target = {
  name: 'query-file',
  title: 'the reader of query files (load)',
  maxBytes: 1000,
  dictionary: [
    ' A\n',
    ' AAAA\n',
    ' TYPE65\n',
    ' TYPE+5\n',
    ';',
    '#',
    '\\.',
    '\\000',
    '\\255',
    '\\256',
    '\t',
    '\r\n',
    '.',
  ],
  seeds: () =>
    [
      'example1.com A\nexample2.com A\n',
      '; comment\n\n. NS\na\\.b.test\tTXT  ignored\n',
      'x TYPE65535',
      'caf\u00e9.test A\r\n',
    ].map((text) => Buffer.from(text)),
  check(text) {
    const queries = read(text);
    if (queries instanceof LoadError) {
      checkError(queries, text);
      return;
    }
    for (const { name, type } of queries) {
      ensure(findNameEnd(name, 0) === name.length, 'a name that is not one');
      ensure(type >= 0 && type <= 65_535, `type ${type}`);
    }
    const printed = queries.map(({ name, type }) => `${nameText(name)} ${typeName(type)}\n`).join('');
    const again = read(Buffer.from(printed));
    ensure(!(again instanceof LoadError), () => `what is printed is not read: ${printed}`);
    ensure(again.length === queries.length, 'another number of queries is read back');
    for (const [index, { name, type }] of again.entries()) {
      const query = queries[index];
      ensure(query !== undefined && query.type === type, 'a type is read back otherwise');
      ensure(Buffer.compare(name, query.name) === 0, 'a name is read back otherwise');
    }
  },
};
