/**
 * The built-in client: takes samples as curl does, with a clock of nanoseconds. Needs nothing but Node.js.
 *
 * `node client-program.mjs URL SECONDS` prints the lines that `sampler.ts` describes. Each sample looks the name up with
 * getaddrinfo (dns.lookup), connects to the first address with a new socket, sends a GET request and reads the answer. One
 * process takes all samples: the first lookup of a new Node.js process takes two milliseconds longer than those after it,
 * which would be the client's time, not the resolver's. The C library keeps no answers from one lookup to the next.
 */
import { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const LIMIT_MILLISECONDS = 8000;
/** curl's exit statuses for the same failures. */
const EXIT = { ok: 0, unresolved: 6, unconnected: 7, timeout: 28, empty: 52, broken: 56 };

const uptime = () => readFileSync('/proc/uptime', 'utf8').split(' ')[0].replace('.', '');

function kernelRepeats() {
  const [names = [], values = []] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '));
  return values[names.indexOf('TCPSynRetrans')];
}

/** Resolves with what stands between the sample's time and the end of its line. Never rejects. */
function takeSample({ hostname, port, pathname, search }) {
  return new Promise((resolve) => {
    let socket;
    const finish = (status, text = '') => {
      clearTimeout(limit);
      socket?.destroy();
      resolve(`${text}|${status}`);
    };
    const limit = setTimeout(() => finish(EXIT.timeout), LIMIT_MILLISECONDS);
    const start = process.hrtime.bigint();
    const secondsSince = (at) => (Number(at - start) / 1e9).toFixed(9);
    lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
      const resolved = process.hrtime.bigint();
      if (error) return finish(EXIT.unresolved);
      const { address } = addresses[0];
      let connected;
      let firstByte;
      let status = '000';
      socket = connect({ host: address, port: Number(port) || 80, noDelay: true });
      socket.on('error', () => finish(connected === undefined ? EXIT.unconnected : EXIT.broken));
      socket.on('connect', () => {
        connected = process.hrtime.bigint();
        socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
      });
      socket.on('data', (data) => {
        firstByte ??= process.hrtime.bigint();
        status = /^HTTP\/1\.\d (\d{3})/.exec(data.toString('latin1'))?.[1] ?? status;
      });
      socket.on('end', () => {
        if (firstByte === undefined) return finish(EXIT.empty);
        const times = [resolved, connected, firstByte, process.hrtime.bigint()].map(secondsSince);
        finish(EXIT.ok, [...times, address, socket.localPort, status].join('|'));
      });
    });
  });
}

const url = new URL(process.argv[2]);
const seconds = Number(process.argv[3]);
console.log(`kernel|begin|${kernelRepeats()}`);
const end = performance.now() + seconds * 1000;
while (performance.now() < end) {
  const at = uptime();
  console.log(`sample|${at}|${await takeSample(url)}`);
}
console.log(`kernel|end|${kernelRepeats()}`);
