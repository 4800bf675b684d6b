/** The worker threads of one run: created, started at the same moment, monitored and stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { openUdpSocket } from '@dinodns-bench/batched-udp';
import type { MeasurementData } from '../engine/measurements.ts';
import { ERROR_CODES, type ErrorCode, LoadError } from '../errors.ts';
import type { TransportFacts } from '../transport/transport.ts';
import {
  type ErrorData,
  type GoMessage,
  type QuitMessage,
  STOP,
  type WorkerMessage,
  type WorkerSummary,
  type WorkerTask,
} from './thread-messages.ts';

/** Delay between the last worker being ready and the first query, so that all receive the start message. */
const START_DELAY_NS = 20_000_000n;

/** How long a thread may take to exit when asked. */
const PATIENCE_MS = 3000;

export interface PoolHandler {
  /** The first query is due. */
  readonly onStarted: () => void;
  /** One worker has measured the interval with this number, and those before it that it sent nothing for. */
  readonly onInterval: (worker: number, index: number, atNs: number, data: MeasurementData) => void;
  /** One worker is done; `data` is what it measured since its last interval. */
  readonly onDone: (worker: number, summary: WorkerSummary, atNs: number, data: MeasurementData) => void;
}

export type Pool = Awaited<ReturnType<typeof startPool>>;
type Member = ReturnType<typeof startWorker>;

/** This file's sibling, as TypeScript in the workspace and as JavaScript in the package. */
const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);

function isErrorCode(code: string | null): code is ErrorCode {
  return code !== null && code in ERROR_CODES;
}

function revive({ code, problems, message, stack }: ErrorData): Error {
  if (isErrorCode(code)) return new LoadError(code, problems);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function startWorker(task: WorkerTask) {
  const thread = new Worker(PROGRAM, { workerData: task, name: `cannon-${task.share.worker}` });
  const ready = Promise.withResolvers<TransportFacts>();
  const done = Promise.withResolvers<void>();
  let handler: PoolHandler | null = null;
  const fail = (error: Error) => {
    ready.reject(error);
    done.reject(error);
  };
  const { worker } = task.share;
  thread.on('message', (message: WorkerMessage) => {
    switch (message.kind) {
      case 'ready':
        ready.resolve(message.facts);
        break;
      case 'interval':
        handler?.onInterval(worker, message.index, message.atNs, message.data);
        break;
      case 'done':
        handler?.onDone(worker, message.summary, message.atNs, message.data);
        done.resolve();
        break;
      case 'failed':
        fail(revive(message.error));
        break;
    }
  });
  thread.on('error', fail);
  const gone = new Promise<void>((resolve) => {
    thread.on('exit', (status) => {
      fail(new Error(`worker ${worker} ended with status ${status}`));
      resolve();
    });
  });
  // Callers that await these see the failure, but none may be awaiting yet.
  ready.promise.catch(() => undefined);
  done.promise.catch(() => undefined);
  return {
    thread,
    /** Settled by the worker's message of that kind, or its failure. */
    ready: ready.promise,
    done: done.promise,
    /** Resolves when the thread has ended. */
    gone,
    listen: (listener: PoolHandler) => {
      handler = listener;
    },
  };
}

/**
 * Opens and closes a socket in this thread, which keeps the native library loaded. It is otherwise unloaded with the
 * last thread that uses it, and crashes the process if that thread is terminated with sockets open.
 */
async function keepLibrariesLoaded(tasks: readonly WorkerTask[]): Promise<void> {
  if (!tasks.some(({ options }) => options.transport === 'udp')) return;
  const socket = await openUdpSocket({ onBatch: () => undefined });
  await socket.close();
}

/** Asks a thread to close its sockets and exit; terminates it if it does not. */
async function endThread({ thread, gone }: Member): Promise<void> {
  thread.postMessage({ kind: 'quit' } satisfies QuitMessage);
  const patience = setTimeout(() => void thread.terminate(), PATIENCE_MS);
  await gone;
  clearTimeout(patience);
}

/** Starts one thread per task. On a failure, ends all threads and rejects with the first error. */
export async function startPool(tasks: readonly WorkerTask[]) {
  await keepLibrariesLoaded(tasks);
  const members = tasks.map(startWorker);
  const control = tasks[0]?.control;
  const stop = () => {
    if (control !== undefined) Atomics.store(control, STOP, 1);
  };
  const close = async () => {
    stop();
    await Promise.all(members.map(endThread));
  };
  try {
    const facts = await Promise.all(members.map(({ ready }) => ready));
    return {
      facts,
      /** Starts the load; resolves when all workers are done, rejects as soon as one fails. */
      run: async (handler: PoolHandler): Promise<void> => {
        for (const member of members) member.listen(handler);
        const go: GoMessage = { kind: 'go', atNs: process.hrtime.bigint() + START_DELAY_NS };
        for (const { thread } of members) thread.postMessage(go);
        const started = sleep(Number(START_DELAY_NS) / 1e6).then(handler.onStarted);
        await Promise.all([started, ...members.map(({ done }) => done)]);
      },
      /** Ends the load early; waits 0.1 s for queries in flight. */
      stop,
      /** Ends all threads. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
