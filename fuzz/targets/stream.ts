/** Sequences of messages on one TCP connection, cut anywhere, and the replies to them. */

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { encodeName, encodeOpt, encodeQuery, MAX_MESSAGE_BYTES, TYPE } from '@dinodns-bench/wire';
import { Cookies } from '../../packages/server-cluster/src/limits/cookies.ts';
import { readRequest } from '../../packages/server-cluster/src/network/https-message.ts';
import { RobustTcpNetwork } from '../../packages/server-cluster/src/network/tcp.ts';
import { MAX_QUERY_BYTES, TcpConnection } from '../../packages/server-cluster/src/network/tcp-connection.ts';
import { createAnswerTable } from '../../packages/server-cluster/src/table/answer-table.ts';
import { ensure, type Target } from '../engine/target.ts';
import { checkReply } from '../reply.ts';
import { caughtErrors, smallStore } from '../served.ts';

const LENGTH_BYTES = 2;
const responder = createAnswerTable(smallStore());

/** The client's end: what it sends goes in as it comes from a socket, what it gets is kept. */
class Wire extends Duplex {
  readonly remoteAddress = '192.0.2.7';
  readonly remotePort = 4711;
  readonly got: Buffer[] = [];

  constructor() {
    // A client that reads all there is: nothing waits for a turn of the event loop.
    super({ writableHighWaterMark: 2 ** 24 });
  }

  setNoDelay(): this {
    return this;
  }
  override _read(): void {
    // What it sends is emitted.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.got.push(chunk);
    done();
  }
}

/** Complete messages at the beginning of the stream, up to one that ends the connection by its length. */
function messagesIn(stream: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + LENGTH_BYTES <= stream.length; ) {
    const length = stream.readUInt16BE(at);
    const end = at + LENGTH_BYTES + length;
    if (length > MAX_QUERY_BYTES || end > stream.length) break;
    messages.push(stream.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return messages;
}

const caught = caughtErrors();
const { log } = caught;
/** Cookies hold the time, which would make two answers differ. */
class CookiesOfOneSecond extends Cookies {
  override read(...[bytes, offset, query, addresses, addressAt]: Parameters<Cookies['read']>) {
    return super.read(bytes, offset, query, addresses, addressAt, 1_800_000_000);
  }
}
const cookies = new CookiesOfOneSecond([Buffer.alloc(16, 1)]);
const network = new RobustTcpNetwork({ address: '127.0.0.1', port: 0, responder, cookies, log });

function serve(stream: Buffer, pieces: readonly number[]): Buffer {
  const wire = new Wire();
  const socket = wire as unknown as Socket;
  const connection = new TcpConnection(socket, { socket, lastQueryAt: 0 }, network);
  for (let at = 0, index = 0; at < stream.length && !wire.destroyed && !wire.isPaused(); index++) {
    const size = Math.max(1, pieces[index % pieces.length] ?? 1);
    wire.emit('data', Buffer.from(stream.subarray(at, at + size)));
    at += size;
    const most = LENGTH_BYTES + MAX_QUERY_BYTES + size + wire.writableLength;
    ensure(
      connection.bufferedBytes <= most,
      () => `${connection.bufferedBytes} bytes are kept for a connection`,
    );
  }
  caught.ensureNone();
  const output = Buffer.concat(wire.got);
  wire.destroy();
  return output;
}

/** The same message in a request over HTTPS. */
function checkHttps(message: Buffer): void {
  const path = `/dns-query?dns=${message.toString('base64url')}`;
  const request = readRequest({ ':method': 'GET', ':path': path });
  if (request.kind === 'message') ensure(request.message.equals(message), 'GET gives another message');
  else ensure(message.length === 0 || message.length > MAX_QUERY_BYTES, `GET is ${request.kind}`);
  readRequest({ ':method': 'GET', ':path': `/dns-query?${message.toString('latin1')}` });
  readRequest({ ':method': 'POST', ':path': '/dns-query', 'content-type': message.toString('latin1') });
}

const framed = (...messages: Buffer[]) =>
  Buffer.concat(
    messages.map((message) => Buffer.concat([Buffer.of(message.length >> 8, message.length & 255), message])),
  );
const ask = (name: string, type: number, opt: Buffer | null = null) =>
  encodeQuery({ id: 7, name: encodeName(name), type, opt });
const cookie = encodeOpt({ options: [{ code: 10, data: Buffer.alloc(8, 3) }] });

export const stream: Target = {
  name: 'stream',
  title: 'sequences of messages over TCP, and in HTTPS requests (server-cluster)',
  maxBytes: 8000,
  dictionary: [
    '\x00\x00',
    '\x00\x0c',
    '\x10\x00',
    '\x10\x01',
    '\xff\xff',
    '\x01a\x01z\x04test\x00\x00\x01\x00\x01',
    '\x00\x0a\x00\x08',
  ],
  // The first four bytes are the sizes of the pieces in which the rest arrives.
  seeds: () =>
    [
      framed(ask('a.z.test', TYPE.A)),
      framed(
        ask('a.z.test', TYPE.A),
        ask('none.z.test', TYPE.A, encodeOpt({ dnssecOk: true })),
        ask('b.test', TYPE.NS),
      ),
      framed(
        ask('large.z.test', TYPE.TXT, cookie),
        ask('large.z.test', TYPE.ANY),
        ask('z.test', TYPE.AXFR ?? 252),
      ),
      framed(Buffer.alloc(0), Buffer.alloc(11), ask('a.z.test', TYPE.A), Buffer.alloc(4096)),
    ].map((messages) => Buffer.concat([Buffer.of(1, 255, 2, 40), messages])),
  check(input) {
    if (input.length < 5) return;
    const pieces = [...input.subarray(0, 4)];
    const bytes = input.subarray(4);
    const asked = messagesIn(bytes);
    const output = serve(bytes, pieces);
    const replies = repliesIn(output);
    ensure(replies.length <= asked.length, `${replies.length} replies to ${asked.length} messages`);
    // Everything here is answered at once, and so in order; what is unanswerable ends the connection.
    for (const [index, reply] of replies.entries())
      checkReply(reply, asked[index] as Buffer, MAX_MESSAGE_BYTES);
    ensure(output.equals(serve(bytes, [bytes.length])), 'the sizes of the pieces decide');
    for (const message of asked.slice(0, 3)) checkHttps(message);
  },
};

/** Replies may be longer than queries. */
function repliesIn(output: Buffer): Buffer[] {
  const replies: Buffer[] = [];
  for (let at = 0; at < output.length; ) {
    ensure(at + LENGTH_BYTES <= output.length, 'half a length');
    const end = at + LENGTH_BYTES + output.readUInt16BE(at);
    ensure(end <= output.length, 'half a reply');
    replies.push(output.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return replies;
}
