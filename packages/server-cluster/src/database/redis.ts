/**
 * Records in Redis: the string key `dns:NAME` for each name. A client of four commands, which sends what one turn of
 * the event loop asks for in one write (pipelining) and reads replies in order (RESP2).
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@dinodns-bench/program';
import { ServerError } from '../errors.ts';
import type { RecordDatabase } from './record-database.ts';
import { ReplyReader } from './redis-replies.ts';

const PREFIX = 'dns:';

/** Names in one MSET when filling. */
const BATCH = 1000;

/** A command as an array of bulk strings. */
function encodeCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Redis may be starting at the same time. */
const CONNECT_SECONDS = 5;
const RETRY_SECONDS = 0.05;

function connectOnce(where: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(endpointOf(where));
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

async function connectTo(where: string): Promise<Socket> {
  const end = performance.now() + CONNECT_SECONDS * 1000;
  for (;;) {
    try {
      return await connectOnce(where);
    } catch (error) {
      if (performance.now() < end) {
        await sleep(RETRY_SECONDS * 1000);
        continue;
      }
      throw new ServerError(
        'E_UNREADABLE',
        `Redis at ${where} does not answer: ${messageOf(error)}`,
        'Start it, or correct --store redis:HOST:PORT.',
        error,
      );
    }
  }
}

/** Where the text leads: a path, or an address and a port. */
function endpointOf(where: string) {
  if (where.startsWith('/')) return { path: where };
  const [, host, port] = /^(.+):(\d+)$/.exec(where) ?? [];
  return { host: host ?? where, port: Number(port ?? 6379) };
}

/** Connects. Rejects with `E_UNREADABLE`. Once the connection is lost, every read rejects. */
export async function openRedis(where: string): Promise<RecordDatabase> {
  const socket = await connectTo(where);
  const replies = new ReplyReader();
  let outgoing = '';
  socket.on('data', (bytes) => replies.read(bytes));
  socket.on('error', (error) => replies.fail(error));
  socket.on('close', () => replies.fail(new Error(`Redis at ${where} closed the connection`)));
  const send = (words: readonly string[]) => {
    if (outgoing === '') {
      setImmediate(() => {
        socket.write(outgoing);
        outgoing = '';
      });
    }
    outgoing += encodeCommand(words);
    return replies.next();
  };
  return {
    async read(names) {
      const reply = await send(['MGET', ...names.map((name) => PREFIX + name)]);
      return Array.isArray(reply) ? reply : names.map(() => null);
    },
    async fill(entries) {
      const pairs = Array.from(entries, ([name, text]) => [PREFIX + name, text]);
      for (let start = 0; start < pairs.length; start += BATCH) {
        await send(['MSET', ...pairs.slice(start, start + BATCH).flat()]);
      }
    },
    close: () => socket.destroy(),
  };
}
