/** Every response is matched by socket, id and question; anything else is counted by kind. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CannonInput, type CannonResult, cannon } from '../src/index.ts';
import { start } from './support/cli.ts';
import { answerTo, type Behaviour, startServer } from './support/misbehaving-server.ts';

/** Sends `count` queries to a server with this behaviour. */
async function ask(behaviour: Behaviour, count: number, options: Partial<CannonInput> = {}) {
  const server = await startServer(behaviour);
  const run = cannon({
    server: `127.0.0.1:${server.port}`,
    workload: { kind: 'names', names: ['one.test', 'two.test'] },
    maxQueries: count,
    // The server is in this process, which may wait for the CPU.
    timeoutSeconds: 5,
    durationSeconds: 30,
    ...options,
  });
  return { result: await run.result, server };
}

it('counts each query once', async () => {
  const behaviour: Behaviour = (query, reply) => reply(answerTo(query, { code: 3 }));
  const { result, server } = await ask(behaviour, 1000, { timeoutSeconds: 2 });
  expect(result.counts).toMatchObject({ sent: 1000, answered: 1000, lost: 0, late: 0, duplicate: 0 });
  expect(result.codes).toEqual({ NXDOMAIN: 1000 });
  expect(result.endedBy).toBe('queries');
  expect(server.queries.length).toBe(1000);
  expect(result.latencySeconds?.count).toBe(1000);
});

it('sends only what it counts: its warm-up does not reach the server', async () => {
  const { result, server } = await ask((query, reply) => reply(answerTo(query)), 1_000_000, {
    load: { kind: 'closed', outstanding: 20 },
    durationSeconds: 1,
    timeoutSeconds: 10,
  });
  expect(result.counts).toMatchObject({ lost: 0, mismatched: 0 });
  expect(server.queries.length).toBe(result.counts.sent);
});

it('ends a lookup whose other type is lost when its time is out, and counts that time', async () => {
  const behaviour: Behaviour = (query, reply) => {
    const answer = answerTo(query);
    const type = answer.readUInt16BE(answer.length - 4);
    if (type !== 1) return;
    answer[7] = 1;
    reply(Buffer.concat([answer, Buffer.from('c00c000100010000000500047f000001', 'hex')]));
  };
  const { result } = await ask(behaviour, 20, {
    workload: { kind: 'kubernetes', names: ['one.test.'] },
    ...{ load: { kind: 'closed', outstanding: 10 }, timeoutSeconds: 1.5 },
  });
  expect(result.counts).toMatchObject({ sent: 40, answered: 20, lost: 20 });
  expect(result.lookups).toMatchObject({ count: 20, found: 20, failed: 0, latencySeconds: { count: 20 } });
  expect(result.lookups?.latencySeconds?.min).toBeGreaterThanOrEqual(1.499);
  expect(result.lookups?.latencySeconds?.p50).toBeLessThan(1.6);
});

it('awaits all candidates of the last lookups, which are asked one after the other', async () => {
  const behaviour: Behaviour = (query, reply) => reply(answerTo(query, { code: 3 }), 500);
  const { result } = await ask(behaviour, 3, {
    workload: { kind: 'kubernetes', names: ['one.test.', 'two.test', 'one.test.'], types: ['A'] },
    timeoutSeconds: 1.5,
  });
  // With the search list, five candidates: 2.5 s.
  expect(result.counts).toMatchObject({ sent: 7, answered: 7, lost: 0, interrupted: 0 });
  expect(result.lookups).toMatchObject({ count: 3, found: 0, failed: 3 });
});

it('counts lost and late answers separately, and excludes them from latency', async () => {
  const { result } = await ask(
    (query, reply, number) => {
      if (number % 10 === 0) reply(answerTo(query), 2250);
      else if (number % 10 !== 1) reply(answerTo(query));
    },
    100,
    // Two consecutive timeouts: answers to the first ones arrive during the second.
    { load: { kind: 'closed', outstanding: 10 }, timeoutSeconds: 1.5 },
  );
  expect(result.counts).toMatchObject({ sent: 100, answered: 80, lost: 20 });
  expect(result.counts.late).toBeGreaterThan(0);
  expect(result.lostRatio).toBeCloseTo(0.2);
  expect(result.latencySeconds?.count).toBe(80);
  expect(result.latencySeconds?.max).toBeLessThan(1.6);
});

it('counts duplicates, and takes the first answer', async () => {
  const { result } = await ask((query, reply) => {
    reply(answerTo(query, { code: 0 }));
    reply(answerTo(query, { code: 2 }));
  }, 500);
  expect(result.counts).toMatchObject({ answered: 500, lost: 0 });
  expect(result.counts.duplicate).toBeGreaterThan(450);
  expect(result.codes).toEqual({ NOERROR: 500 });
});

const wrongQuestion = (query: Buffer) => {
  const answer = answerTo(query);
  answer[13] = '_'.charCodeAt(0);
  return answer;
};
const wrongId = (query: Buffer) => {
  const answer = answerTo(query);
  answer.writeUInt16BE((answer.readUInt16BE(0) + 32_768) % 65_536, 0);
  return answer;
};

describe.each([
  { what: 'another question', message: wrongQuestion, count: 'mismatched' },
  { what: 'another id', message: wrongId, count: 'mismatched' },
  { what: 'five bytes', message: () => Buffer.from('hello'), count: 'malformed' },
  { what: 'an empty datagram', message: () => Buffer.alloc(0), count: 'malformed' },
  {
    what: 'half a question',
    message: (query: Buffer) => answerTo(query).subarray(0, 17),
    count: 'malformed',
  },
] as const)('a response with $what', ({ message, count }) => {
  it(`is ${count} and answers nothing; the right one that follows does`, async () => {
    const { result } = await ask((query, reply) => {
      reply(message(query));
      reply(answerTo(query));
    }, 50);
    expect(result.counts).toMatchObject({ answered: 50, lost: 0, [count]: 50 });
    expect(result.warnings.length).toBeGreaterThan(0);
  });
});

it('takes an answer whose question is in another case, and an error without a question', async () => {
  const { result } = await ask((query, reply, number) => {
    const answer = answerTo(query, { code: number % 2 === 0 ? 0 : 1 });
    if (number % 2 === 0) reply(Buffer.from(answer.toString('latin1').toUpperCase(), 'latin1'));
    else reply(Buffer.concat([answer.subarray(0, 4), Buffer.alloc(8)]));
  }, 40);
  expect(result.counts).toMatchObject({ answered: 40, mismatched: 0, malformed: 0 });
  expect(result.codes).toEqual({ NOERROR: 20, FORMERR: 20 });
});

it('reports a server that echoes', async () => {
  const { result } = await ask((query, reply) => reply(query), 20);
  expect(result.counts).toMatchObject({ answered: 20, echoed: 20 });
  expect(result.warnings.join()).toContain('echo');
});

it('counts truncated answers, and suggests a fix', async () => {
  const { result } = await ask((query, reply) => reply(answerTo(query, { tc: true })), 20);
  expect(result.counts).toMatchObject({ answered: 20, truncated: 20, fallbacks: 0 });
  expect(result.warnings.join()).toContain('--tcp-fallback');
});

it('notices answers that are longer than announced', async () => {
  const { result } = await ask(
    (query, reply) => reply(Buffer.concat([answerTo(query), Buffer.alloc(3000)])),
    10,
  );
  expect(result.counts).toMatchObject({ answered: 10, cut: 10 });
});

it('retries only on request, and measures latency from the first attempt', async () => {
  const second = new Set<string>();
  const behaviour: Behaviour = (query, reply) => {
    const key = query.toString('latin1');
    if (second.has(key)) reply(answerTo(query));
    second.add(key);
  };
  const { result } = await ask(behaviour, 10, { retries: 1, timeoutSeconds: 1 });
  expect(result.counts).toMatchObject({ sent: 10, retried: 10, answered: 10, lost: 0 });
  expect(result.latencySeconds?.min).toBeGreaterThan(1);
  const without = await ask(() => undefined, 10, { timeoutSeconds: 0.2 });
  expect(without.result.counts).toMatchObject({ sent: 10, retried: 0, answered: 0, lost: 10 });
  expect(without.server.queries.length).toBeLessThanOrEqual(11);
});

it('counts an answer that arrived in time, however late it is read', async () => {
  const { port, queries } = await startServer((query, reply) => reply(answerTo(query), 200));
  const { child, ended } = start(['-d', '5', '-R', '1000', '-t', '3', '--json', `127.0.0.1:${port}`]);
  await expect.poll(() => queries.length, { timeout: 60_000 }).toBeGreaterThan(100);
  // The answers to about 200 queries wait for longer than the timeout.
  child.kill('SIGSTOP');
  await sleep(4000);
  child.kill('SIGCONT');
  const { counts } = JSON.parse((await ended).stdout) as CannonResult;
  // What was due meanwhile may be too much at once for the server's socket.
  expect(counts).toMatchObject({ answered: queries.length, late: 0 });
}, 120_000);

it('loses a truncated answer whose query gets no connection, and goes on', async () => {
  const { port } = await startServer((query, reply) => reply(answerTo(query, { tc: true })));
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.destroy();
      server.close();
    });
  }).listen(port, '127.0.0.1');
  onTestFinished(() => {
    server.close();
  });
  await once(server, 'listening');
  const { counts } = await cannon({
    server: `127.0.0.1:${port}`,
    workload: { kind: 'names', names: ['one.test'] },
    load: { kind: 'closed', outstanding: 5 },
    tcpFallback: true,
    durationSeconds: 2,
    timeoutSeconds: 0.3,
  }).result;
  expect(counts.sent).toBeGreaterThan(10);
  expect(counts).toMatchObject({ answered: 0, lost: counts.sent, interrupted: 0 });
});

it('sends for as long as asked, though nothing is due at the end', async () => {
  const { port } = await startServer((query, reply) => reply(answerTo(query)));
  const { counts, rates, endedBy, sendingSeconds } = await cannon({
    server: `127.0.0.1:${port}`,
    workload: { kind: 'names', names: ['one.test'] },
    load: { kind: 'constant', rate: 2 },
    durationSeconds: 2,
  }).result;
  expect(counts.sent).toBe(4);
  expect({ endedBy, sendingSeconds, sent: rates.sent }).toEqual({
    endedBy: 'duration',
    sendingSeconds: 2,
    sent: 2,
  });
});

it('matches random labels by the question that was actually sent', async () => {
  const { result, server } = await ask(
    (query, reply, number) => {
      reply(number % 5 === 0 ? wrongQuestion(query) : answerTo(query));
    },
    50,
    { workload: { kind: 'names', names: ['one.test'], randomLabelLength: 12 }, timeoutSeconds: 1.5 },
  );
  expect(result.counts).toMatchObject({ sent: 50, answered: 40, mismatched: 10, lost: 10 });
  const names = new Set(server.queries.map((query) => query.subarray(12).toString('latin1')));
  expect(names.size).toBeGreaterThanOrEqual(50);
});

it('uses the requested number of sockets, each with its own port, and the source addresses in turn', async () => {
  const peers = new Set<string>();
  const { createSocket } = await import('node:dgram');
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    peers.add(`${address}:${port}`);
    socket.send(answerTo(query), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const run = cannon({
    server: `127.0.0.1:${socket.address().port}`,
    workload: { kind: 'zones' },
    workers: 2,
    clients: 20,
    sources: ['127.0.0.2', '127.0.0.3'],
    maxQueries: 2000,
    durationSeconds: 30,
  });
  const { counts } = await run.result;
  socket.close();
  expect(counts).toMatchObject({ sent: 2000, answered: 2000 });
  expect(peers.size).toBe(20);
  expect([...peers].filter((peer) => peer.startsWith('127.0.0.2')).length).toBe(10);
});
