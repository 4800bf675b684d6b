/** A worker thread: opens its sockets, waits for the start, runs its share of the load, and reports. */
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicOffsetNs, nowNs } from '../clock.ts';
import { Engine } from '../engine/engine.ts';
import { Loop } from '../engine/loop.ts';
import { Measurements } from '../engine/measurements.ts';
import { hasAdditional } from '../engine/questions.ts';
import { Source } from '../engine/source.ts';
import { LoadError, messageOf } from '../errors.ts';
import { responseCheck } from '../message/response.ts';
import type { CannonOptions } from '../options.ts';
import { arrivalsOf, type Schedule, scheduleOf } from '../schedule/schedule.ts';
import { openConnections } from '../transport/open.ts';
import type { Transport, TransportHandler, TransportRequest } from '../transport/transport.ts';
import { openUdp } from '../transport/udp.ts';
import { startWorkload } from '../workload/load.ts';
import { CounterReader } from './counter-reader.ts';
import type { GoMessage, Share, TransportFacts, WorkerMessage, WorkerTask } from './messages.ts';
import { STOP } from './messages.ts';
import { threadUse, useBetween } from './thread-use.ts';

/** Retransmissions and lookups of several steps may end a little after the time-out. */
const DRAIN_MARGIN_NS = 100e6;

/** Room for each answer where queries have EDNS of a size that is not known here (a capture's). */
const DEFAULT_SLOT_BYTES = 4096;

function scheduleFor(options: CannonOptions, { worker, workers }: Share): Schedule | null {
  const arrivals = arrivalsOf(options.load);
  if (arrivals === null) return null;
  const { seed, durationSeconds } = options;
  return scheduleOf(arrivals, { worker, workers, seed, durationSeconds });
}

function requestOf({ options, server, share }: WorkerTask, handler: TransportHandler): TransportRequest {
  const { sources, sourcePort, timeoutSeconds, stream } = options;
  const rotated = sources.map((_, i) => sources[(i + share.firstLane) % sources.length] ?? '');
  return {
    server,
    lanes: share.lanes,
    sources: rotated,
    sourcePort: sourcePort === 0 ? 0 : sourcePort + share.firstLane,
    timeoutSeconds,
    stream,
    handler,
  };
}

async function openMain(
  task: WorkerTask,
  handler: TransportHandler,
): Promise<{ transport: Transport; facts: TransportFacts }> {
  const { transport: kind, timestamps, segmentation, receiveBufferBytes, message } = task.options;
  const request = requestOf(task, handler);
  if (kind !== 'udp') {
    const transport = await openConnections(kind, request);
    return {
      transport,
      facts: { backend: null, backendReason: null, receiveBufferBytes: null, kernelTimestamps: false },
    };
  }
  const transport = await openUdp({
    ...request,
    timestamps: timestamps === 'auto',
    segmentation: segmentation === 'auto',
    receiveBufferBytes,
    payloadBytes: hasAdditional(task.plan.arena) ? (message.ednsSize ?? DEFAULT_SLOT_BYTES) : 0,
  });
  const { timestamps: kernelTimestamps, ...facts } = transport.facts;
  return { transport, facts: { ...facts, kernelTimestamps } };
}

function openFallback(task: WorkerTask, handler: TransportHandler): Promise<Transport> | null {
  const { transport, tcpFallback } = task.options;
  return transport === 'udp' && tcpFallback ? openConnections('tcp', requestOf(task, handler)) : null;
}

async function run(task: WorkerTask, post: (message: WorkerMessage) => void, go: () => Promise<GoMessage>) {
  const { options, plan, share, control } = task;
  const measurements = new Measurements();
  const timeoutNs = options.timeoutSeconds * 1e9;
  const workload = startWorkload(plan, { ...share, seed: options.seed });
  const engine = new Engine({
    workload,
    measurements,
    window: share.window,
    timeoutNs,
    retries: options.retries,
    check: options.expect === null ? null : responseCheck(options.expect),
    edns: hasAdditional(plan.arena),
  });
  const { transport, facts } = await openMain(task, engine.handler('main'));
  const fallback = await openFallback(task, engine.handler('fallback'));
  engine.attach(transport, fallback);
  const counters = new CounterReader([transport, ...(fallback === null ? [] : [fallback])], measurements);
  post({ kind: 'ready', facts });

  const { atNs } = await go();
  const startNs = Number(atNs - monotonicOffsetNs());
  const endNs = startNs + options.durationSeconds * 1e9;
  const source = new Source({
    workload,
    schedule: scheduleFor(options, share),
    timed: options.load.kind === 'timed',
    limit: share.limit ?? Number.POSITIVE_INFINITY,
    startNs,
    endNs,
  });
  const before = threadUse();
  let sendingNs = 0;
  let use = null as ReturnType<typeof threadUse>;
  const loop: Loop = new Loop({
    engine,
    transport,
    measurements,
    timestamps: facts.kernelTimestamps,
    startNs,
    endNs,
    drainNs: timeoutNs * (1 + options.retries) + DRAIN_MARGIN_NS,
    intervalNs: options.intervalSeconds * 1e9,
    stopped: () => Atomics.load(control, STOP) !== 0,
    onInterval: () => {
      counters.read();
      post({ kind: 'interval', atNs: nowNs() - startNs, data: measurements.take() });
    },
    onSendingOver: () => {
      sendingNs = nowNs() - startNs;
      use = useBetween(before, threadUse());
    },
  });
  engine.start(source, () => loop.wake());
  await loop.run();
  counters.read();
  const exhausted = sendingNs < options.durationSeconds * 1e9 && Atomics.load(control, STOP) === 0;
  const lastAnswerNs = Math.max(0, engine.lastAnswerNs - startNs);
  post({
    kind: 'done',
    summary: { sendingNs, lastAnswerNs, exhausted, use },
    atNs: nowNs() - startNs,
    data: measurements.take(),
  });
  await Promise.all([transport.close(), fallback?.close()]);
}

const port = parentPort;
if (port === null) throw new Error('worker.ts runs in a worker thread');
const go = new Promise<GoMessage>((resolve) => port.once('message', resolve));
run(
  workerData as WorkerTask,
  (message) => port.postMessage(message),
  () => go,
)
  .catch((error: unknown) => {
    port.postMessage({
      kind: 'failed',
      error: {
        code: error instanceof LoadError ? error.code : null,
        problems: error instanceof LoadError ? error.problems : [],
        message: messageOf(error),
        stack: error instanceof Error ? error.stack : undefined,
      },
    } satisfies WorkerMessage);
  })
  .finally(() => port.close());
