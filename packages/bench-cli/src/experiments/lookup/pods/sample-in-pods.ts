/** One trial on a cluster: a sampler pod on each node, all at the same time; what they print is the result. */
import { messageOf } from '@dinodns-bench/program';
import type { V1Pod } from '@kubernetes/client-node';
import { BenchError, clusterRefuses } from '../../../errors.ts';
import { tidyingSignal } from '../../../kubernetes-api/client.ts';
import { followLog } from '../../../kubernetes-api/logs.ts';
import { followUntil } from '../../../kubernetes-api/watch.ts';
import { unitSelector } from '../../../targets/kubernetes/objects/labels.ts';
import { CONTAINER } from '../../../targets/kubernetes/objects/pods.ts';
import { containerFailures, type PodFailure } from '../../../targets/kubernetes/pod-state.ts';
import { podError } from '../../../targets/kubernetes/wait-for-pods.ts';
import type { PodCapture } from '../capture/capture-program.ts';
import { mergeCaptures } from '../capture/merge.ts';
import type { LookupEvidence } from '../evidence.ts';
import { portOf } from '../plan.ts';
import { exitText } from '../sampling/sample.ts';
import {
  readSampled,
  SAMPLE_LIMIT_SECONDS,
  type Sampled,
  type SamplerRequest,
  samplerCommand,
} from '../sampling/sampler.ts';
import { evidenceOf } from '../trial.ts';
import {
  CAPTURE_CONTAINER,
  type LookupPods,
  programPath,
  type SamplerPodRequest,
  STANDING_SERVICE,
  samplerPod,
} from './objects.ts';
import { BUILTIN_CLIENT } from './programs.ts';
import { STATUS } from './sampler-script.ts';

export interface PodsRequest
  extends Pick<LookupPods, 'run' | 'programs' | 'signal'>,
    Pick<SamplerPodRequest, 'unit' | 'readyUrl' | 'before' | 'hasPolicy'>,
    SamplerRequest {
  /** Names; one pod on each. */
  readonly nodes: readonly string[];
  readonly capture: boolean;
}

interface PodResult {
  readonly pod: string;
  readonly node: string;
  readonly sampled: Sampled;
  /** Null without `capture`. */
  readonly capture: PodCapture | null;
}

/** Waiting for the newest Service (`sampler-script.ts`: three minutes) or for the name, and the counting afterwards. */
const PREPARE_SECONDS = 210;

/** Of the node at this index: the name of a node may be too long, and alike for all that would fit. */
const podName = (unit: string, index: number) => `dnsperf-${unit}-${index}`;

/** A page that no sample would reach, with the addresses that were tried, and one that works. */
export function unreachable(
  { url, hasPolicy }: Pick<PodsRequest, 'url' | 'hasPolicy'>,
  pod: string,
  status: number,
  sampler: readonly string[],
): BenchError {
  // curl writes `Trying 192.0.2.1:80...`.
  const tried = sampler.flatMap((line) => /^tried\|(.+?)\.*$/.exec(line)?.[1] ?? []);
  const isOwn = new URL(url).hostname.split('.')[0] === STANDING_SERVICE;
  const policy = hasPolicy
    ? ' The pod is under the policy: without it, the same command tells which of both it is.'
    : '';
  const fix = isOwn
    ? 'These are web pods of this run: look at them and at kube-proxy, with --keep.'
    : `Give a URL that pods of this cluster reach; http://${STANDING_SERVICE} is the web pods of the run itself.`;
  const problem =
    status === STATUS.unresolved
      ? `the name in ${url} does not resolve`
      : `${url} does not answer${tried.length === 0 ? '' : `, tried ${tried.join(', ')}`}: exit status ${exitText(status)}`;
  return new BenchError('E_NO_ANSWER', `pod ${pod}: ${problem}`, { fix: `${fix}${policy}` });
}

/** Why a pod could not begin, from what its containers printed. */
function notBegun(
  request: Pick<PodsRequest, 'url' | 'hasPolicy'>,
  name: string,
  sampler: readonly string[],
  capture: readonly string[],
): BenchError | null {
  const said = (lines: readonly string[], prefix: string) =>
    lines.find((line) => line.startsWith(`${prefix}|`))?.slice(prefix.length + 1);
  const status = said(sampler, 'unreachable');
  if (status !== undefined) return unreachable(request, name, Number(status), sampler);
  const notReady = said(sampler, 'not-ready');
  if (notReady !== undefined) {
    return new BenchError('E_NO_ANSWER', `pod ${name}: ${notReady} does not answer`, {
      fix: 'kube-proxy or its replacement has not set up the newest Service: look at its pods.',
    });
  }
  const captureFailed = said(capture, 'capture-failed');
  if (captureFailed === undefined) return null;
  return clusterRefuses(
    `pod ${name}: the capture did not start: ${captureFailed}`,
    'It needs the capability NET_RAW; --no-capture measures without it, and counts no repeated packets.',
  );
}

function parseCapture(lines: readonly string[]): PodCapture | null {
  const text = lines.find((line) => line.startsWith('capture|'))?.slice('capture|'.length);
  return text === undefined ? null : JSON.parse(text);
}

/** A container that ended with an error still leaves what it printed; a pod that cannot start leaves nothing. */
const startFailure = (pod: V1Pod) => containerFailures(pod).find(({ isOver }) => !isOver)?.failure;

const hasEnded = (pod: V1Pod) => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Whether all pods of a trial have ended, or one of them cannot start; undefined while any of them runs. */
export function endOf(
  pods: readonly V1Pod[],
  count: number,
): 'ended' | { readonly pod: V1Pod; readonly failure: PodFailure } | undefined {
  for (const pod of pods) {
    const failure = startFailure(pod);
    if (failure !== undefined) return { pod, failure };
  }
  return pods.length === count && pods.every(hasEnded) ? 'ended' : undefined;
}

async function waitForEnd(request: PodsRequest, deadlineSeconds: number): Promise<void> {
  const { run, unit, nodes, signal } = request;
  const { client, namespace, runId, settings } = run;
  const labels = unitSelector(runId, unit);
  const end = await followUntil(
    client,
    { kind: 'Pod', namespace, labels, signal, seconds: deadlineSeconds + settings.readyTime },
    ({ objects }) => endOf(objects, nodes.length),
    () =>
      new BenchError(
        'E_POD_TIMEOUT',
        `the sampler pods did not end within ${Math.round(deadlineSeconds)} seconds`,
        {
          fix: 'Look at their events with --keep: `kubectl describe pods -l app=dnsperf`.',
        },
      ),
  );
  if (end === 'ended') return;
  throw await podError({ client, namespace, labels, what: 'the sampler', signal }, end.pod, end.failure);
}

function resultOf(
  request: PodsRequest,
  { name, node }: { readonly name: string; readonly node: string },
  sampler: readonly string[],
  capture: readonly string[],
): PodResult {
  const problem = notBegun(request, name, sampler, capture);
  if (problem !== null) throw problem;
  const sampled = readSampled(sampler);
  const seen = request.capture ? parseCapture(capture) : null;
  if (sampled.isComplete && (seen !== null || !request.capture)) {
    return { pod: name, node, sampled, capture: seen };
  }
  throw new BenchError('E_LOADER_FAILED', `pod ${name} ended before its samples were complete`, {
    evidence: [...sampler.slice(-5), ...capture.slice(-5)],
    fix: 'Its last lines are above. Repeat the run; with --keep the pod stays.',
  });
}

async function createPods(request: PodsRequest, deadlineSeconds: number): Promise<void> {
  const { run, unit, nodes, url, capture, signal } = request;
  const command = samplerCommand(request, 'node', programPath(BUILTIN_CLIENT));
  for (const [index, node] of nodes.entries()) {
    const pod = samplerPod(run, {
      ...{ ...request, node, deadlineSeconds, name: podName(unit, index), command },
      capturePort: capture ? portOf(new URL(url)) : null,
    });
    await run.client.create('Pod', pod, signal);
  }
}

/** Runs the pods and deletes them. Rejects with a BenchError that names the pod and the reason. */
export async function sampleInPods(request: PodsRequest): Promise<readonly PodResult[]> {
  const { run, unit, nodes, seconds, capture } = request;
  const deadlineSeconds = seconds + SAMPLE_LIMIT_SECONDS + PREPARE_SECONDS;
  const stop = new AbortController();
  const current = { ...request, signal: AbortSignal.any([request.signal, stop.signal]) };
  let isOver = false;
  try {
    await createPods(current, deadlineSeconds);
    const end = waitForEnd(current, deadlineSeconds).finally(() => {
      isOver = true;
    });
    const read = async (pod: string, container: string) => {
      const lines: string[] = [];
      const reader = {
        onLine: (line: string) => lines.push(line),
        ended: () => isOver,
        signal: current.signal,
      };
      await followLog(run.client, { namespace: run.namespace, pod, container }, reader);
      return lines;
    };
    const logs = nodes.map((_, index) => {
      const pod = podName(unit, index);
      return Promise.all([read(pod, CONTAINER), capture ? read(pod, CAPTURE_CONTAINER) : []]);
    });
    const [, ...texts] = await Promise.all([end, ...logs]);
    return nodes.map((node, index) =>
      resultOf(request, { name: podName(unit, index), node }, ...(texts[index] ?? [[], []])),
    );
  } finally {
    stop.abort(new Error('the trial is over'));
    if (!run.settings.keep) await deletePods(request);
  }
}

/** Does not hide why the trial failed. */
async function deletePods({ run, unit, nodes, signal }: PodsRequest): Promise<void> {
  const limit = tidyingSignal(signal);
  for (const index of nodes.keys()) {
    await run.client
      .delete('Pod', podName(unit, index), run.namespace, limit)
      .catch((error: unknown) => run.world.stderr.write(`Note: ${messageOf(error)}\n`));
  }
}

/** What the pods of a trial sampled, and for how long. */
interface PodsSampled {
  readonly pods: readonly PodResult[];
  readonly seconds: number;
}

/** A new pod on each node for each sample, until the time is over; at least one. The last may end later. */
export async function sampleOneByOne(request: PodsRequest): Promise<PodsSampled> {
  const { unit, seconds, run } = request;
  const { clock } = run.client;
  const startedAt = clock.monotonicSeconds();
  const elapsed = () => clock.monotonicSeconds() - startedAt;
  const pods: PodResult[] = [];
  for (let number = 0; number === 0 || elapsed() < seconds; number += 1) {
    pods.push(...(await sampleInPods({ ...request, unit: `${unit}-${number}`, seconds: 0 })));
  }
  return { pods, seconds: elapsed() };
}

/** @param isCold Whether the pods had asked nothing before their first samples. */
export function evidenceOfPods({ pods, seconds }: PodsSampled, isCold: boolean): LookupEvidence {
  const repeats = pods.flatMap(({ sampled }) => sampled.kernelRepeats ?? []);
  return evidenceOf({
    seconds,
    samplers: pods.map(({ sampled, pod, node }) => ({ ...sampled, name: pod, node, isCold })),
    packets: mergeCaptures(pods.flatMap(({ capture }) => capture ?? [])),
    kernel: {
      syn: repeats.length < pods.length ? null : repeats.reduce((sum, count) => sum + count, 0),
      // The other side is behind a Service.
      synAck: null,
      scope: 'namespace',
    },
    prediction: null,
  });
}
