/**
 * The canary: a client of the cluster's DNS during a swap. It sends queries at a low, constant rate through the Service,
 * each from a socket of its own, as the programs of a cluster do. Needs nothing but Node.js.
 *
 * Settings (environment): SERVER, PORT, RATE (queries per second), NAME, TIMEOUT (seconds).
 * Output: a JSON object for each second of sending, once the fate of all its queries is known: `second`, `sent`, and `lost`:
 * those without an answer in time, or with SERVFAIL or REFUSED.
 */
import { createSocket } from 'node:dgram';

const { SERVER = '127.0.0.1', PORT = '53', RATE = '20', NAME = 'localhost', TIMEOUT = '2' } = process.env;
const timeoutMs = Number(TIMEOUT) * 1000;
const intervalMs = 1000 / Number(RATE);
const FAILURES = new Set([2, 5]);

const labels = NAME.split('.').filter((label) => label !== '');
const question = Buffer.concat([
  ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
  Buffer.from([0, 0, 1, 0, 1]),
]);

function queryOf(id) {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(0x0100, 2);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, question]);
}

const seconds = new Map();
let last = 0;

function countOf(second) {
  const count = seconds.get(second) ?? { sent: 0, lost: 0, open: 0 };
  seconds.set(second, count);
  return count;
}

/** Tells the seconds whose queries have all been answered or lost, in order. */
function tell(now) {
  for (const [second, { sent, lost, open }] of seconds) {
    if (second >= now || open > 0) return;
    console.log(JSON.stringify({ event: 'second', second, sent, lost }));
    seconds.delete(second);
  }
}

function ask(number, second) {
  const id = number & 0xffff;
  const count = countOf(second);
  count.sent += 1;
  count.open += 1;
  const socket = createSocket(SERVER.includes(':') ? 'udp6' : 'udp4');
  let isOver = false;
  const end = (isLost) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    socket.close();
    count.open -= 1;
    if (isLost) count.lost += 1;
    tell(last);
  };
  const timer = setTimeout(() => end(true), timeoutMs);
  // A port that nobody listens on: lost, as if there were no answer.
  socket.on('error', () => end(true));
  socket.on('message', (answer) => {
    if (answer.length < 12 || answer.readUInt16BE(0) !== id) return;
    end(FAILURES.has(answer[3] & 15));
  });
  socket.send(queryOf(id), Number(PORT), SERVER, (error) => {
    if (error) end(true);
  });
}

const startedAt = performance.now();
let sent = 0;
setInterval(() => {
  const elapsed = performance.now() - startedAt;
  last = Math.floor(elapsed / 1000);
  // On schedule: what a late timer has missed is sent at once.
  for (; sent * intervalMs <= elapsed; sent += 1) ask(sent, Math.floor((sent * intervalMs) / 1000));
  tell(last);
}, intervalMs / 2);
