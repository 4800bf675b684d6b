/** dnscannon's messages, compared with dig's byte by byte. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { needs } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encoderFor } from '../src/message/encoder.ts';
import { type MessageInput, messageOptionsSchema } from '../src/options.ts';
import { type RecordingServer, startRecordingServer } from './support/recording-server.ts';
import { wireOf } from './support/wire-of.ts';

describe('queries against dig', needs('dig'), () => {
  let server: RecordingServer;
  beforeAll(async () => {
    server = await startRecordingServer();
  });
  afterAll(() => server.close());

  /** What dig sends, without the id. */
  async function dig(...flags: string[]): Promise<Buffer | undefined> {
    server.queries.length = 0;
    const at = ['@127.0.0.1', '-p', String(server.port), '+tries=1', '+time=5', '+noadflag', '+norrcomments'];
    await promisify(execFile)('dig', [...at, ...flags]);
    return server.queries[0];
  }

  test.each<[string[], MessageInput]>([
    [['+noedns'], {}],
    [['+noedns', '+norecurse'], { recursionDesired: false }],
    [['+noedns', '+cdflag', '+adflag'], { checkingDisabled: true, authenticData: true }],
    [['+noedns', '-c', 'CH'], { class: 'CH' }],
    [['+bufsize=1400', '+nocookie'], { ednsSize: 1400 }],
    [['+bufsize=1232', '+nocookie', '+dnssec'], { dnssec: true }],
    [['+bufsize=1232', '+nocookie', '+nsid'], { nsid: true }],
    [['+bufsize=1232', '+nocookie', '+subnet=192.0.2.77/25'], { clientSubnet: '192.0.2.77/25' }],
    [['+bufsize=1232', '+nocookie', '+subnet=192.0.2.77/20'], { clientSubnet: '192.0.2.77/20' }],
    [
      ['+bufsize=1232', '+nocookie', '+subnet=2001:db8:1234:5678::1/52'],
      { clientSubnet: '2001:db8:1234:5678::1/52' },
    ],
    [['+bufsize=1232', '+nocookie', '+subnet=0/0'], { options: ['8:00010000'] }],
    [['+bufsize=1232', '+cookie=0123456789abcdef'], { cookie: '0123456789abcdef' }],
    [
      ['+bufsize=1232', '+dnssec', '+nsid', '+subnet=10.0.0.0/8', '+cookie=0123456789abcdef0123456789abcdef'],
      { dnssec: true, nsid: true, clientSubnet: '10.0.0.0/8', cookie: '0123456789abcdef0123456789abcdef' },
    ],
  ])('%j', async (flags, message) => {
    const sent = await dig('example.com', 'AAAA', ...flags);
    const ours = encoderFor(messageOptionsSchema.parse(message))(wireOf('example.com'), 28);
    expect(Buffer.from(ours.subarray(2)).toString('hex')).toBe(sent?.toString('hex'));
  });
});
