/**
 * Counts events of processes with perf_event_open(2), in a process of its own, because the calls go through koffi. Linux only.
 *
 * `node counters-program.mjs {"events":["instructions:user"],"pids":[1]}` counts in all threads of these processes, and in those that
 * they start later. Once it does, it prints `{"ready":true}`; on SIGTERM it prints the counts and ends:
 * `{"counts":{"instructions:user":{"value":1,"enabledSeconds":1,"runningSeconds":1}}}`. Without processes it counts itself,
 * which shows whether the events can be counted. If they cannot, it prints `{"error":{"event":…,"code":…}}`, with
 * the name of the error number.
 */
import { closeSync, readdirSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Of the package with the native sockets. */
const sockets = createRequire(import.meta.url).resolve('@dinodns-bench/batched-udp/package.json');
const koffi = createRequire(sockets)('koffi');

/** The number of the system call, by architecture (asm/unistd.h). */
const PERF_EVENT_OPEN = { x64: 298, arm64: 241 }[process.arch];
const [PR_SET_PDEATHSIG, SIGKILL] = [1, 9];

/** Types and numbers of <linux/perf_event.h>. */
const EVENTS = {
  cycles: [0, 0],
  instructions: [0, 1],
  'cache-misses': [0, 3],
  'task-clock': [1, 1],
  'context-switches': [1, 3],
};
/** Bits of the flags in struct perf_event_attr. */
const FLAGS = {
  inherit: 1n << 1n,
  excludeUser: 1n << 4n,
  excludeKernel: 1n << 5n,
  excludeHypervisor: 1n << 6n,
};
const PARTS = {
  user: FLAGS.excludeKernel | FLAGS.excludeHypervisor,
  kernel: FLAGS.excludeUser | FLAGS.excludeHypervisor,
  all: 0n,
};
/** Beside the value, how long it was to be counted and how long it was: events take turns where there are too few counters. */
const READ_FORMAT = 3n;
const ATTRIBUTE_BYTES = 64;
const CLOSE_ON_EXEC = 8;

const library = koffi.load(null);
const prctl = library.func('int prctl(int option, ulong value)');
const open = library.func(
  'long syscall(long number, void *attribute, int pid, int cpu, int group, ulong flags)',
);

function fail(event, code) {
  print({ error: { event, code } });
  process.exit(0);
}

function attributeOf(event) {
  const [name, part = 'all'] = event.split(':');
  const [type, config] = EVENTS[name] ?? fail(event, 'EINVAL');
  // Node.js keeps small buffers in a pool that does not move while the call lasts.
  const attribute = Buffer.alloc(ATTRIBUTE_BYTES);
  attribute.writeUInt32LE(type, 0);
  attribute.writeUInt32LE(ATTRIBUTE_BYTES, 4);
  attribute.writeBigUInt64LE(BigInt(config), 8);
  attribute.writeBigUInt64LE(READ_FORMAT, 32);
  attribute.writeBigUInt64LE(FLAGS.inherit | PARTS[part], 40);
  return attribute;
}

function print(value) {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

const names = new Map(Object.entries(koffi.os.errno).map(([name, number]) => [number, name]));

/** The descriptor; null for a thread that has ended. */
function openEvent(event, thread) {
  const fd =
    PERF_EVENT_OPEN === undefined
      ? -1
      : open(PERF_EVENT_OPEN, attributeOf(event), thread, -1, -1, CLOSE_ON_EXEC);
  if (fd >= 0) return fd;
  const code = PERF_EVENT_OPEN === undefined ? 'ENOSYS' : (names.get(koffi.errno()) ?? 'unknown');
  if (code === 'ESRCH') return null;
  return fail(event, code);
}

function threadsOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    // It has ended.
    return [];
  }
}

function sumOf(descriptors) {
  const sum = { value: 0, enabledSeconds: 0, runningSeconds: 0 };
  const reading = Buffer.alloc(24);
  for (const fd of descriptors) {
    readSync(fd, reading, 0, reading.length, null);
    sum.value += Number(reading.readBigUInt64LE(0));
    sum.enabledSeconds += Number(reading.readBigUInt64LE(8)) / 1e9;
    sum.runningSeconds += Number(reading.readBigUInt64LE(16)) / 1e9;
    closeSync(fd);
  }
  return sum;
}

prctl(PR_SET_PDEATHSIG, SIGKILL);
const { events, pids } = JSON.parse(process.argv[2] ?? '{"events":[],"pids":[]}');
const threads = pids.length === 0 ? [0] : pids.flatMap(threadsOf);
const opened = events.map((event) => [
  event,
  threads.map((thread) => openEvent(event, thread)).filter((fd) => fd !== null),
]);
const keepAlive = setInterval(() => undefined, 3_600_000);
process.once('SIGTERM', () => {
  clearInterval(keepAlive);
  print({ counts: Object.fromEntries(opened.map(([event, descriptors]) => [event, sumOf(descriptors)])) });
});
print({ ready: true });
