/** Asks CoreDNS: names once, to fill its cache, or at a fixed rate, with every query accounted for. */
import { createSocket } from 'node:dgram';
import { numberOf, sleep } from './common.mjs';

/** By default as long as the resolver of the C library waits (resolv.conf(5), `timeout`). */
const LOST_AFTER_MS = numberOf('LOST_AFTER_MS', 5000);
const TICK_MS = 5;
const RECEIVE_BUFFER_BYTES = 4 * 2 ** 20;
/** While a cache is filled. */
const IN_FLIGHT = 200;
/** Longer without a look at the clock is a pause. On a busy machine, ticks are late as well, and a query is lost in time all the same. */
const PAUSE_MS = LOST_AFTER_MS / 4;
/** What is sent at once, at most: what a pause has left undone would overflow the socket of a server, which holds some 270. */
const AT_ONCE = 50;
/** Ids of a socket are 16 bits; half of them may be in use. */
const MAX_PENDING = 32_768;

const SERVFAIL = 2;

const TYPES = { A: 1, AAAA: 28 };

export function encodeQuery(id, name, type) {
  const labels = name.split('.').filter((label) => label !== '');
  const length = labels.reduce((sum, label) => sum + 1 + label.length, 0);
  const message = Buffer.alloc(12 + length + 1 + 4);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(0x0100, 2);
  message.writeUInt16BE(1, 4);
  let at = 12;
  for (const label of labels) {
    message[at] = label.length;
    message.write(label, at + 1, 'latin1');
    at += 1 + label.length;
  }
  message.writeUInt16BE(TYPES[type], at + 1);
  message.writeUInt16BE(1, at + 3);
  return message;
}

/** @param questions functions of a number: `(n) => ({ name, type, code })`, with the expected response code, null for any */
export async function openAsker({ address, port }) {
  // As much as the system allows: answers wait here while this program computes.
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(port, address, resolve);
  });
  const pending = new Map();
  const counts = { sent: 0, answered: 0, lost: 0, wrong: 0, servfail: 0 };
  let next = 0;
  let number = 0;
  let lookedAt = performance.now();
  let ran = 0;
  // A refused datagram is a query without an answer, and is counted as one.
  socket.on('error', () => undefined);
  socket.on('message', (message) => {
    if (message.length < 12) return;
    const id = message.readUInt16BE(0);
    const query = pending.get(id);
    if (query === undefined) return;
    pending.delete(id);
    counts.answered += 1;
    const code = message.readUInt16BE(2) & 0xf;
    if (query.code !== null && code !== query.code) counts.wrong += 1;
    if (code === SERVFAIL) counts.servfail += 1;
  });
  /** Milliseconds in which this program ran. While it, or all of the machine, is paused, no answer can be read, and perhaps none be given. */
  function ranMs() {
    const now = performance.now();
    ran += Math.min(now - lookedAt, PAUSE_MS);
    lookedAt = now;
    return ran;
  }
  function loseOld() {
    const end = ranMs() - LOST_AFTER_MS;
    for (const [id, { sentAt }] of pending) {
      if (sentAt > end) break;
      pending.delete(id);
      counts.lost += 1;
    }
  }
  function send(question) {
    const { name, type, code } = question(number);
    number += 1;
    next = (next + 1) % 0x10000;
    if (pending.has(next)) {
      pending.delete(next);
      counts.lost += 1;
    }
    pending.set(next, { sentAt: ranMs(), code });
    counts.sent += 1;
    socket.send(encodeQuery(next, name, type));
  }
  async function settle() {
    while (pending.size > 0) {
      loseOld();
      await sleep(TICK_MS / 1000);
    }
  }
  return {
    counts: () => ({ ...counts }),
    /** `count` queries as fast as they are answered, with some in flight. */
    async once(question, count) {
      for (let sent = 0; sent < count; ) {
        loseOld();
        while (pending.size < IN_FLIGHT && sent < count) {
          send(question);
          sent += 1;
        }
        await sleep(0.001);
      }
      await settle();
    },
    /** Asks at a rate until the returned function is called, which resolves when all queries are accounted for. */
    steadily(question, queriesPerSecond) {
      const begin = performance.now();
      let sent = 0;
      const timer = setInterval(() => {
        loseOld();
        const due = Math.floor(((performance.now() - begin) / 1000) * queriesPerSecond);
        const most = sent + AT_ONCE;
        while (sent < Math.min(due, most) && pending.size < MAX_PENDING) {
          send(question);
          sent += 1;
        }
      }, TICK_MS);
      return async () => {
        clearInterval(timer);
        await settle();
      };
    },
    close: () => socket.close(),
  };
}
