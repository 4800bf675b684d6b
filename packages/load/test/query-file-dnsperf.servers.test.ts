/** The reader of query files against dnsperf itself: the same queries, byte by byte, and the same lines refused. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LoadError } from '../src/errors.ts';
import { parseQueryFile } from '../src/workload/query-file.ts';
import { messageAt, plan } from './support/plans.ts';
import { type RecordingServer, startRecordingServer } from './support/recording-server.ts';

let server: RecordingServer;
const directory = mkdtempSync(join(tmpdir(), 'dnscannon-query-file-'));
beforeAll(async () => {
  server = await startRecordingServer();
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

function fileOf(content: string | Uint8Array): string {
  const path = join(directory, 'queries.txt');
  writeFileSync(path, content);
  return path;
}

/** What dnsperf sends for a file, without ids, in order; and the warnings it prints. */
async function dnsperf(path: string, ...flags: string[]): Promise<{ sent: string[]; warnings: string[] }> {
  server.queries.length = 0;
  const child = spawn('dnsperf', [
    ...['-s', '127.0.0.1', '-p', String(server.port), '-d', path],
    ...['-n', '1', '-q', '100', '-t', '5', '-W', ...flags],
  ]);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const warnings = output.split('\n').filter((line) => /^(Warning|Error):/.test(line));
  return { sent: server.queries.map((query) => query.toString('hex')), warnings };
}

async function ours(path: string, message = {}): Promise<string[]> {
  const made = await plan({ kind: 'file', path }, message);
  return Array.from({ length: made.arena.count }, (_, i) => messageAt(made, i).subarray(2).toString('hex'));
}

function countOf(content: string | Uint8Array): number {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return parseQueryFile('FILE', bytes, () => undefined);
}

const LABEL_63 = 'x'.repeat(63);
const NAME_255 = `${`${'y'.repeat(63)}.`.repeat(3)}${'y'.repeat(61)}`;

const ACCEPTED = [
  ...['example.com A', 'example.com. A', 'MiXed.Example.COM aaaa', '. NS', 'tab.com\tA', 'blanks.com \t  A'],
  ...['trailing.com A ', 'more.com A is ignored', 'comment.com A ; also', 'hash.com A # also', '#hash A'],
  ...['a\\.b.com A', 'a\\\\b.com A', 'a\\;b.com A', 'a\\"b.com A', '*.wild.com A', '_dns._udp.x.com SRV'],
  ...['"quoted.com" A', 'a@b.com A', 'a$b(c)d.com A', '@ A', '-x.com A', 'ünïcode.com A', '\\[x.com A'],
  ...['t.com TYPE1', 't.com type65', 't.com TYPE0', 't.com TYPE65535', 't.com TYPE01', 't.com TYPE+5'],
  ...[`${LABEL_63}.com A`, `${NAME_255} A`, `${NAME_255}. A`],
  ...[
    'NS',
    'CNAME',
    'SOA',
    'NULL',
    'PTR',
    'HINFO',
    'MX',
    'TXT',
    'AFSDB',
    'NSAP-PTR',
    'LOC',
    'SRV',
    'NAPTR',
  ].map((type) => `t.com ${type}`),
  ...[
    'A6',
    'DNAME',
    'OPT',
    'APL',
    'DS',
    'SSHFP',
    'RRSIG',
    'NSEC',
    'DNSKEY',
    'NSEC3',
    'NSEC3PARAM',
    'TLSA',
  ].map((type) => `t.com ${type}`),
  ...['HIP', 'TALINK', 'CDS', 'CSYNC', 'ZONEMD', 'SVCB', 'HTTPS', 'SPF', 'UNSPEC', 'NID', 'L64', 'EUI48'].map(
    (type) => `t.com ${type}`,
  ),
  ...['TKEY', 'TSIG', 'IXFR', 'AXFR', 'MAILB', 'MAILA', 'ANY', 'URI', 'CAA', 'AVC', 'AMTRELAY', 'DLV'].map(
    (type) => `t.com ${type}`,
  ),
];

describe('against dnsperf', needs('dnsperf'), () => {
  test('the same queries are sent, byte by byte', async () => {
    const lines = ['; a comment', '', ';another A', ...ACCEPTED, '', ';the end'];
    const path = fileOf(`${lines.join('\n')}\nlast.line.without.newline A`);
    const { sent, warnings } = await dnsperf(path);
    expect(warnings).toEqual([]);
    expect(sent).toHaveLength(ACCEPTED.length + 1);
    expect(await ours(path)).toEqual(sent);
  });

  test.each([
    { flags: ['-e'], message: { ednsSize: 4096 } },
    { flags: ['-D'], message: { ednsSize: 4096, dnssec: true } },
    {
      flags: ['-E', '10:0011223344556677'],
      message: { ednsSize: 4096, cookie: '0011223344556677' },
    },
    { flags: ['-E', '65001:abcd'], message: { ednsSize: 4096, options: ['65001:abcd'] } },
  ])('EDNS as with $flags', async ({ flags, message }) => {
    const path = fileOf('example.com A\n');
    const { sent } = await dnsperf(path, ...flags);
    expect(await ours(path, message)).toEqual(sent);
  });

  const REFUSED = [
    ...[
      'noname',
      'no.type ',
      '  blank.first A',
      '\ttab.first A',
      'carriage.return A\r',
      'no.type\rA',
      'vt.com\vA',
    ],
    ...[
      't.com BOGUS',
      't.com 1',
      't.com *',
      't.com TYPE',
      't.com TYPE65536',
      't.com TYPE99999999',
      't.com TYPE1x',
    ],
    ...['t.com TYPE-1', 't.com TYPE 1', 't.com IN A', 't.com A;comment', 't.com \\065', '# no comment'],
    ...[
      '.. A',
      'a..b A',
      '.a A',
      'a.. A',
      'a\\',
      'a\\ A',
      'a\\ b.com A',
      'a\\1.com A',
      'a\\12x.com A',
      'a\\06 A',
    ],
    ...[`${LABEL_63}x.com A`],
  ];

  test('the same lines are refused', async () => {
    for (const line of REFUSED) {
      const refuses = () => countOf(`${line}\n`);
      expect(refuses, JSON.stringify(line)).toThrow(LoadError);
    }
    const { sent, warnings } = await dnsperf(fileOf(REFUSED.map((line) => `${line}\n`).join('')));
    expect(sent).toEqual([]);
    expect(warnings).toHaveLength(REFUSED.length);
  });

  test('escapes by number are decimal, where dnsperf 2.10 takes base 7', async () => {
    const path = fileOf('\\065\\255\\000\\032.com A\n');
    expect((await ours(path))[0]).toContain('0441ff002003636f6d');
    // When a later dnsperf gets this right, this test fails and the note in query-file.ts can go.
    const { sent } = await dnsperf(path);
    expect(sent[0]).toMatch(/04(2f8a0017|41ff0020)03636f6d/);
  });

  test('a file without queries is an error for both', async () => {
    const path = fileOf('; nothing here\n\n');
    expect((await dnsperf(path)).warnings).toEqual(['Error: input file contains no data']);
    await expect(plan({ kind: 'file', path })).rejects.toMatchObject({
      code: 'E_QUERY_FILE',
      message: expect.stringContaining('contains no query'),
    });
  });
});
