/**
 * Where the loaders of a case wait for each other: in a process of its own on this machine, in a pod on a cluster. Needs
 * nothing but Node.js. `packages/load/src/gate.ts` has the protocol.
 *
 * Settings (environment): LOADERS, how many; ADDRESS to listen on, default all.
 * Output, a JSON object on each line: `listening` with the address and the port to connect to; `clock` with what a loader's clock
 * is ahead of this program's and the round trip in which that was read, in seconds; `go`; and `started` and `ended` with the
 * loader's number and the time since `go`, by this program's clock.
 * Exit status 0 when all loaders have left, 1 if one leaves before `go`.
 */
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

const { LOADERS = '1', ADDRESS } = process.env;
/** Of these readings of a loader's clock, the one in the shortest round trip counts: it is wrong by half of that at most. */
const READINGS = 5;

const waiting = new Map();
const clocks = new Map();
const isKnown = new Set();
let wentAt;
let left = 0;

const tell = (event) => console.log(JSON.stringify(event));

function ownAddress() {
  const all = Object.values(networkInterfaces()).flat();
  return all.find(({ internal }) => !internal)?.address ?? '127.0.0.1';
}

const unixSeconds = () => (performance.timeOrigin + performance.now()) / 1000;

function askClock(loader, readings) {
  clocks.set(loader, { readings, askedAt: unixSeconds() });
  waiting.get(loader).write('time\n');
}

function hearClock(loader, clock) {
  const { readings, askedAt } = clocks.get(loader);
  const roundTripSeconds = unixSeconds() - askedAt;
  const offsetSeconds = clock - (askedAt + roundTripSeconds / 2);
  readings.push({ offsetSeconds, roundTripSeconds });
  if (readings.length < READINGS) {
    askClock(loader, readings);
    return;
  }
  const [best] = readings.toSorted((a, b) => a.roundTripSeconds - b.roundTripSeconds);
  // A shell older than bash 5 has no clock to tell.
  if (clock > 0) tell({ event: 'clock', loader, ...best });
  isKnown.add(loader);
  if (isKnown.size < Number(LOADERS)) return;
  wentAt = performance.now();
  for (const ready of waiting.values()) ready.write('go\n');
  tell({ event: 'go' });
}

function hear(socket, line) {
  const [what, index, value] = line.split(' ');
  const loader = Number(index);
  if (what === 'ready') {
    waiting.set(loader, socket);
    askClock(loader, []);
  } else if (what === 'time') {
    // In the shell's locale.
    hearClock(loader, Number(value.replace(',', '.')));
  } else if (wentAt !== undefined) {
    tell({ event: what, loader, atSeconds: (performance.now() - wentAt) / 1000 });
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest = '';
  socket.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(socket, line);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (![...waiting.values()].includes(socket)) return;
    if (wentAt === undefined) process.exit(1);
    left += 1;
    if (left === waiting.size) process.exit(0);
  });
});
server.listen(0, ADDRESS, () => {
  tell({ event: 'listening', address: ADDRESS ?? ownAddress(), port: server.address().port });
});
