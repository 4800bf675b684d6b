/** A worker thread: opens its sockets, warms up, waits for the start, runs its share of the load, and reports. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { isExplained, messageOf } from '@dinodns-bench/program';
import { monotonicOffsetNs, nowNs } from '../clock.ts';
import { type Opened, open, runShare } from './share-run.ts';
import {
  type ErrorData,
  type GoMessage,
  type QuitMessage,
  STOP,
  type ThreadUse,
  type WorkerMessage,
  type WorkerTask,
} from './thread-messages.ts';
import { warmUp } from './warm-up.ts';

/**
 * Of the calling thread, since it started; null if the platform does not report it. Linux: /proc/thread-self/schedstat
 * (Documentation/scheduler/sched-stats.rst: time on the CPU, time on a run queue, time slices).
 */
function threadUse(): ThreadUse | null {
  try {
    const [cpu, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
    if (cpu !== undefined && waited !== undefined && cpu > 0) return { cpuNs: cpu, waitedNs: waited };
  } catch {
    // Not Linux, or a kernel without CONFIG_SCHED_INFO.
  }
  // Node.js 23.9 and later.
  if (typeof process.threadCpuUsage !== 'function') return null;
  const { user, system } = process.threadCpuUsage();
  return { cpuNs: (user + system) * 1000, waitedNs: null };
}

/** The use between two readings. */
function useBetween(before: ThreadUse | null, after: ThreadUse | null): ThreadUse | null {
  if (before === null || after === null) return null;
  const waited =
    before.waitedNs === null || after.waitedNs === null ? null : after.waitedNs - before.waitedNs;
  return { cpuNs: after.cpuNs - before.cpuNs, waitedNs: waited };
}

/** Runs the load from `startNs` and posts the measurements. */
async function measure(task: WorkerTask, opened: Opened, startNs: number): Promise<void> {
  const { engine, measurements } = opened;
  const before = threadUse();
  let sending = 0;
  let use: ThreadUse | null = null;
  await runShare(task, opened, startNs, {
    onInterval: (index) =>
      post({ kind: 'interval', index, atNs: nowNs() - startNs, data: measurements.take(startNs) }),
    onSendingOver: (sendingNs) => {
      sending = sendingNs;
      use = useBetween(before, threadUse());
    },
  });
  const stopped = Atomics.load(task.control, STOP) !== 0;
  post({
    kind: 'done',
    summary: {
      sendingNs: sending,
      lastAnswerNs: Math.max(0, engine.lastAnswerNs - startNs),
      exhausted: sending < task.options.durationSeconds * 1e9 && !stopped,
      use,
      sockets: measurements.sockets?.reports(startNs, startNs + sending) ?? null,
    },
    atNs: nowNs() - startNs,
    data: measurements.take(startNs),
  });
}

function errorData(error: unknown): ErrorData {
  return {
    code: isExplained(error) ? error.code : null,
    problems: isExplained(error) ? (error.problems ?? []) : [],
    message: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  };
}

const port = parentPort;
if (port === null) throw new Error('worker.ts runs in a worker thread');
const post = (message: WorkerMessage) => port.postMessage(message);
const told = new Promise<GoMessage | QuitMessage>((resolve) => port.once('message', resolve));
try {
  const task = workerData as WorkerTask;
  // First: objects created before it would not have the shapes that the compiled code expects.
  await warmUp(task);
  const opened = await open(task);
  try {
    post({ kind: 'ready', facts: opened.transport.facts });
    const message = await told;
    if (message.kind === 'go') await measure(task, opened, Number(message.atNs - monotonicOffsetNs()));
  } finally {
    await opened.close();
  }
} catch (error) {
  post({ kind: 'failed', error: errorData(error) });
} finally {
  port.close();
}
