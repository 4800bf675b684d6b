/** Sequences of HTTP/2 frames on one TLS connection, and the replies in the streams. */

import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import {
  DOH_MEDIA_TYPE,
  DOH_PATH,
  encodeName,
  encodeOpt,
  encodeQuery,
  MAX_MESSAGE_BYTES,
  TYPE,
} from '@dinodns-bench/wire';
import { makeCertificates } from '../../packages/bench-cli/src/certificates/certificates.ts';
import { HttpsNetwork } from '../../packages/server-cluster/src/network/https.ts';
import { createAnswerTable } from '../../packages/server-cluster/src/table/answer-table.ts';
import { ensure, type Target } from '../engine/target.ts';
import { checkReply } from '../reply.ts';
import { caughtErrors, smallStore } from '../served.ts';

/** RFC 9113, section 6. */
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const;
const HEAD_BYTES = 9;
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** A server that does nothing else answers a PING within a millisecond; this one shares its thread with the client. */
const PATIENCE_SECONDS = 5;
/** Less than that by as much as a busy machine may be late. */
const IDLE_SECONDS = 2;

/** What a step of an input does; it begins with this, a stream, and the length of the bytes that it is given. */
const STEP = [
  'post',
  'get',
  'path',
  'data',
  'end',
  'reset',
  'window',
  'settings',
  'raw',
  'trailers',
  'close',
] as const;
type Action = (typeof STEP)[number];
const STREAMS = 8;

interface Step {
  readonly action: Action;
  /** Odd, as those that clients open. */
  readonly stream: number;
  readonly bytes: Buffer;
}

function stepsOf(input: Buffer): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at + 3 <= input.length; ) {
    const [kind = 0, selector = 0, length = 0] = input.subarray(at, at + 3);
    const bytes = input.subarray(at + 3, at + 3 + length);
    steps.push({ action: STEP[kind % STEP.length] as Action, stream: 2 * (selector % STREAMS) + 1, bytes });
    at += 3 + length;
  }
  return steps;
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.set([type, flags], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A string of HPACK without Huffman coding (RFC 7541, section 5.2). */
function text(value: Buffer): Buffer {
  const { length } = value;
  if (length < 127) return Buffer.concat([Buffer.of(length), value]);
  const rest = length - 127;
  const size = rest < 128 ? [127, rest] : [127, (rest & 127) | 128, rest >> 7];
  return Buffer.concat([Buffer.from(size), value]);
}

/** Fields that no table remembers (RFC 7541, section 6.2.2). */
function fields(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts = Object.entries(entries).map(([name, value]) =>
    Buffer.concat([Buffer.of(0), text(Buffer.from(name)), text(Buffer.from(value))]),
  );
  return Buffer.concat(parts);
}

function request(stream: number, method: string, path: string | Buffer, ends: boolean): Buffer {
  const head = { ':method': method, ':scheme': 'https', ':authority': 'dns.test', ':path': path };
  const all = method === 'POST' ? { ...head, 'content-type': DOH_MEDIA_TYPE } : head;
  return frame(FRAME.headers, FLAG.endHeaders | (ends ? FLAG.endStream : 0), stream, fields(all));
}

function frameOf({ action, stream, bytes }: Step): Buffer {
  const word = Buffer.alloc(4);
  switch (action) {
    case 'post':
      return request(stream, 'POST', DOH_PATH, false);
    case 'get':
      return request(stream, 'GET', `${DOH_PATH}?dns=${bytes.toString('base64url')}`, true);
    case 'path':
      return request(stream, 'GET', bytes, true);
    case 'data':
      return frame(FRAME.data, 0, stream, bytes);
    case 'end':
      return frame(FRAME.data, FLAG.endStream, stream, bytes);
    case 'reset':
      return frame(FRAME.reset, 0, stream, Buffer.concat([bytes, word]).subarray(0, 4));
    case 'window':
      return frame(FRAME.windowUpdate, 0, stream - 1, Buffer.concat([bytes, word]).subarray(0, 4));
    case 'settings':
      return frame(FRAME.settings, 0, 0, bytes.subarray(0, bytes.length - (bytes.length % 6)));
    case 'raw':
      return frame(bytes[0] ?? 0, bytes[1] ?? 0, stream - 1, bytes.subarray(2));
    case 'trailers':
      return frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, stream, bytes);
    case 'close':
      return Buffer.alloc(0);
  }
}

interface Response {
  hasHead: boolean;
  isEnded: boolean;
  readonly body: Buffer[];
}

/** Responses by stream, and whether a PING of ours was answered. */
function readFrames(bytes: Buffer): { responses: Map<number, Response>; pings: number } {
  const responses = new Map<number, Response>();
  let pings = 0;
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
    const [type, flags = 0] = bytes.subarray(at + 3, at + 5);
    const stream = bytes.readUInt32BE(at + 5);
    if (type === FRAME.ping && (flags & FLAG.ack) !== 0 && bytes.toString('latin1', end - 8, end) === DONE)
      pings++;
    if (end <= bytes.length && (type === FRAME.headers || type === FRAME.data)) {
      const response = responses.get(stream) ?? { hasHead: false, isEnded: false, body: [] };
      responses.set(stream, response);
      if (type === FRAME.headers) response.hasHead = true;
      else response.body.push(bytes.subarray(at + HEAD_BYTES, end));
      if ((flags & FLAG.endStream) !== 0) response.isEnded = true;
    }
    at = end;
  }
  return { responses, pings };
}

const DONE = 'all done';

const caught = caughtErrors();
const { log } = caught;
let network: HttpsNetwork | undefined;

async function openNetwork(): Promise<HttpsNetwork> {
  const { certificate, key } = makeCertificates(['127.0.0.1'], new Date());
  const tls = { cert: Buffer.from(certificate), key: Buffer.from(key), ticketKeys: Buffer.alloc(48, 1) };
  const responder = createAnswerTable(smallStore());
  // After a GOAWAY and a frame for a stream that was never opened, Node.js neither answers nor closes: the idle limit ends the connection.
  const options = { address: '127.0.0.1', port: 0, idleSeconds: IDLE_SECONDS, tls, responder, log };
  const opened = new HttpsNetwork(options);
  await opened.open();
  opened.server.unref();
  return opened;
}

/** A client of one connection, which keeps all it receives. */
async function connected(port: number): Promise<{ socket: TLSSocket; received: Buffer[] }> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(Buffer.from(chunk)));
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return { socket, received };
}

/** Waits until the answers to `pings` PINGs are there, or the server has closed the connection. */
async function settled(socket: TLSSocket, received: Buffer[], pings: number): Promise<void> {
  const end = performance.now() + PATIENCE_SECONDS * 1000;
  for (let turns = 0; !socket.closed && !socket.readableEnded; turns++) {
    if (readFrames(Buffer.concat(received)).pings >= pings) return;
    ensure(performance.now() < end, `a PING is not answered within ${PATIENCE_SECONDS} s`);
    if (turns < 20) await nextTurn();
    else await wait(1);
  }
}

/** The messages that are asked in each stream, if every step is what a client does; undefined otherwise. */
function askedIn(steps: readonly Step[]): Map<number, Buffer> | undefined {
  const asked = new Map<number, Buffer>();
  const bodies = new Map<number, Buffer>();
  let last = 0;
  for (const { action, stream, bytes } of steps) {
    if (action === 'post' || action === 'get') {
      if (stream <= last) return undefined;
      last = stream;
      if (action === 'get') asked.set(stream, bytes);
      else bodies.set(stream, Buffer.alloc(0));
      continue;
    }
    const body = bodies.get(stream);
    if ((action !== 'data' && action !== 'end') || body === undefined || asked.has(stream)) return undefined;
    const whole = Buffer.concat([body, bytes]);
    bodies.set(stream, whole);
    if (action === 'end') asked.set(stream, whole);
  }
  return asked;
}

async function check(input: Buffer): Promise<void> {
  network ??= await openNetwork();
  const steps = stepsOf(input);
  const { socket, received } = await connected(network.port);
  try {
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
    const closeAt = steps.findIndex(({ action }) => action === 'close');
    socket.write(Buffer.concat(steps.slice(0, closeAt === -1 ? steps.length : closeAt).map(frameOf)));
    const ping = frame(FRAME.ping, 0, 0, Buffer.from(DONE));
    // Bodies end a turn or two of the event loop after their last frame was read.
    for (let pings = 1; closeAt === -1 && pings <= 3 && !socket.closed; pings++) {
      socket.write(ping);
      await settled(socket, received, pings);
    }
  } finally {
    socket.destroy();
  }
  caught.ensureNone();
  // The server hears of the end a moment later; none may stay open for longer.
  for (let turns = 0; network.totals.open > 0; turns++) {
    ensure(turns < 2000, 'a connection stays open after its client has closed it');
    if (turns < 20) await nextTurn();
    else await wait(1);
  }
  const asked = askedIn(steps);
  if (asked === undefined) return;
  const { responses } = readFrames(Buffer.concat(received));
  for (const [stream, message] of asked) {
    const response = responses.get(stream);
    ensure(response?.isEnded === true, `stream ${stream} has no whole response`);
    const reply = Buffer.concat(response.body);
    if (reply.length > 0) checkReply(reply, message, MAX_MESSAGE_BYTES);
  }
}

const step = (action: Action, stream: number, bytes: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([Buffer.of(STEP.indexOf(action), (stream - 1) / 2, bytes.length), bytes]);
const ask = (name: string, type: number, opt: Buffer | null = null) =>
  encodeQuery({ id: 0, name: encodeName(name), type, opt });
const a = ask('a.z.test', TYPE.A);

export const http2: Target = {
  name: 'http2',
  title: 'sequences of HTTP/2 frames on a TLS connection (server-cluster)',
  maxBytes: 1500,
  dictionary: [
    ...STEP.map((_action, kind) => String.fromCharCode(kind, 1, 8)),
    DOH_PATH,
    '?dns=',
    '\x00\x04\x00\x00\x00\x00',
  ],
  seeds: () => [
    step('get', 1, a),
    Buffer.concat([step('post', 1), step('data', 1, a.subarray(0, 9)), step('end', 1, a.subarray(9))]),
    Buffer.concat([
      step('get', 1, ask('large.z.test', TYPE.TXT, encodeOpt({ dnssecOk: true }))),
      step('post', 3),
      step('get', 5, ask('none.z.test', TYPE.A)),
      step('end', 3, ask('b.test', TYPE.NS)),
    ]),
    Buffer.concat([
      step('post', 1),
      step('data', 1, a),
      step('reset', 1),
      step('get', 3, a),
      step('close', 1),
    ]),
    Buffer.concat([step('path', 1, Buffer.from('/')), step('post', 3), step('trailers', 3)]),
    Buffer.concat([
      step('settings', 1, Buffer.of(0, 4, 0, 0, 0, 1)),
      step('get', 3, a),
      step('window', 1, Buffer.of(0, 0, 1, 0)),
      step('raw', 1, Buffer.of(FRAME.goAway, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    ]),
    Buffer.concat([step('post', 1), ...Array.from({ length: 17 }, () => step('data', 1, Buffer.alloc(255)))]),
  ],
  check,
};
