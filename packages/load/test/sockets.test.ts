/** Counts by socket: of a server that ignores one client for a while. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { cannon } from '../src/index.ts';

/** Answers every query with itself as an answer, unless it is told to ignore it; the sender's port tells the client. */
async function startServer(ignores: (port: number) => boolean) {
  const socket = createSocket('udp4');
  socket.on('message', (query: Buffer, { address, port }: RemoteInfo) => {
    if (ignores(port)) return;
    query[2] = (query[2] ?? 0) | 0x80;
    socket.send(query, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

const CLIENTS = 4;
const RATE = 200;

it('tell which socket lost queries, when, and for how long it got no answer', async () => {
  let first: number | null = null;
  let startedAt = 0;
  const since = () => (performance.now() - startedAt) / 1000;
  const ignored: number[] = [];
  const socket = await startServer((port) => {
    if (first === null) startedAt = performance.now();
    first ??= port;
    if (port !== first || since() < 0.7 || since() > 2.7) return false;
    ignored.push(since());
    return true;
  });
  try {
    const { counts, sockets = [] } = await cannon({
      server: `127.0.0.1:${socket.address().port}`,
      workload: { kind: 'names', names: ['example.test'] },
      load: { kind: 'constant', rate: RATE },
      clients: CLIENTS,
      durationSeconds: 4,
      // A busy machine may let the server wait for some tenths of a second.
      timeoutSeconds: 1.5,
      sockets: { gapSeconds: 1.2 },
    }).result;
    expect(sockets).toHaveLength(CLIENTS);
    const sum = (of: 'sent' | 'answered' | 'lost' | 'late') =>
      sockets.reduce((total, each) => total + each[of], 0);
    expect([sum('sent'), sum('answered'), sum('lost'), sum('late')]).toEqual([
      counts.sent,
      counts.answered,
      counts.lost,
      counts.late,
    ]);
    const lossy = sockets.filter(({ lost }) => lost > 0);
    expect(lossy).toHaveLength(1);
    expect(lossy[0]?.lost).toBe(ignored.length);
    const [
      { gaps, lostAtSeconds, longestGapSeconds } = { gaps: [], lostAtSeconds: [], longestGapSeconds: 0 },
    ] = lossy;
    // From the first query that was ignored to the first that was not.
    const length = (ignored.at(-1) ?? 0) - (ignored[0] ?? 0);
    expect(gaps).toHaveLength(1);
    expect(Math.abs(longestGapSeconds - length)).toBeLessThan(0.8);
    expect(lostAtSeconds[0]).toBeCloseTo(gaps[0]?.fromSeconds ?? 0, 6);
    expect(lostAtSeconds.length).toBeGreaterThan(1);
    // The time between two queries of a socket is no gap.
    for (const other of sockets.filter(({ lost }) => lost === 0)) expect(other.gaps).toEqual([]);
  } finally {
    socket.close();
  }
});

it.each([
  [undefined, 1],
  [[5], 0],
  [null, 0],
] as const)(
  'with answers that are all refused, and with codes %j as good, have %d gap each',
  async (codes, gaps) => {
    const socket = createSocket('udp4');
    socket.on('message', (query: Buffer, { address, port }: RemoteInfo) => {
      query[2] = (query[2] ?? 0) | 0x80;
      query[3] = 5;
      socket.send(query, port, address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    try {
      const { sockets = [] } = await cannon({
        server: `127.0.0.1:${socket.address().port}`,
        workload: { kind: 'names', names: ['example.test'] },
        load: { kind: 'constant', rate: RATE },
        clients: 2,
        durationSeconds: 3,
        sockets: { gapSeconds: 2, ...(codes === undefined ? {} : { codes }) },
      }).result;
      expect(sockets.map((each) => each.gaps.length)).toEqual([gaps, gaps]);
    } finally {
      socket.close();
    }
  },
);

it('count a query that is sent again once, at the time of its first attempt', async () => {
  const socket = await startServer(() => true);
  try {
    const { counts, sockets = [] } = await cannon({
      server: `127.0.0.1:${socket.address().port}`,
      workload: { kind: 'names', names: ['example.test'] },
      // Repeated together, in batches of several system calls.
      load: { kind: 'closed', outstanding: 64 },
      clients: 1,
      durationSeconds: 0.2,
      timeoutSeconds: 0.3,
      retries: 1,
      sockets: { gapSeconds: 0.1 },
    }).result;
    expect([counts.sent, counts.retried, counts.lost]).toEqual([64, 64, 64]);
    expect(sockets).toMatchObject([{ sent: 64, lost: 64 }]);
    expect(sockets[0]?.lostAtSeconds).toEqual([sockets[0]?.gaps[0]?.fromSeconds]);
  } finally {
    socket.close();
  }
});

it('are counted over UDP alone, and only where asked for', async () => {
  const options = { server: '127.0.0.1:1', workload: { kind: 'names', names: ['example.test'] } } as const;
  expect(() => cannon({ ...options, transport: 'tcp', sockets: { gapSeconds: 1 } })).toThrow(
    'over UDP alone',
  );
  const { sockets } = await cannon({ ...options, durationSeconds: 0.05, timeoutSeconds: 0.05 }).result;
  expect(sockets).toBeUndefined();
});
