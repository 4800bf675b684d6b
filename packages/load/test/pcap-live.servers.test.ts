/** tcpdump captures of dnsperf's queries. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { afterAll, describe, expect, test } from 'vitest';
import { readCapture } from '../src/pcap/capture.ts';
import { nameAt, plan } from './support/plans.ts';
import { startRecordingServer } from './support/recording-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'dnscannon-pcap-'));
afterAll(() => rm(directory, { recursive: true }));

/** Captures what dnsperf sends to a server of ours. */
async function captureDnsperf(
  flags: readonly string[],
): Promise<{ path: string; names: string[]; port: number }> {
  const server = await startRecordingServer();
  const path = join(directory, 'tcpdump.pcap');
  const filter = `udp and port ${server.port}`;
  const tcpdump = spawn('tcpdump', ['-i', 'lo', '-U', '-w', path, ...flags, filter], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
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
    const names = Array.from({ length: 50 }, (_, i) => `name${i}.test`);
    const queries = join(directory, 'queries.txt');
    writeFileSync(queries, names.map((name) => `${name} A\n`).join(''));
    // 500 a second: the capture then spans about a tenth of a second.
    const dnsperf = spawn('dnsperf', [
      '-s',
      '127.0.0.1',
      '-p',
      String(server.port),
      '-d',
      queries,
      '-Q',
      '500',
    ]);
    dnsperf.stdout.resume();
    await new Promise((resolve) => dnsperf.once('close', resolve));
    await expect
      .poll(() =>
        readCapture(path, server.port).then(
          ({ arena }) => arena.count,
          () => 0,
        ),
      )
      .toBe(50);
    return { path, names, port: server.port };
  } finally {
    if (tcpdump.exitCode === null && tcpdump.pid !== undefined) {
      const ended = new Promise((resolve) => tcpdump.once('exit', resolve));
      tcpdump.kill('SIGINT');
      await ended;
    }
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
    // 50 queries at 500 a second cannot be sent in much less.
    expect(due.at(-1)).toBeGreaterThan(0.05);
    expect(due.at(-1)).toBeLessThan(20);
  });
});
