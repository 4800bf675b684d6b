/**
 * A simulated policy agent, on the node between a pod and a site. `node agent-program.mjs SETTINGS`, where SETTINGS is JSON:
 *
 *   mode, delaySeconds   as in `modes.ts`
 *   host                 the site's name, asked for before the agent is ready
 *   listen, upstream     { address, port } of the agent's own DNS port, and of the resolver behind it
 *   addresses            of the site; every answer gets the next, which the agent then has not seen yet
 *   interface, mac       the link to the site, and the site's Ethernet address
 *   ip                   path of ip(8)
 *
 * Packets are real and the kernel handles them: an address that is not let through has a blackhole route (NoDelay: the
 * kernel drops the packet) or no known Ethernet address (DelayDeniedPacket: the kernel holds the packet until it knows it). After
 * the delay, the agent changes that by way of ip(8), which is running all the time and reads commands.
 * Prints {"ready":true,"port":53} when it is ready, and {"answers":12} at its end (SIGTERM).
 */
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const settings = JSON.parse(process.argv[2]);
const { mode, delaySeconds, host, listen, upstream, addresses, interface: link, mac, ip } = settings;

/** Timers are only good to about a millisecond: the rest of the time is spent looking at the clock. */
const SPIN_MILLISECONDS = 2;
/** After so many answers V8 has compiled what handles them: an agent of a real node has run for long, too. */
const WARM_UP_ANSWERS = 300;
const WARM_UP_MILLISECONDS = 5000;
/** An address is taken away again half a turn later: no connection lasts so long. */
const TURN = Math.floor(addresses.length / 2);

const withholds = delaySeconds > 0;
const known = (address) => `neigh replace ${address} lladdr ${mac} dev ${link} nud permanent`;
const RULES = {
  NoDelay: {
    deny: (address) => `route replace blackhole ${address}/32`,
    permit: (address) => `route del blackhole ${address}/32`,
  },
  DelayDeniedPacket: {
    deny: (address) => `neigh del ${address} dev ${link}`,
    permit: known,
  },
};
const rules = withholds ? RULES[mode] : undefined;

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** As it must be before the first answer, whatever an agent before this one has left. */
function prepare() {
  const clear = `neigh flush dev ${link} nud all\nroute flush type blackhole\n`;
  const neighbours = mode === 'DelayDeniedPacket' && withholds ? [] : addresses.map(known);
  const routes = mode === 'NoDelay' && withholds ? addresses.map(RULES.NoDelay.deny) : [];
  const input = `${clear}${[...neighbours, ...routes].join('\n')}\n`;
  const { status, stderr } = spawnSync(ip, ['-force', '-batch', '-'], { input, encoding: 'utf8' });
  if (status !== 0) fail(stderr);
}

function after(seconds, action) {
  if (seconds === 0) return action();
  const end = performance.now() + seconds * 1000;
  const spin = () => (performance.now() < end ? setImmediate(spin) : action());
  setTimeout(spin, Math.max(0, seconds * 1000 - SPIN_MILLISECONDS));
}

/** The end of the name that begins at `at`. */
function afterName(message, at) {
  let next = at;
  while (message[next] !== 0) {
    if (message[next] >= 0xc0) return next + 2;
    next += message[next] + 1;
  }
  return next + 1;
}

/** Where the addresses of the A records of an answer are (RFC 1035, section 4.1). */
function addressOffsets(message) {
  const offsets = [];
  let at = 12;
  for (let left = message.readUInt16BE(4); left > 0; left -= 1) at = afterName(message, at) + 4;
  for (let left = message.readUInt16BE(6); left > 0; left -= 1) {
    const data = afterName(message, at) + 10;
    if (message.readUInt16BE(data - 10) === 1) offsets.push(data);
    at = data + message.readUInt16BE(data - 2);
  }
  return offsets;
}

prepare();
const batch = spawn(ip, ['-force', '-batch', '-'], { stdio: ['pipe', 'ignore', 'inherit'] });
batch.on('exit', () => fail(`${ip} -batch ended`));

let turn = 0;
let answers = 0;
let isWarm = false;

/** The next address; the one half a turn ahead is denied again. */
function nextAddress() {
  const address = addresses[turn % addresses.length];
  if (rules !== undefined && turn >= TURN)
    batch.stdin.write(`${rules.deny(addresses[(turn + TURN) % addresses.length])}\n`);
  turn += 1;
  return address;
}

const inside = createSocket('udp4');
const outside = createSocket('udp4');
const clients = new Map();
let nextId = 0;

inside.on('message', (query, client) => {
  nextId = (nextId + 1) % 0x10000;
  clients.set(nextId, { client, id: query.readUInt16BE(0) });
  query.writeUInt16BE(nextId, 0);
  outside.send(query, upstream.port, upstream.address);
});

outside.on('message', (answer) => {
  const waiting = clients.get(answer.readUInt16BE(0));
  if (waiting === undefined) return;
  clients.delete(answer.readUInt16BE(0));
  answer.writeUInt16BE(waiting.id, 0);
  const offsets = addressOffsets(answer);
  const send = () => inside.send(answer, waiting.client.port, waiting.client.address);
  if (offsets.length === 0 || !isWarm) return send();
  answers += 1;
  const address = nextAddress();
  for (const offset of offsets) Buffer.from(address.split('.').map(Number)).copy(answer, offset);
  if (mode === 'DelayDNSResponse') return after(delaySeconds, send);
  send();
  if (rules !== undefined) after(delaySeconds, () => batch.stdin.write(`${rules.permit(address)}\n`));
});

for (const socket of [inside, outside]) socket.on('error', (error) => fail(error.message));
process.on('SIGTERM', () => {
  console.log(JSON.stringify({ answers }));
  batch.removeAllListeners('exit');
  batch.kill();
  process.exit(0);
});
/** A query for the address of a name (RFC 1035, section 4.1). */
function queryOf(name, id) {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([id >> 8, id & 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
}

/** Asks itself, one query after the other, until it has answered often enough. */
async function warmUp() {
  const client = createSocket('udp4');
  const end = performance.now() + WARM_UP_MILLISECONDS;
  await new Promise((resolve) => client.bind(0, listen.address, resolve));
  for (let id = 1; id <= WARM_UP_ANSWERS && performance.now() < end; id += 1) {
    const answered = once(client, 'message', { signal: AbortSignal.timeout(WARM_UP_MILLISECONDS) });
    client.send(queryOf(host, id), listen.port, listen.address);
    await answered;
  }
  client.close();
  isWarm = true;
}

inside.bind(listen.port, listen.address, async () => {
  await warmUp();
  console.log(JSON.stringify({ ready: true, port: inside.address().port }));
});
