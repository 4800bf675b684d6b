/**
 * The built-in client: takes samples as curl does, with a clock of nanoseconds. Linux only.
 *
 * `node --single-threaded client-program.mjs URL SECONDS PACE` prints the lines that `sampler.ts` describes; samples start PACE
 * seconds apart or more, 0 SECONDS are one sample, and a star in the URL's host stands for a new name in each. Each sample is a
 * new process, forked from this one: it calls getaddrinfo and connect of the C library, sends a GET request and reads the
 * answer, without threads or an event loop. This process never looks a name up itself, so the C library of each sample
 * starts from nothing (nsswitch.conf, resolv.conf, hosts), as it does in curl. The clock of a sample starts after the fork.
 *
 * Without arguments, it only checks that the C library can be called and processes can be forked.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Of the package with the native sockets, which bench and the image of the pods both have. */
const sockets = createRequire(import.meta.url).resolve('@dinodns-bench/batched-udp/package.json');
const koffi = createRequire(sockets)('koffi');

const LIMIT_SECONDS = 8;
/** tcpmux: nobody listens there. */
const UNUSED_PORT = '1';
const STDOUT = 1;
const REHEARSALS = 20;
/** curl's exit statuses for the same failures. */
const EXIT = { ok: 0, unresolved: 6, unconnected: 7, timeout: 28, empty: 52, broken: 56 };
/** Of <sys/socket.h>, <netdb.h>, <signal.h> and <sys/prctl.h> on Linux. */
const [SOCK_STREAM, AI_NUMERICHOST, NI_NUMERICHOST, SIGKILL, SIGALRM, PR_SET_PDEATHSIG, MADV_DOFORK] = [
  1, 4, 1, 9, 14, 1, 11,
];
/** V8 keeps buffers of up to 64 bytes on its heap, where they move. */
const BUFFER_BYTES = 128;
/** More than a process has on x64 (2^47), and as much as on arm64. */
const ADDRESS_SPACE_BYTES = 2 ** 48 - 4096;

koffi.struct('addrinfo', {
  flags: 'int',
  family: 'int',
  socktype: 'int',
  protocol: 'int',
  addrlen: 'uint32_t',
  addr: 'void *',
  canonname: 'void *',
  next: 'void *',
});
// The process's own symbols: from whichever C library Node.js uses.
const library = koffi.load(null);
const c = {
  alarm: library.func('uint alarm(uint seconds)'),
  connect: library.func('int connect(int fd, void *address, uint32_t length)'),
  exit: library.func('void _exit(int status)'),
  fork: library.func('int fork()'),
  getaddrinfo: library.func(
    'int getaddrinfo(const char *name, const char *service, const addrinfo *hints, _Out_ void **list)',
  ),
  getnameinfo: library.func(
    'int getnameinfo(void *address, uint32_t length, void *host, uint32_t hostLength, void *service, uint32_t serviceLength, int flags)',
  ),
  getsockname: library.func('int getsockname(int fd, void *address, _Inout_ uint32_t *length)'),
  madvise: library.func('int madvise(uintptr_t address, size_t length, int advice)'),
  prctl: library.func('int prctl(int option, ulong value)'),
  socket: library.func('int socket(int family, int type, int protocol)'),
  waitpid: library.func('int waitpid(int pid, _Out_ int *status, int options)'),
};

const HINTS = {
  ...{ flags: 0, family: 0, socktype: SOCK_STREAM, protocol: 0 },
  ...{ addrlen: 0, addr: null, canonname: null, next: null },
};

function addressText({ addr, addrlen }) {
  const text = Buffer.alloc(BUFFER_BYTES);
  c.getnameinfo(addr, addrlen, text, text.length, null, 0, NI_NUMERICHOST);
  return text.toString('latin1', 0, text.indexOf(0));
}

function localPort(fd) {
  const address = Buffer.alloc(BUFFER_BYTES);
  c.getsockname(fd, address, [address.length]);
  return address.readUInt16BE(2);
}

/** Connects to the first address that takes the connection, in the order of the list. */
function connectTo(list) {
  for (let at = list; at !== null; ) {
    const entry = koffi.decode(at, 'addrinfo');
    const fd = c.socket(entry.family, entry.socktype, entry.protocol);
    if (fd >= 0 && c.connect(fd, entry.addr, entry.addrlen) === 0) return { fd, entry };
    if (fd >= 0) closeSync(fd);
    at = entry.next;
  }
  return null;
}

/** Reads to the end. The moment of the first byte, and the HTTP status; null for an empty answer. */
function readAnswer(fd) {
  const buffer = Buffer.alloc(65_536);
  let length = readSync(fd, buffer);
  if (length === 0) return null;
  const firstByte = process.hrtime.bigint();
  const status = /^HTTP\/1\.\d (\d{3})/.exec(buffer.toString('latin1', 0, length))?.[1] ?? '000';
  while (length > 0) length = readSync(fd, buffer);
  return { firstByte, status };
}

function resultLine(start, moments, facts) {
  return [...moments.map((at) => (Number(at - start) / 1e9).toFixed(9)), ...facts].join('|');
}

/** In the process of a sample: prints what stands between the sample's time and the end of its line, and ends. */
function takeSample({ port, pathname, search }, hostname) {
  // So that nothing of it is left.
  c.prctl(PR_SET_PDEATHSIG, SIGKILL);
  c.alarm(LIMIT_SECONDS);
  const list = [null];
  const start = process.hrtime.bigint();
  if (c.getaddrinfo(hostname, port || '80', HINTS, list) !== 0) return EXIT.unresolved;
  const resolved = process.hrtime.bigint();
  const connection = connectTo(list[0]);
  const connected = process.hrtime.bigint();
  if (connection === null) return EXIT.unconnected;
  const { fd, entry } = connection;
  writeSync(fd, `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  const answer = readAnswer(fd);
  const end = process.hrtime.bigint();
  if (answer === null) return EXIT.empty;
  const moments = [resolved, connected, answer.firstByte, end];
  writeSync(STDOUT, resultLine(start, moments, [addressText(entry), localPort(fd), answer.status]));
  return EXIT.ok;
}

/** Never returns. */
function sampleAndExit(url, hostname) {
  let status = EXIT.broken;
  try {
    status = takeSample(url, hostname);
  } finally {
    c.exit(status);
  }
}

/** The exit status of a process, as curl's would be; a shell's for a signal. */
function waitFor(pid) {
  const status = [0];
  c.waitpid(pid, status, 0);
  const signal = status[0] & 0x7f;
  if (signal === 0) return status[0] >> 8;
  return signal === SIGALRM ? EXIT.timeout : 128 + signal;
}

const uptime = () => readFileSync('/proc/uptime', 'utf8').split(' ')[0].replace('.', '');

function kernelRepeats() {
  const [names = [], values = []] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '));
  return values[names.indexOf('TCPSynRetrans')];
}

/**
 * Calls once everything that a sample calls, so that V8 has compiled it and a sample does not wait for that. An address
 * instead of a name needs no configuration of the C library.
 */
function rehearse() {
  const list = [null];
  c.getaddrinfo('127.0.0.1', UNUSED_PORT, { ...HINTS, flags: AI_NUMERICHOST }, list);
  connectTo(list[0]);
  const file = openSync('/proc/self/stat');
  readAnswer(file);
  resultLine(
    process.hrtime.bigint(),
    [process.hrtime.bigint()],
    [addressText(koffi.decode(list[0], 'addrinfo'))],
  );
  localPort(file);
  closeSync(file);
}

/** A new process, with the memory of this one. 0 in the new one. */
function fork() {
  // V8 keeps its memory out of forks (MADV_DONTFORK), and gets more of it now and then. The kernel skips what is not mapped.
  c.madvise(0, ADDRESS_SPACE_BYTES, MADV_DOFORK);
  const pid = c.fork();
  if (pid < 0) throw new Error('fork failed: too many processes, or too little memory');
  return pid;
}

/** Waits until this moment, without a thread or an event loop. */
function waitUntil(moment) {
  const rest = moment - performance.now();
  if (rest > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, rest);
}

function sampleFor(url, seconds, pace) {
  writeSync(STDOUT, `kernel|begin|${kernelRepeats()}\n`);
  for (let time = 0; time < REHEARSALS; time += 1) rehearse();
  const end = performance.now() + seconds * 1000;
  let next = performance.now();
  do {
    waitUntil(next);
    const hostname = url.hostname.replace('*', () => randomUUID());
    writeSync(STDOUT, `sample|${uptime()}|`);
    // From its own start, not from the moment it was due: one that starts late must not bring the next one closer.
    next = performance.now() + pace * 1000;
    const pid = fork();
    if (pid === 0) sampleAndExit(url, hostname);
    writeSync(STDOUT, `|${waitFor(pid)}\n`);
    next = Math.max(next, performance.now());
  } while (next < end);
  // So that it has lasted as long as it says.
  waitUntil(end);
  writeSync(STDOUT, `kernel|end|${kernelRepeats()}\n`);
}

/** @throws if a process that was forked does not live */
function check() {
  const pid = fork();
  if (pid === 0) c.exit(EXIT.ok);
  const status = waitFor(pid);
  if (status !== EXIT.ok) throw new Error(`a forked process ended with status ${status}`);
}

const [, , url, seconds, pace] = process.argv;
if (url === undefined) check();
else sampleFor(new URL(url), Number(seconds), Number(pace));
