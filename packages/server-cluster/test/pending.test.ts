/** What handlers do not answer, and what they throw: memory stays bounded, and the process goes on. */
import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { afterEach, expect, test } from 'vitest';
import { BatchedUdpNetwork, RobustTcpNetwork } from '../src/index.ts';
import { PendingLimit } from '../src/limits/pending-limit.ts';
import { createLog } from '../src/log/log.ts';
import { DROP_REASON, OFFSETS, type TransportCounters } from '../src/metrics/counters.ts';
import type { Responder } from '../src/table/responder.ts';
import { framed, query, sendTcp, sendUdp, TcpClient } from './support/client.ts';
import { until } from './support/server-process.ts';

const networks: (BatchedUdpNetwork | RobustTcpNetwork)[] = [];
afterEach(async () => {
  await Promise.all(networks.splice(0).map((network) => network.shutdown(0)));
});

/** Both transports with one limit, as the server has them. */
async function start(handler: Handler, most: number, responder?: Responder) {
  const pending = new PendingLimit(most);
  const common = { address: '127.0.0.1', port: 0, pending, log: createLog('silent') };
  const table = responder === undefined ? {} : { responder };
  const udp = new BatchedUdpNetwork({ ...common, ...table });
  const tcp = new RobustTcpNetwork({ ...common, ...table });
  const server = new DefaultServer({ networks: [udp, tcp] });
  server.use(handler);
  await Promise.all([udp.open(), tcp.open()]);
  networks.push(udp, tcp);
  return { udp, tcp, pending };
}

const dropped = ({ values }: TransportCounters) => values[OFFSETS.drops + DROP_REASON.congested] ?? 0;
const errors = ({ values }: TransportCounters) => values[OFFSETS.errors] ?? 0;

test('queries that handlers do not answer are limited over all transports together, then dropped', async () => {
  const waiting: (() => void)[] = [];
  const { udp, tcp, pending } = await start(async (_request, response) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    response.errors.refused();
  }, 50);
  const client = new TcpClient(tcp);
  for (let count = 0; count < 40; count++) client.socket.write(framed(query(`n${count}.example.org`)));
  expect(await until(() => pending.count === 40, 10)).toBe(true);
  for (let count = 0; count < 100; count++) void sendUdp(udp, query(`u${count}.example.org`), 0.01);
  expect(await until(() => dropped(udp.counters) === 90, 10)).toBe(true);
  expect(pending.count).toBe(50);
  for (let count = 0; count < 20; count++) client.socket.write(framed(query(`m${count}.example.org`)));
  expect(await until(() => dropped(tcp.counters) === 20, 10)).toBe(true);

  for (const answer of waiting.splice(0)) answer();
  expect(await client.receive(40)).toHaveLength(40);
  expect(await until(() => pending.count === 0, 10)).toBe(true);
  // Dropped queries hold nothing back: the same connection is served again.
  client.socket.write(framed(query('again.example.org')));
  expect(await until(() => waiting.length === 1, 10)).toBe(true);
  waiting[0]?.();
  expect(await client.receive(41)).toHaveLength(41);
  client.socket.destroy();
});

test('an unexpected error costs one datagram or one connection, is counted, and ends nothing', async () => {
  let isBroken = true;
  const responder: Responder = {
    answer() {
      if (isBroken) throw new Error('a fault of ours');
      return -1;
    },
  };
  const { udp, tcp } = await start((_request, response) => response.errors.refused(), 50, responder);
  expect(await sendUdp(udp, query('a.example.org'), 0.2)).toBeUndefined();
  // The connection ends.
  expect(await sendTcp(tcp, query('a.example.org'), 5)).toBeUndefined();
  expect([errors(udp.counters), errors(tcp.counters)]).toEqual([1, 1]);
  isBroken = false;
  expect(await sendUdp(udp, query('a.example.org'), 5)).toBeDefined();
  expect(await sendTcp(tcp, query('a.example.org'), 5)).toBeDefined();
});

test('a handler that throws at once answers SERVFAIL, and leaves no query pending', async () => {
  const { udp, pending } = await start((_request, response) => response.errors.refused(), 1);
  udp.handler = () => {
    throw new Error('a fault of a handler');
  };
  for (let count = 0; count < 3; count++) {
    expect((await sendUdp(udp, query('a.example.org'), 5))?.readUInt8(3)).toBe(2);
    expect(pending.count).toBe(0);
  }
});
