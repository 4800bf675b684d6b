/**
 * Runs inside the cluster, in a pod beside the loader, and sends what it is given: the wire form of each query.
 * It judges nothing; the raw answers go back in its log, and bench decodes them as it does those of a local
 * server. Needs nothing but Node.js.
 *
 * Settings (environment): PODS and SERVICE, as address:port (PODS several, with commas); TRANSPORT: udp, tcp, tls or
 * https; for the last two SERVER_NAME, for which the certificate is verified, and AUTHORITY, a file.
 * Input: /queries/queries.txt, a query in base64 on each line; the first is also the one for readiness.
 * Output: `ready <seconds>`; for each query `<index> <answer in base64>` or `<index> !<what went wrong>`; `done`.
 * Exit status 1, after `not-ready <address:port> <what>`, if one of the endpoints does not answer.
 */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

const { PODS = '', SERVICE = '', TRANSPORT = 'udp', SERVER_NAME = '', AUTHORITY } = process.env;
const READY_SECONDS = Number(process.env.READY_SECONDS ?? 30);
const TIMEOUT_MS = 2000;
const ATTEMPTS = 3;
/** A flow goes to one instance behind the Service: several sockets reach several instances. */
const SOCKETS = 32;
/** Response codes of a server that has not loaded its zones: SERVFAIL, REFUSED, NOTAUTH. */
const STILL_LOADING = new Set([2, 5, 9]);
const LOADING_MS = 5000;

const lines = readFileSync('/queries/queries.txt', 'utf8').split('\n');
const queries = lines.filter((line) => line !== '').map((line) => Buffer.from(line, 'base64'));
const endpointOf = (text) => {
  const at = text.lastIndexOf(':');
  return { address: text.slice(0, at), port: Number(text.slice(at + 1)) };
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks one query at a time and resolves with the answer's bytes. */
function openUdp({ address, port }) {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  let pending;
  const connected = new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(port, address, () => {
      socket.off('error', reject);
      socket.on('error', (error) => pending?.reject(error));
      resolve();
    });
  });
  connected.catch(() => undefined);
  socket.on('message', (message) => {
    if (pending !== undefined && message.length >= 2 && message.readUInt16BE(0) === pending.id) {
      pending.resolve(message);
    }
  });
  return {
    async ask(query) {
      await connected;
      const message = withId(query);
      return await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no answer within 2 s')), TIMEOUT_MS);
        pending = { id: message.readUInt16BE(0), resolve, reject };
        socket.send(message, (error) => error && reject(error));
        pending.timer = timer;
      }).finally(() => clearTimeout(pending?.timer));
    },
    close: () => socket.close(),
  };
}

const encryption = AUTHORITY === undefined ? {} : { ca: readFileSync(AUTHORITY), servername: SERVER_NAME };

function openTcp({ address, port }) {
  return openStream(() => connect(port, address));
}

function openTls({ address, port }) {
  return openStream(() => connectTls({ host: address, port, ALPNProtocols: ['dot'], ...encryption }));
}

/** A connection for each query: what matters here is the answer. */
function openStream(dial) {
  return {
    ask: (query) =>
      new Promise((resolve, reject) => {
        const message = withId(query);
        const framed = Buffer.alloc(message.length + 2);
        framed.writeUInt16BE(message.length, 0);
        message.copy(framed, 2);
        let received = Buffer.alloc(0);
        const connection = dial();
        connection.write(framed);
        const timer = setTimeout(() => connection.destroy(new Error('no answer within 2 s')), TIMEOUT_MS);
        connection.on('data', (chunk) => {
          received = Buffer.concat([received, chunk]);
          if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
          resolve(received.subarray(2, 2 + received.readUInt16BE(0)));
          connection.destroy();
        });
        connection.on('error', reject);
        connection.on('close', () => {
          clearTimeout(timer);
          reject(new Error('closed without an answer'));
        });
      }),
    close: () => undefined,
  };
}

function openHttps({ address, port }) {
  const host = address.includes(':') ? `[${address}]` : address;
  const dial = () => connectTls({ host: address, port, ALPNProtocols: ['h2'], ...encryption });
  return {
    ask: (query) =>
      new Promise((resolve, reject) => {
        const session = connectHttp2(`https://${host}:${port}`, { createConnection: dial });
        const fail = (error) => {
          reject(error);
          session.destroy();
        };
        const timer = setTimeout(() => fail(new Error('no answer within 2 s')), TIMEOUT_MS);
        session.on('error', fail);
        session.on('close', () => {
          clearTimeout(timer);
          reject(new Error('closed without an answer'));
        });
        const stream = session.request({
          ':method': 'POST',
          ':path': '/dns-query',
          'content-type': 'application/dns-message',
        });
        const chunks = [];
        let status = 0;
        stream.on('response', (headers) => {
          status = headers[':status'];
        });
        stream.on('data', (chunk) => chunks.push(chunk));
        stream.on('error', fail);
        stream.on('end', () => {
          if (status !== 200) reject(new Error(`HTTP status ${status}`));
          resolve(Buffer.concat(chunks));
          session.destroy();
        });
        stream.end(withId(query));
      }),
    close: () => undefined,
  };
}

const OPEN = { udp: openUdp, tcp: openTcp, tls: openTls, https: openHttps };
const open = OPEN[TRANSPORT];

function withId(query) {
  const message = Buffer.from(query);
  message.writeUInt16BE(Math.floor(Math.random() * 0x10000), 0);
  return message;
}

/** Asks until an answer comes that is not an excuse; throws the last reason when the time is over. */
async function untilReady(endpoint) {
  const end = Date.now() + READY_SECONDS * 1000;
  let firstAnswer;
  for (;;) {
    // A socket of its own each time: a flow that kube-proxy refused once may stay refused.
    const client = open(endpoint);
    try {
      const answer = await client.ask(queries[0]);
      firstAnswer ??= Date.now();
      const code = answer.length >= 4 ? answer.readUInt16BE(2) & 0xf : 0;
      if (!STILL_LOADING.has(code) || Date.now() - firstAnswer > LOADING_MS) return;
    } catch (error) {
      if (Date.now() > end) throw error;
    } finally {
      client.close();
    }
    await sleep(50);
  }
}

const begin = Date.now();
for (const text of [...PODS.split(',').filter((pod) => pod !== ''), SERVICE]) {
  try {
    await untilReady(endpointOf(text));
  } catch (error) {
    console.log(`not-ready ${text} ${error.message}`);
    process.exit(1);
  }
}
console.log(`ready ${(Date.now() - begin) / 1000}`);

let next = 0;
async function work() {
  const client = open(endpointOf(SERVICE));
  while (next < queries.length) {
    const index = next;
    next += 1;
    let result = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      try {
        result = (await client.ask(queries[index])).toString('base64');
        break;
      } catch (error) {
        result = `!${error.message}`;
      }
    }
    console.log(`${index} ${result}`);
  }
  client.close();
}
await Promise.all(Array.from({ length: SOCKETS }, work));
console.log('done');
