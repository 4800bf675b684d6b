/** One worker's share of the load: opens its sockets, sends its queries and collects the answers. */
import { nowNs } from '../clock.ts';
import { clientCookie } from '../engine/cookies.ts';
import { Engine } from '../engine/engine.ts';
import { Loop } from '../engine/loop.ts';
import { Measurements } from '../engine/measurements.ts';
import { hasAdditional } from '../engine/questions.ts';
import { Sockets } from '../engine/sockets.ts';
import { Source } from '../engine/source.ts';
import { loadError } from '../errors.ts';
import { responseCheck } from '../message/response.ts';
import type { CannonOptions } from '../options.ts';
import { arrivalsOf, type Schedule, scheduleOf } from '../schedule/schedule.ts';
import { openConnections } from '../transport/open.ts';
import {
  NO_LOSSES,
  type Transport,
  type TransportHandler,
  type TransportRequest,
} from '../transport/transport.ts';
import { openUdp } from '../transport/udp.ts';
import { startWorkload } from '../workload/start.ts';
import { longestOf, mostCandidatesOf } from '../workload/workload.ts';
import { type Share, STOP, type WorkerTask } from './thread-messages.ts';

/** Retries and lookups of several steps may end a little after the timeout. */
const DRAIN_MARGIN_NS = 100e6;

/** Space for each answer if the queries' EDNS size is unknown (a capture). */
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

/** What an IPv4 packet holds besides the headers of IP and UDP. */
const MAX_DATAGRAM_BYTES = 65_507;
/** A server's part of the COOKIE option (RFC 7873, section 4.2). */
const MAX_COOKIE_BYTES = 32;

function openMain(task: WorkerTask, handler: TransportHandler): Promise<Transport> {
  const { transport: kind, timestamps, segmentation, receiveBufferBytes, message } = task.options;
  const request = requestOf(task, handler);
  if (kind !== 'udp') return openConnections(kind, request);
  const queryBytes = longestOf(task.plan.arena) + (message.cookie === null ? 0 : MAX_COOKIE_BYTES);
  if (queryBytes > MAX_DATAGRAM_BYTES) {
    const problem = `a query of ${queryBytes} bytes does not fit a UDP datagram, which holds ${MAX_DATAGRAM_BYTES}`;
    throw loadError('E_OPTIONS', problem, 'send it over TCP (--transport tcp), or omit it');
  }
  return openUdp({
    ...request,
    queryBytes,
    timestamps: timestamps === 'auto',
    segmentation: segmentation === 'auto',
    receiveBufferBytes,
    payloadBytes: hasAdditional(task.plan.arena) ? (message.ednsSize ?? DEFAULT_SLOT_BYTES) : 0,
  });
}

/** A worker's state once its sockets are open. */
export type Opened = Awaited<ReturnType<typeof open>>;

/** Opens the sockets or connections of a task's share. Rejects with a `LoadError` if that fails. */
export async function open(task: WorkerTask) {
  const { options, plan, share } = task;
  const { sockets } = options;
  const measurements = new Measurements(sockets === null ? null : new Sockets(share.lanes, sockets));
  const workload = startWorkload(plan, { ...share, seed: options.seed });
  const engine = new Engine({
    workload,
    measurements,
    window: share.window,
    timeoutNs: options.timeoutSeconds * 1e9,
    retries: options.retries,
    check: options.expect === null ? null : responseCheck(options.expect),
    edns: hasAdditional(plan.arena),
    cookie: options.message.cookie === null ? null : clientCookie(plan),
  });
  const transport = await openMain(task, engine.handler('main'));
  const fallback = options.tcpFallback
    ? await openConnections('tcp', requestOf(task, engine.handler('fallback')))
    : null;
  engine.attach(transport, fallback);
  const transports = fallback === null ? [transport] : [transport, fallback];
  return {
    engine,
    workload,
    measurements,
    transport,
    close: () => Promise.all(transports.map((opened) => opened.close())),
  };
}

/** Maximum window places filled together, and their maximum share of the window. */
const MAX_COALESCE = 16;
const COALESCE_SHARE = 1 / 6;

/**
 * Coalesces only if throughput is the goal (a closed loop without a rate), if answers may wait because the kernel has
 * timestamped them, and if each query is independent.
 */
function coalesceFor({ options, plan, share }: WorkerTask, kernelTimestamps: boolean): number {
  const { load, tcpFallback } = options;
  const fit = load.kind === 'closed' && load.maxRate === null && plan.resolver === null && !tcpFallback;
  if (!fit || !kernelTimestamps || share.window === null) return 1;
  return Math.max(1, Math.min(MAX_COALESCE, Math.floor(share.window * COALESCE_SHARE)));
}

/** How long the answers to what was sent last may take. */
function drainNsOf({ options, plan }: WorkerTask): number {
  const { timeoutSeconds, retries, tcpFallback } = options;
  // After a truncated answer, a query may wait for a connection, and has as many attempts over TCP.
  const attempts = (1 + retries) * (tcpFallback ? 2 : 1) + (tcpFallback ? 1 : 0);
  return timeoutSeconds * 1e9 * attempts * mostCandidatesOf(plan) + DRAIN_MARGIN_NS;
}

/** Events for the caller of `runShare`. */
export interface ShareEvents {
  /** At the end of the interval with this number: the measurements are up to date. */
  readonly onInterval: (index: number) => void;
  /** Nothing new will be sent: `sendingNs` after the start. */
  readonly onSendingOver: (sendingNs: number) => void;
}

/** Runs a share of the load from `startNs`; resolves when everything is answered or given up. */
export async function runShare(
  task: WorkerTask,
  opened: Opened,
  startNs: number,
  { onInterval, onSendingOver }: ShareEvents,
): Promise<void> {
  const { options, plan, share, control } = task;
  const { engine, workload, measurements, transport } = opened;
  const { kernelTimestamps } = transport.facts;
  let before = NO_LOSSES;
  const countLosses = () => {
    const { losses } = transport;
    measurements.counts.sendErrors += losses.sendErrors - before.sendErrors;
    measurements.counts.kernelDrops += losses.kernelDrops - before.kernelDrops;
    before = losses;
  };
  const endNs = startNs + options.durationSeconds * 1e9;
  const loop: Loop = new Loop({
    engine,
    transport,
    measurements,
    timestamps: kernelTimestamps,
    answersCauseSends: plan.resolver !== null || options.tcpFallback,
    coalesce: coalesceFor(task, kernelTimestamps),
    startNs,
    endNs,
    drainNs: drainNsOf(task),
    intervalNs: options.intervalSeconds * 1e9,
    stopped: () => Atomics.load(control, STOP) !== 0,
    onInterval: (index) => {
      countLosses();
      onInterval(index);
    },
    onSendingOver: () => onSendingOver(Math.min(nowNs(), endNs) - startNs),
  });
  const source = new Source({
    workload,
    schedule: scheduleFor(options, share),
    timed: options.load.kind === 'timed',
    limit: share.limit ?? Number.POSITIVE_INFINITY,
    startNs,
    endNs,
  });
  engine.start(source, () => loop.wake());
  await loop.run();
  countLosses();
}
