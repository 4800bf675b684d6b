/**
 * Runs the load against an echo in this thread before the measurement, so that the code is compiled when the first
 * query is sent. Otherwise it would be ten times slower at first, and the compiler threads would take the CPU from a
 * generator with one core: at 100,000 queries per second, those of the first two seconds were up to 30 ms late.
 *
 * The echo is a private socket on 127.0.0.1; the server under test receives nothing.
 */

import { setTimeout } from 'node:timers/promises';
import { type Batch, openUdpSocket } from '@dinodns-bench/batched-udp';
import { FLAG, HEADER_BYTES } from '@dinodns-bench/wire';
import { nowNs } from '../clock.ts';
import { arrivalsOf, countOf } from '../schedule/schedule.ts';
import { type Opened, open, runShare } from './share-run.ts';
import { STOP, type WorkerTask } from './thread-messages.ts';

/** Length as a share of the run, and its maximum. Hardly anything is compiled after that. */
const SHARE_OF_RUN = 0.1;
const MAX_SECONDS = 1;
/** A shorter warm-up would compile nothing. */
const MIN_SECONDS = 0.02;
/** Several short runs, so that the code at the end of a run is compiled too. */
const ROUNDS = 4;
/** Share of the time with nothing sent, so that the compiler threads get the CPU if there is only one. */
const PAUSES = 0.5;
/** A run with fewer queries is over before anything would be compiled. */
const FEW_QUERIES = 5000;
/** Maximum sockets in the warm-up: each has its own tables. */
const MAX_LANES = 8;
const ECHO_BUFFER_BYTES = 4 << 20;
const TIMEOUT_SECONDS = 0.05;
const QR = FLAG.response >> 8;

function answer(batch: Batch): void {
  const { count, bytes, offsets, lengths } = batch;
  for (let i = 0; i < count; i++) {
    const length = lengths[i] ?? 0;
    if (length < HEADER_BYTES) continue;
    const flags = (offsets[i] ?? 0) + 2;
    bytes[flags] = (bytes[flags] ?? 0) | QR;
    batch.reply(i, length);
  }
}

/** A small version of the load, against another server. */
function rehearsal(task: WorkerTask, port: number, seconds: number): WorkerTask {
  const { options, share, plan } = task;
  return {
    ...task,
    server: { address: '127.0.0.1', port, host: '127.0.0.1' },
    plan: { ...plan, passes: null },
    share: { ...share, limit: null, lanes: Math.min(share.lanes, MAX_LANES) },
    options: {
      ...options,
      durationSeconds: seconds,
      intervalSeconds: seconds / 4,
      timeoutSeconds: TIMEOUT_SECONDS,
      retries: 0,
      sources: [],
      sourcePort: 0,
      tcpFallback: false,
    },
  };
}

/** Maximum queries of a share; infinite if only the duration ends it. */
function maxQueries({ options, share, plan }: WorkerTask): number {
  const arrivals = arrivalsOf(options.load);
  return Math.min(
    share.limit ?? Number.POSITIVE_INFINITY,
    plan.passes === null ? Number.POSITIVE_INFINITY : plan.passes * plan.arena.count,
    plan.dueSeconds === null ? Number.POSITIVE_INFINITY : plan.dueSeconds.length,
    arrivals === null ? Number.POSITIVE_INFINITY : countOf(arrivals, options.durationSeconds) / share.workers,
  );
}

/** One small run; its measurements are discarded. */
async function rehearse(task: WorkerTask): Promise<void> {
  const opened: Opened = await open(task);
  try {
    await runShare(task, opened, nowNs(), {
      onInterval: () => opened.measurements.take(),
      onSendingOver: () => undefined,
    });
  } finally {
    await opened.close();
  }
}

/**
 * For batched UDP sockets; connections have other limits. The warm-up is optional: on a machine without loopback the
 * run starts without it.
 */
export async function warmUp(task: WorkerTask): Promise<void> {
  if (task.options.transport !== 'udp' || maxQueries(task) < FEW_QUERIES) return;
  const seconds = Math.min(MAX_SECONDS, task.options.durationSeconds * SHARE_OF_RUN);
  if (seconds < MIN_SECONDS || Atomics.load(task.control, STOP) !== 0) return;
  const echo = await openUdpSocket({
    address: '127.0.0.1',
    receiveBufferBytes: ECHO_BUFFER_BYTES,
    segmentation: true,
    onBatch: answer,
    onError: () => undefined,
  });
  try {
    for (let round = 0; round < ROUNDS && echo.backend === 'native'; round++) {
      await rehearse(rehearsal(task, echo.local.port, ((1 - PAUSES) * seconds) / ROUNDS));
      await setTimeout((1000 * PAUSES * seconds) / ROUNDS);
    }
  } catch {
    // No loopback, or no descriptors to spare.
  } finally {
    await echo.close();
  }
}
