/** Clients that do at some point of the exchange what no honest client does. Every choice comes from a seed. */
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { pick, type Random } from '@dinodns-bench/test-support';
import { framed, query } from '../support/client.ts';
import { sleep } from '../support/server-process.ts';

export interface Target {
  readonly address: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly httpsPort: number;
}

/** No attack lasts longer: the next one may find another weakness. */
const MOST_SECONDS = 1.5;

/** What is sent before the client misbehaves: whole messages, parts of one, or what is none. */
function messages(random: Random): Buffer {
  const one = () =>
    pick(random, [
      framed(query('example1.com')),
      framed(query('big.hostile.test', 'TXT')),
      framed(query('hostile.test', 'AXFR')),
      framed(query('example2.com', 'ANY')),
      framed(Buffer.alloc(0)),
      framed(Buffer.alloc(11, 1)),
      framed(Buffer.alloc(4096, 0xc0)),
      Buffer.from([0xff, 0xff, 1, 2, 3]),
      Buffer.from(Array.from({ length: 1 + random(300) }, () => random(256))),
    ]);
  const all = Buffer.concat(Array.from({ length: 1 + random(40) }, one));
  return random(2) === 0 ? all : all.subarray(0, random(all.length + 1));
}

/** 127.1.2.3: on Linux, all of 127.0.0.0/8 is this machine. */
export function someAddress(random: Random): string {
  return `127.${1 + random(200)}.${random(250)}.${1 + random(250)}`;
}

const closed = (socket: Socket) =>
  Promise.race([new Promise((resolve) => socket.once('close', resolve)), sleep(MOST_SECONDS)]);

/** One octet at a time. */
async function drip(socket: Socket, bytes: Buffer): Promise<void> {
  const deadline = performance.now() + MOST_SECONDS * 1000;
  for (let at = 0; at < bytes.length && performance.now() < deadline && socket.writable; at++) {
    socket.write(bytes.subarray(at, at + 1));
    await sleep(0.02);
  }
}

/** `raw` is the TCP socket below TLS, which alone can be reset. */
const ENDS: readonly ((socket: Socket, random: Random, raw: Socket) => Promise<void> | void)[] = [
  (socket) => void socket.destroy(),
  // RST, at once.
  (_socket, _random, raw) => void raw.resetAndDestroy(),
  // RST while the answers are on their way.
  async (_socket, random, raw) => {
    await sleep(random(20) / 1000);
    raw.resetAndDestroy();
  },
  async (socket) => {
    socket.end();
    await closed(socket);
  },
  // Sends on without reading.
  async (socket, random) => {
    socket.pause();
    for (let count = 0; count < 50 && socket.writable; count++) socket.write(messages(random));
    await closed(socket);
  },
  // Says nothing more.
  async (socket) => {
    await closed(socket);
  },
  async (socket, random) => drip(socket, messages(random)),
];

async function misbehave(socket: Socket, random: Random, raw = socket): Promise<void> {
  for (const each of [socket, raw]) each.on('error', () => undefined);
  socket.resume();
  try {
    // Some misbehave before they are connected, or in the middle of a handshake.
    if (random(4) > 0)
      await Promise.race([new Promise((resolve) => socket.once('ready', resolve)), sleep(0.2)]);
    if (random(4) > 0) await sleep(random(5) / 1000);
    socket.write(messages(random));
    await pick(random, ENDS)(socket, random, raw);
  } finally {
    socket.destroy();
    raw.destroy();
  }
}

async function overHttps({ address, httpsPort }: Target, random: Random): Promise<void> {
  const tls = { host: address, port: httpsPort, ALPNProtocols: ['h2'], rejectUnauthorized: false };
  const socket = connectTls(tls);
  socket.on('error', () => undefined);
  const session = connectHttp2(`https://${address}:${httpsPort}`, { createConnection: () => socket });
  session.on('error', () => undefined);
  try {
    await Promise.race([new Promise((resolve) => session.once('connect', resolve)), sleep(0.3)]);
    const body = query('example1.com');
    for (let count = 0; count < 1 + random(30) && !session.destroyed; count++) {
      const stream = session.request(
        pick(random, [
          { ':method': 'POST', ':path': '/dns-query', 'content-type': 'application/dns-message' },
          { ':path': `/dns-query?dns=${body.toString('base64url').slice(0, random(60))}` },
          { ':method': 'PUT', ':path': '/elsewhere' },
        ]),
      );
      stream.on('error', () => undefined);
      if (random(3) > 0) stream.write(pick(random, [body, body.subarray(0, 5), Buffer.alloc(9000)]));
      const end = random(4);
      if (end < 2) stream.close(random(14));
      else if (end === 2) stream.end();
    }
    await sleep(random(50) / 1000);
    if (random(2) === 0) session.close();
    await sleep(random(50) / 1000);
  } finally {
    if (random(2) === 0) socket.destroy();
    session.destroy();
  }
}

/** One hostile client, from its connection to its end. */
export async function attack(target: Target, random: Random): Promise<void> {
  const { address: host, port, tlsPort, httpsPort } = target;
  const localAddress = someAddress(random);
  switch (random(6)) {
    case 0:
      return overHttps(target, random);
    case 1: {
      const raw = connect({ host, port: pick(random, [tlsPort, httpsPort]), localAddress });
      raw.on('error', () => undefined);
      return misbehave(connectTls({ socket: raw, rejectUnauthorized: false }), random, raw);
    }
    // What is no TLS at all.
    case 2:
      return misbehave(connect({ host, port: pick(random, [tlsPort, httpsPort]), localAddress }), random);
    default:
      return misbehave(connect({ host, port, localAddress, allowHalfOpen: random(2) === 0 }), random);
  }
}
