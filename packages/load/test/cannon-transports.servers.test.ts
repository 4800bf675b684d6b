/** Whole runs over every transport and with every kind of workload, against CoreDNS. */
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';
import { type CannonInput, cannon } from '../src/index.ts';
import { startCoredns, type TestCoredns } from './support/coredns.ts';
import { ethernetOf, ipv4Of, pcapOf, queryFor, udpOf } from './support/frames.ts';

const { describe, it: test } = fileNeeds('coredns', 'openssl');

let coredns: TestCoredns;
const directory = mkdtempSync(join(tmpdir(), 'dnscannon-runs-'));
beforeAll(async () => {
  coredns = await startCoredns();
});
afterAll(async () => {
  await coredns.stop();
  await rm(directory, { recursive: true });
});

const HALF = { kind: 'names', names: ['example.test', 'missing.example.test'] } as const;
// Few in flight: a server that waits for a CPU must not drop any from its receive buffer.
const run = (options: Omit<CannonInput, 'server'> & { server?: string }) =>
  cannon({ server: `127.0.0.1:${coredns.dnsPort}`, load: { kind: 'closed', outstanding: 20 }, ...options })
    .result;

describe('transports', () => {
  test.each([
    { transport: 'udp', port: () => coredns.dnsPort },
    { transport: 'tcp', port: () => coredns.dnsPort },
    { transport: 'tls', port: () => coredns.tlsPort },
    { transport: 'https', port: () => coredns.httpsPort },
    { transport: 'https', port: () => coredns.httpsPort, method: 'GET' },
  ] as const)(
    '$transport $method: every query is answered, as expected',
    async ({ transport, port, ...rest }) => {
      const result = await run({
        server: `127.0.0.1:${port()}`,
        transport,
        workload: HALF,
        maxQueries: 2000,
        workers: 2,
        clients: 4,
        expect: { codes: [0, 3], addresses: ['127.0.0.1'] },
        stream: { caFile: coredns.caFile, ...('method' in rest ? { method: rest.method } : {}) },
      });
      expect(result.counts).toMatchObject({
        sent: 2000,
        answered: 2000,
        lost: 0,
        wrongCode: 0,
        wrongAddress: 0,
      });
      expect(result.codes).toEqual({ NOERROR: 1000, NXDOMAIN: 1000 });
      expect(result.endedBy).toBe('queries');
      expect(result.latencySeconds?.count).toBe(2000);
      expect(result.counts.connections).toBe(transport === 'udp' ? 0 : 4);
      expect(result.connectSeconds?.count ?? 0).toBe(transport === 'udp' ? 0 : 4);
    },
  );

  test('a new connection for every ten queries', async () => {
    const result = await run({
      transport: 'tcp',
      workload: HALF,
      maxQueries: 200,
      clients: 2,
      stream: { queriesPerConnection: 10 },
    });
    expect(result.counts).toMatchObject({ answered: 200, connectionFailures: 0 });
    expect(result.counts.connections).toBeGreaterThanOrEqual(20);
    expect(result.counts.connections).toBeLessThanOrEqual(22);
  });

  test('connections that fail are counted, and others take their place', async () => {
    let resets = 2;
    const server = createServer((client) => {
      if (resets-- > 0) return client.once('data', () => client.resetAndDestroy());
      const upstream = connect(coredns.dnsPort, '127.0.0.1');
      return client
        .on('error', () => upstream.destroy())
        .pipe(upstream.on('error', () => client.destroy()))
        .pipe(client);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const result = await run({
        server: `127.0.0.1:${port}`,
        transport: 'tcp',
        workload: HALF,
        maxQueries: 200,
        clients: 2,
      });
      expect(result.counts.connectionFailures).toBe(2);
      expect(result.counts.connections).toBe(4);
      expect(result.counts.answered + result.counts.lost).toBe(200);
      expect(result.counts.lost).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });

  test('truncated answers are retried over TCP on request', async () => {
    const workload = { kind: 'names', names: ['big.example.test'] } as const;
    const without = await run({ workload, maxQueries: 50 });
    expect(without.counts).toMatchObject({ answered: 50, truncated: 50, fallbacks: 0 });
    const expected = { codes: [0], addresses: ['127.0.0.40'] };
    const retried = await run({ workload, maxQueries: 50, tcpFallback: true, expect: expected });
    expect(retried.counts).toMatchObject({ answered: 50, truncated: 50, fallbacks: 50, wrongAddress: 0 });
  });

  test('a server that refuses connections, or whose certificate does not verify, is an error with a fix', async () => {
    await expect(run({ server: '127.0.0.1:1', transport: 'tcp', workload: HALF })).rejects.toMatchObject({
      code: 'E_UNREACHABLE',
      exitStatus: 4,
    });
    const server = `127.0.0.1:${coredns.tlsPort}`;
    await expect(run({ server, transport: 'tls', workload: HALF })).rejects.toMatchObject({
      code: 'E_UNREACHABLE',
      fix: expect.stringContaining('--insecure'),
    });
  });

  test('HTTP errors are counted', async () => {
    const result = await run({
      server: `127.0.0.1:${coredns.httpsPort}`,
      transport: 'https',
      workload: HALF,
      maxQueries: 20,
      timeoutSeconds: 1,
      stream: { caFile: coredns.caFile, path: '/nothing-here' },
    });
    expect(result.counts.answered).toBe(0);
    expect(result.counts.lost + result.counts.interrupted).toBe(20);
    expect(result.codes).toEqual({});
    expect(result.problems).toEqual({ 'HTTP status 404': 20 });
  });
});

describe('replay', () => {
  test('queries are sent at their captured times, with their own flags', async () => {
    const path = join(directory, 'replay.pcap');
    const times = [0, 0.1, 0.15, 0.4, 0.4001, 0.6];
    const packets = times.map((seconds, index) => ({
      seconds: 1000 + seconds,
      frame: ethernetOf(ipv4Of(udpOf(queryFor(index % 2 === 0 ? 'example.test' : 'no.example.test')))),
    }));
    writeFileSync(path, pcapOf(1, packets));
    const result = await run({ workload: { kind: 'pcap', path }, load: { kind: 'timed' } });
    expect(result.counts).toMatchObject({ sent: 6, answered: 6 });
    expect(result.codes).toEqual({ NOERROR: 3, NXDOMAIN: 3 });
    expect(result.sendingSeconds).toBeGreaterThan(0.59);
    const fast = await run({ workload: { kind: 'pcap', path, speed: 6 }, load: { kind: 'timed' } });
    expect(fast.counts.answered).toBe(6);
    expect(fast.sendingSeconds).toBeLessThan(result.sendingSeconds);
  });
});
