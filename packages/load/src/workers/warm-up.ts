/**
 * Runs the load against an echo in this thread before it counts: the program is compiled by the time the first
 * query leaves. Compiled meanwhile, it would be ten times slower at first, and the compiler's threads would take the
 * CPU from a generator that has one core: at 100,000 queries a second those of the first two seconds left up to 30 ms
 * late.
 *
 * The echo is a socket on 127.0.0.1 that nobody else hears of; the server under test gets none of it.
 */

import { setTimeout } from 'node:timers/promises';
import { type Batch, openUdpSocket } from '@dinodns-bench/batched-udp';
import { FLAG, HEADER_BYTES } from '@dinodns-bench/wire';
import { nowNs } from '../clock.ts';
import { arrivalsOf, countOf } from '../schedule/schedule.ts';
import { STOP, type WorkerTask } from './messages.ts';
import { type Opened, open, runShare } from './share-run.ts';

/** Length: a share of the run's, and at most so much. Hardly anything is compiled after that. */
const SHARE_OF_RUN = 0.1;
const MAX_SECONDS = 1;
/** Shorter than this it would compile nothing. */
const MIN_SECONDS = 0.02;
/** The end of a run is code, too: it happens often enough not to be a surprise to the compiler. */
const ROUNDS = 4;
/** Share of the time in which nothing is sent, so that the compiler's threads get the CPU where there is only one. */
const PAUSES = 0.5;
/** A run of fewer queries than this is over before anything would have been compiled. */
const FEW_QUERIES = 5000;
/** Sockets of the run that are imitated at most: each has tables of its own. */
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

/** The same load in small, against another server. */
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

/** Queries that a share has at most; infinite where only the duration ends it. */
function maxQueries({ options, share, plan }: WorkerTask): number {
  const arrivals = arrivalsOf(options.load);
  return Math.min(
    share.limit ?? Number.POSITIVE_INFINITY,
    plan.passes === null ? Number.POSITIVE_INFINITY : plan.passes * plan.arena.count,
    plan.dueSeconds === null ? Number.POSITIVE_INFINITY : plan.dueSeconds.length,
    arrivals === null ? Number.POSITIVE_INFINITY : countOf(arrivals, options.durationSeconds) / share.workers,
  );
}

/** Once through a small run; its measurements are dropped. */
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
 * For batched UDP sockets; connections have other limits. It is a help and no condition: where this machine has no
 * loopback, the run begins without it.
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
