/** Asks for one name at short intervals, until it has an address. */
import { createSocket } from 'node:dgram';
import { encodeQuery } from './asker.mjs';
import { now } from './services.mjs';

const HEADER = 12;
const TYPE_A = 1;
const POINTER = 0xc0;

function skipName(message, begin) {
  let at = begin;
  while (message[at] !== 0) {
    if ((message[at] & POINTER) === POINTER) return at + 2;
    at += 1 + message[at];
  }
  return at + 1;
}

/** The address of an answer with one A record; null for any other. */
export function addressOf(message) {
  const code = message.readUInt16BE(2) & 0xf;
  if (code !== 0 || message.readUInt16BE(4) !== 1 || message.readUInt16BE(6) !== 1) return null;
  const record = skipName(message, skipName(message, HEADER) + 4);
  if (message.readUInt16BE(record) !== TYPE_A) return null;
  return [...message.subarray(record + 10, record + 14)].join('.');
}

export async function openPoller({ address, port }) {
  const socket = createSocket('udp4');
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(port, address, resolve);
  });
  // A refused datagram is a query without an answer.
  socket.on('error', () => undefined);
  let id = 0;
  let current;
  socket.on('message', (message) => {
    const at = now();
    if (message.length >= HEADER) current?.(message, at);
  });
  return {
    /**
     * Begins at once. `until(deadline)` resolves with when the first address came, one of `wanted` where that is given, and
     * which it was, both null after the deadline; when the last query was sent that was answered otherwise; and how many queries there were.
     */
    watch(name, intervalMs, wanted) {
      const sent = new Map();
      const seen = { answeredAt: null, address: null, lastWrongSentAt: null, queries: 0 };
      const { promise, resolve } = Promise.withResolvers();
      current = (message, at) => {
        const sentAt = sent.get(message.readUInt16BE(0));
        if (sentAt === undefined) return;
        const found = addressOf(message);
        if (found === null || wanted?.includes(found) === false)
          seen.lastWrongSentAt = Math.max(seen.lastWrongSentAt ?? sentAt, sentAt);
        else if (seen.answeredAt === null) {
          Object.assign(seen, { answeredAt: at, address: found });
          resolve();
        }
      };
      const ask = () => {
        id = (id + 1) % 0x10000;
        sent.set(id, now());
        seen.queries += 1;
        socket.send(encodeQuery(id, name, 'A'));
      };
      ask();
      const timer = setInterval(ask, intervalMs);
      return {
        async until(deadline) {
          const late = setTimeout(resolve, Math.max(0, deadline - now()) * 1000);
          await promise;
          clearTimeout(late);
          clearInterval(timer);
          current = undefined;
          return seen;
        },
      };
    },
    close: () => socket.close(),
  };
}
