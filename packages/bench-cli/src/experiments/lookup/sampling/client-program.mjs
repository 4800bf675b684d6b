/**
 * The built-in client: takes samples as curl does, each in a process of its own, with a clock of nanoseconds. Needs
 * nothing but Node.js.
 *
 * `node client-program.mjs URL SECONDS` prints the lines that `sampler.ts` describes. Each sample is a child that looks the
 * name up with getaddrinfo (dns.lookup), connects to the first address, sends a GET request and reads the answer. A child
 * says that it is ready before its clock starts, so that starting Node.js does not count; nothing runs beside it then.
 */
import { spawn } from 'node:child_process';
import { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const LIMIT_MILLISECONDS = 8000;
/** curl's exit statuses for the same failures. */
const EXIT = { unresolved: 6, unconnected: 7, timeout: 28, empty: 52, broken: 56 };

const uptime = () => readFileSync('/proc/uptime', 'utf8').split(' ')[0].replace('.', '');

function kernelRepeats() {
  const [names = [], values = []] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '));
  return values[names.indexOf('TCPSynRetrans')];
}

/** What Node.js does once for its first connection is done before the clock starts. */
function warmUp() {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.resume().end('x'));
    server.listen(0, '127.0.0.1', () => {
      const socket = connect(server.address().port, '127.0.0.1', () => socket.write('x'));
      socket.on('data', () => undefined);
      socket.on('close', () => server.close(resolve));
    });
    lookup('127.0.0.1', { all: true }, () => undefined);
  });
}

const fail = (status) => process.exit(status);

function sample(url) {
  const { hostname, port, pathname, search } = new URL(url);
  const seconds = (from, to) => (Number(to - from) / 1e9).toFixed(9);
  setTimeout(() => fail(EXIT.timeout), LIMIT_MILLISECONDS);
  const start = process.hrtime.bigint();
  lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
    const resolved = process.hrtime.bigint();
    if (error) return fail(EXIT.unresolved);
    let connected;
    let firstByte;
    let status = '000';
    const socket = connect({ host: addresses[0].address, port: Number(port) || 80, noDelay: true });
    socket.on('error', () => fail(connected === undefined ? EXIT.unconnected : EXIT.broken));
    socket.on('connect', () => {
      connected = process.hrtime.bigint();
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (data) => {
      firstByte ??= process.hrtime.bigint();
      status = /^HTTP\/1\.\d (\d{3})/.exec(data.toString('latin1'))?.[1] ?? status;
    });
    const { address } = addresses[0];
    socket.on('end', () => {
      if (firstByte === undefined) return fail(EXIT.empty);
      const times = [resolved, connected, firstByte, process.hrtime.bigint()].map((at) => seconds(start, at));
      process.stdout.write([...times, address, socket.localPort, status].join('|'), () => process.exit(0));
    });
  });
}

async function runChild(url) {
  await warmUp();
  process.stdin.once('data', () => sample(url));
  process.stdout.write('ready\n');
}

/** Resolves with the text between the sample's time and its exit status, and with that status. */
function takeSample(url) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--child', url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let at = uptime();
    let text = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (data) => {
      text += data;
      if (text !== 'ready\n') return;
      text = '';
      at = uptime();
      child.stdin.write('go\n');
    });
    child.on('close', (code, signal) => resolve(`sample|${at}|${text}|${signal === null ? code : 137}`));
  });
}

async function runLoop(url, seconds) {
  const end = performance.now() + seconds * 1000;
  console.log(`kernel|begin|${kernelRepeats()}`);
  while (performance.now() < end) console.log(await takeSample(url));
  console.log(`kernel|end|${kernelRepeats()}`);
}

const [first, second] = process.argv.slice(2);
if (first === '--child') await runChild(second);
else await runLoop(first, Number(second));
