/**
 * Watches the pods of a deployment over a trial with the kubelet's counters. The counters are read while the
 * server is idle before the load, and again after the load has ended. So the CPU time is exactly that of the
 * load, however rarely the kubelet updates them; only the samples in between are sparse.
 */
import { BenchError } from '../../errors.ts';
import { once } from '../../process.ts';
import type { Clock } from '../../world.ts';
import { type ObservationWindow, sampleEvery } from '../window.ts';
import {
  cpuBetween,
  idleCoresBetween,
  isAnotherReading,
  type PodFigures,
  type PodReadings,
  podFigures,
  type Sample,
} from './pod-figures.ts';
import type { ThrottlingReading } from './pod-reading.ts';
import { nodesOf, type PodPlace, type PodSource } from './pod-source.ts';
import { readSettled } from './settled.ts';

export interface ObservePodsOptions {
  readonly clock: Clock;
  readonly source: PodSource;
  readonly pods: readonly PodPlace[];
  /** Planned length of the load; a trial should not wait longer for its figures than it measured. */
  readonly loadSeconds: number;
  /** Observe first what the pods use without load, which takes 5 s and one more reading of the kubelet. Default false. */
  readonly idleFirst?: boolean;
  readonly signal: AbortSignal;
}

/** cAdvisor reads the counters every 10 to 15 seconds. */
const SETTLE_SECONDS = 20;
/** With a shorter load, cAdvisor cannot read the counters at both of its ends. */
const MIN_THROTTLING_SECONDS = 5;
const SAMPLE_SECONDS = 2;
/** Some kubelets read the counters of new pods every second, and their times are in whole seconds. */
const IDLE_SECONDS = 5;

const isAnotherThrottling = (a: ThrottlingReading, b: ThrottlingReading) => a.stamp !== b.stamp;

async function addSample({ clock, source }: ObservePodsOptions, samples: Sample[]): Promise<void> {
  try {
    const readings = await source.usage();
    samples.push({ atSeconds: clock.monotonicSeconds(), readings });
  } catch {
    // The API server or the kubelet cannot be reached for a while: this sample is missing.
  }
}

function readUsage({ clock, source, pods, signal }: ObservePodsOptions) {
  const names = pods.map(({ name }) => name);
  return readSettled(source.usage, names, isAnotherReading, { clock, signal, seconds: SETTLE_SECONDS });
}

/** Reads usage and throttling side by side: both wait for the kubelet, with a request now and then. */
async function readCounters(options: ObservePodsOptions) {
  const { clock, source, pods, loadSeconds, signal } = options;
  const readThrottling = async () =>
    loadSeconds < MIN_THROTTLING_SECONDS
      ? null
      : readSettled(
          source.throttling,
          pods.map(({ name }) => name),
          isAnotherThrottling,
          { clock, signal, seconds: Math.min(SETTLE_SECONDS, loadSeconds) },
        ).catch(() => null);
  const [usage, throttling] = await Promise.all([readUsage(options), readThrottling()]);
  return { usage, throttling };
}

/** Without the figures of one pod, the sum of the others would be too small: there is none. */
function unknown(pods: readonly PodPlace[], { begin, end }: Pick<PodReadings, 'usage'>['usage']): BenchError {
  const isMissing = ({ name }: PodPlace) =>
    [...begin.stale, ...end.stale].includes(name) || !begin.values.has(name) || !end.values.has(name);
  const silent = pods.filter(isMissing);
  if (silent.length === 0) {
    const back = pods.filter(({ name }) => cpuBetween(begin.values, end.values, name) === null);
    return new BenchError(
      'E_NO_FIGURES',
      `the CPU counter of ${back.map(({ name, node }) => `pod ${name} on node ${node}`).join(', ')} went back during the load, so CPU and memory of the server are not known`,
      {
        fix: 'Its container was restarted: `kubectl describe pod` says why. Repeat the trial with --resume, or measure without CPU and memory: --observe none.',
      },
    );
  }
  return new BenchError(
    'E_NO_FIGURES',
    `the kubelet of node ${nodesOf(silent).join(', ')} gave no new figures of pod ${silent.map(({ name }) => name).join(', ')} within ${SETTLE_SECONDS} seconds, so CPU and memory of the server are not known`,
    {
      fix: 'Check that the node is healthy and not overloaded. Repeat the trial with --resume, or measure without CPU and memory: --observe none.',
    },
  );
}

/**
 * Opens the window; resolves with the first reading taken after this call, which takes up to 20 seconds, with `idleFirst` up to 45.
 * `end` rejects with `E_NO_FIGURES` if a kubelet does not answer, or gives nothing new in that time.
 */
export async function observePods(options: ObservePodsOptions): Promise<ObservationWindow> {
  const { clock, pods, signal, idleFirst = false } = options;
  const waiting = idleFirst ? await readUsage(options) : null;
  if (idleFirst) await clock.sleep(IDLE_SECONDS, signal);
  const begin = await readCounters(options);
  let startedAt = clock.monotonicSeconds();
  const samples: Sample[] = [{ atSeconds: startedAt, readings: begin.usage.values }];
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const sampling = sampleEvery(clock, SAMPLE_SECONDS, stopped, () => addSample(options, samples));

  let figures: PodFigures | null = null;
  const finish = async () => {
    const endedAt = clock.monotonicSeconds();
    stop.abort(new Error('the window is over'));
    await sampling;
    const end = await readCounters(options);
    const usage = { begin: begin.usage, end: end.usage };
    figures = podFigures({
      pods,
      startedAt,
      endedAt,
      usage,
      throttling: { begin: begin.throttling, end: end.throttling },
      samples,
    });
    if (figures === null) throw unknown(pods, usage);
    return figures.observation;
  };
  return {
    started: () => {
      startedAt = clock.monotonicSeconds();
    },
    end: once(finish),
    instances: () => figures?.instances ?? null,
    readSeconds: () => figures?.readSeconds ?? null,
    idleCores: () => (waiting === null ? null : idleCoresBetween(waiting, begin.usage, pods)),
  };
}
