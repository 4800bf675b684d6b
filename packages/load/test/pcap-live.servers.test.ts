/** tcpdump captures of dnsperf's queries. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needs } from '@dinodns-bench/test-support';
import { afterAll, describe, expect, test } from 'vitest';
import { loadCapture } from '../src/pcap/capture.ts';
import { readCapture } from '../src/pcap/read-capture.ts';
import { collect } from './support/collect.ts';
import { nameAt, plan } from './support/plans.ts';
import { startRecordingServer } from './support/recording-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'dnscannon-pcap-'));
afterAll(() => rm(directory, { recursive: true }));

/** Captures while `action` runs. */
async function capturing(flags: readonly string[], path: string, action: () => Promise<void>): Promise<void> {
  const tcpdump = spawn('tcpdump', ['-U', '-w', path, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    let said = '';
    await new Promise<void>((resolve, reject) => {
      tcpdump.stderr.on('data', (chunk) => {
        said += chunk;
        if (said.includes('listening on')) resolve();
      });
      tcpdump.once('error', reject);
      tcpdump.once('exit', () => reject(new Error(`tcpdump does not capture: ${said}`)));
    });
    await action();
  } finally {
    if (tcpdump.exitCode === null && tcpdump.pid !== undefined) {
      const ended = new Promise((resolve) => tcpdump.once('exit', resolve));
      tcpdump.kill('SIGINT');
      await ended;
    }
  }
}

/** Captures what dnsperf sends to a server of ours. */
async function captureDnsperf(
  flags: readonly string[],
): Promise<{ path: string; names: string[]; port: number }> {
  const server = await startRecordingServer();
  const path = join(directory, 'tcpdump.pcap');
  const filter = `udp and port ${server.port}`;
  try {
    const names = Array.from({ length: 50 }, (_, i) => `name${i}.test`);
    const queries = join(directory, 'queries.txt');
    writeFileSync(queries, names.map((name) => `${name} A\n`).join(''));
    await capturing(['-i', 'lo', ...flags, filter], path, async () => {
      // 500 a second: the capture then spans about a tenth of a second.
      const target = ['-s', '127.0.0.1', '-p', String(server.port)];
      const dnsperf = spawn('dnsperf', [...target, '-d', queries, '-Q', '500']);
      dnsperf.stdout.resume();
      await new Promise((resolve) => dnsperf.once('close', resolve));
      await expect
        .poll(() =>
          loadCapture(path, server.port).then(
            ({ arena }) => arena.count,
            () => 0,
          ),
        )
        .toBe(50);
    });
    return { path, names, port: server.port };
  } finally {
    await server.close();
  }
}

describe('a capture made by tcpdump', needs('tcpdump', 'dnsperf', 'root'), () => {
  test.each([[[]], [['--time-stamp-precision=nano']]])('with %j', async (flags) => {
    const captured = await captureDnsperf(flags);
    const made = await plan({ kind: 'pcap', path: captured.path, port: captured.port });
    expect(Array.from({ length: 50 }, (_, i) => nameAt(made, i))).toEqual(captured.names);
    expect(made.description).not.toContain('malformed');
    const due = Array.from(made.dueSeconds ?? []);
    expect(due).toEqual([...due].sort((a, b) => a - b));
    // 50 queries at 500 a second take 98 ms; if a busy machine let the first of them go late, the others catch up.
    expect(due.at(-1)).toBeGreaterThan(0.01);
    expect(due.at(-1)).toBeLessThan(20);
  });
});

describe('dig over both transports and address families', needs('tcpdump', 'dig', 'root'), () => {
  test.each(['LINUX_SLL', 'LINUX_SLL2'])('on all interfaces, with %s headers', async (linkType) => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume());
    server.listen(0, '::');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const port = String(address.port);
    const path = join(directory, `${linkType}.pcap`);
    const asked = [
      ['@127.0.0.1', '+notcp', '+dnssec', 'one.test', 'AAAA'],
      ['@::1', '+notcp', '+noedns', 'two.test', 'MX'],
      ['@127.0.0.1', '+tcp', '+nordflag', 'three.test', 'HTTPS'],
      ['@::1', '+tcp', '+bufsize=4096', 'four.test', 'TXT', 'CH'],
    ];
    // Nobody answers over UDP: an ICMP error is the answer. Over TCP, dig gives up after a second.
    const dig = (args: readonly string[]) =>
      promisify(execFile)('dig', ['-p', port, '+tries=1', '+time=1', ...args]);
    const read = () => collect(readCapture(path, { port: address.port })).catch(() => []);
    // Only what comes in: loopback shows every packet twice.
    const flags = ['-i', 'any', '-Q', 'in', '-y', linkType, `dst port ${port}`];
    await capturing(flags, path, async () => {
      for (const args of asked) await dig(args).catch(() => undefined);
      await expect.poll(async () => (await read()).length).toBeGreaterThanOrEqual(4);
    }).finally(() => server.close());
    const queries = await read();
    const [first] = queries;
    expect(new Map(queries.map((query) => [query.name, query]))).toEqual(
      new Map(
        [
          ['one.test', 'AAAA', 'IN', 'udp', '127.0.0.1', { udpBytes: 1232, dnssecOk: true }],
          ['two.test', 'MX', 'IN', 'udp', '::1', null],
          ['three.test', 'HTTPS', 'IN', 'tcp', '127.0.0.1', { udpBytes: 1232, dnssecOk: false }],
          ['four.test', 'TXT', 'CH', 'tcp', '::1', { udpBytes: 4096, dnssecOk: false }],
        ].map(([name, type, classText, transport, from, edns]) => [
          name,
          expect.objectContaining({
            type,
            class: classText,
            transport,
            client: { address: from, port: expect.any(Number) },
            edns,
          }),
        ]),
      ),
    );
    expect(
      queries.every(({ flags: word, name }) => ((word & 0x0100) !== 0) === (name !== 'three.test')),
    ).toBe(true);
    expect(Math.abs(Date.now() / 1000 - (first?.seconds ?? 0))).toBeLessThan(120);
  });
});
