/** The endpoint for those who watch: counts that are right, in a format that Prometheus's own kind of parser reads. */
import parsePrometheus, { type Family } from 'parse-prometheus-text-format';
import { afterAll, afterEach, expect, test } from 'vitest';
import { BUCKET_SECONDS, NO_CONNECTIONS, NO_SOCKETS, TransportCounters } from '../src/metrics/counters.ts';
import { exposition } from '../src/metrics/exposition.ts';
import { ask, opt, query, RCODE, sendUdp } from './support/client.ts';
import { childrenOf, killAll, type RunningServer, startServer, until } from './support/server-process.ts';

afterEach(killAll);
afterAll(killAll);

const METRICS = ['--metrics-port', '0'];

async function get(server: RunningServer, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.ready.metricsPort}${path}`);
}

async function scrape(server: RunningServer): Promise<Map<string, Family>> {
  const response = await get(server, '/metrics');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new Map(parsePrometheus(await response.text()).map((family) => [family.name, family]));
}

/** Sum of the samples that have these labels. */
function total(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number {
  const family = families.get(name);
  if (family === undefined) throw new Error(`no ${name}`);
  const fits = (own: Record<string, string> = {}) =>
    Object.entries(labels).every(([key, value]) => own[key] === value);
  return family.metrics
    .filter((metric) => fits(metric.labels))
    .reduce((sum, { value }) => sum + Number(value), 0);
}

test('queries are counted by type, RCODE, transport and outcome', async () => {
  const server = await startServer(METRICS);
  const before = await scrape(server);
  for (let count = 0; count < 5; count++) await ask('udp', server.ready, 'example1.com');
  await ask('udp', server.ready, 'example1.com', 'AAAA', { additionals: [opt(1232)] });
  await ask('udp', server.ready, 'www.example1.com', 'TXT');
  await ask('tcp', server.ready, 'example2.com', 'MX');
  const malformed = query('example1.com').subarray(0, 20);
  expect(await sendUdp(server.ready, malformed)).toBeDefined();
  const response = query('example1.com');
  response.writeUInt16BE(0x8000, 2);
  expect(await sendUdp(server.ready, response, 0.1)).toBeUndefined();
  expect(await sendUdp(server.ready, Buffer.from([1, 2, 3]), 0.1)).toBeUndefined();

  const after = await scrape(server);
  const grown = (name: string, labels: Record<string, string> = {}) =>
    total(after, name, labels) - total(before, name, labels);
  expect(grown('dinodns_queries_total', { transport: 'udp', type: 'A' })).toBe(5);
  expect(grown('dinodns_queries_total', { transport: 'udp', type: 'AAAA' })).toBe(1);
  expect(grown('dinodns_queries_total', { transport: 'udp', type: 'TXT' })).toBe(1);
  expect(grown('dinodns_queries_total', { transport: 'udp', type: 'none' })).toBe(1);
  expect(grown('dinodns_queries_total', { transport: 'tcp', type: 'MX' })).toBe(1);
  expect(grown('dinodns_responses_total', { transport: 'udp', rcode: 'NOERROR' })).toBe(6);
  expect(grown('dinodns_responses_total', { rcode: 'NXDOMAIN' })).toBe(1);
  expect(grown('dinodns_responses_total', { rcode: 'FORMERR' })).toBe(1);
  expect(grown('dinodns_responses_total', { transport: 'tcp', rcode: 'REFUSED' })).toBe(1);
  expect(grown('dinodns_table_hits_total', { transport: 'udp' })).toBe(8);
  expect(grown('dinodns_framework_queries_total')).toBe(0);
  expect(grown('dinodns_dropped_total', { reason: 'response' })).toBe(1);
  expect(grown('dinodns_dropped_total', { reason: 'short' })).toBe(1);
  expect(grown('dinodns_tcp_connections_accepted_total')).toBe(1);
  expect(grown('dinodns_udp_received_total')).toBe(10);
  const latency = after.get('dinodns_response_seconds');
  expect(latency?.type).toBe('HISTOGRAM');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('the primary shows all workers by place, which a replacement inherits', async () => {
  const server = await startServer([...METRICS, '--mode', 'multi', '--workers', '2']);
  const asked = 60;
  const before = await scrape(server);
  for (let count = 0; count < asked; count++) await ask('udp', server.ready, 'example1.com');
  const after = await scrape(server);
  const type = { type: 'A', transport: 'udp' };
  expect(total(after, 'dinodns_queries_total', type) - total(before, 'dinodns_queries_total', type)).toBe(
    asked,
  );
  // The kernel spreads 60 clients over both, but for one time in 10^17.
  for (const worker of ['0', '1']) {
    expect(total(after, 'dinodns_queries_total', { ...type, worker })).toBeGreaterThan(0);
  }
  expect(total(after, 'dinodns_workers_ready')).toBe(2);

  expect((await get(server, '/ready')).status).toBe(200);
  const [victim = -1] = childrenOf(server.pid);
  process.kill(victim, 'SIGKILL');
  expect(await until(async () => (await get(server, '/ready')).status === 503, 20)).toBe(true);
  expect((await get(server, '/health')).status).toBe(200);
  expect(await until(async () => (await get(server, '/ready')).status === 200, 20)).toBe(true);
  const replaced = await scrape(server);
  expect(total(replaced, 'dinodns_worker_restarts_total')).toBe(1);
  const workers = replaced
    .get('dinodns_worker_resident_memory_bytes')
    ?.metrics.map(({ labels }) => labels?.worker);
  expect(workers).toEqual(['0', '1']);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('there is no endpoint without the flag, and the endpoint is read-only', async () => {
  const closed = await startServer();
  expect(closed.ready.metricsPort).toBeUndefined();
  const server = await startServer(METRICS);
  const base = `http://127.0.0.1:${server.ready.metricsPort}`;
  expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${base}/reload`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${base}/else`)).status).toBe(404);
  expect(await (await fetch(`${base}/health`)).json()).toEqual({ healthy: true, workers: 1, ready: 1 });
  expect((await ask('udp', server.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
});

test('a histogram counts each latency in its bucket and all above it', () => {
  const counters = new TransportCounters();
  counters.latency(5e-6, 3);
  counters.latency(0.002, 2);
  counters.latency(7, 1);
  const worker = {
    transports: { udp: [...counters.values], tcp: [...new TransportCounters().values] },
    sockets: NO_SOCKETS,
    connections: NO_CONNECTIONS,
    cpuSeconds: 1.5,
    residentBytes: 1e8,
    startSeconds: 1e9,
  };
  const text = exposition({
    version: '0"\\1',
    backend: 'native',
    size: 1,
    restarts: 0,
    reloads: { succeeded: 0, failed: 0 },
    workers: new Map([[0, worker]]),
  });
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('dinodns_response_seconds') && line.includes('udp'));
  const value = (part: string) =>
    Number(
      lines
        .find((line) => line.includes(part))
        ?.split(' ')
        .at(-1),
    );
  expect(lines).toHaveLength(BUCKET_SECONDS.length + 3);
  expect(value('le="0.00001"')).toBe(3);
  expect(value('le="0.001"')).toBe(3);
  expect(value('le="0.0025"')).toBe(5);
  expect(value('le="1"')).toBe(5);
  expect(value('le="+Inf"')).toBe(6);
  expect(value('_count')).toBe(6);
  expect(value('_sum')).toBeCloseTo(7.004015, 9);
  // The parser refuses what Prometheus would refuse; names are those of its conventions.
  const families = parsePrometheus(text);
  expect(families.find(({ name }) => name === 'dinodns_info')?.metrics[0]?.labels?.version).toBe('0"\\1');
  for (const { name, type, help } of families) {
    expect(name).toMatch(/^dinodns_[a-z_]+$/);
    expect(help).not.toBe('');
    expect(name.endsWith('_total')).toBe(type === 'COUNTER');
  }
});
