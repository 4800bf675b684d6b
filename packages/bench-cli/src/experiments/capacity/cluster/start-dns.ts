import type { V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { parseSummary } from '../../../observe/kubernetes/summary.ts';
import { unitSelector } from '../../../targets/kubernetes/objects/labels.ts';
import { runJob } from '../../../targets/kubernetes/run-job.ts';
import type { PhaseFigures, QueryCounts } from '../beside/phases.ts';
import { type PhaseReader, readPhases } from '../beside/read-phases.ts';
import type { ContainerEnd } from './created.ts';
import { DNS_CONTAINER, type DnsJobRequest, dnsJob } from './dns-job.ts';
import { SERVICE_LABELS } from './synthetic-objects.ts';

export interface StartRequest extends Omit<DnsJobRequest, 'deadlineSeconds'> {
  readonly client: KubeClient;
  /** Whether the program creates Services. They are removed at the end: the next start would read them as well. */
  readonly changes: boolean;
  /** Of phases that take longer than `rest` and `load`. */
  readonly moreSeconds?: number;
  readonly signal: AbortSignal;
}

export interface PhaseResult extends PhaseFigures {
  /** What Kubernetes compares with the limit, read by the kubelet within the last 15 seconds; null where it may not be read. */
  readonly workingSetBytes: number | null;
}

export interface StartResult extends Pick<PhaseReader, 'late' | 'streamed'> {
  readonly phases: readonly PhaseResult[];
  /** Of all phases; null if they did not come to their end. */
  readonly queries: QueryCounts | null;
  /** Why CoreDNS ended before all phases were over: killed for its memory, for example; null if it did not. */
  readonly death: string | null;
  /** Null if the kubelet has said nothing. */
  readonly container: ContainerEnd | null;
}

/** Getting ready and reading again may take two minutes each, and the cache is filled meanwhile. */
const SECONDS_BESIDE_PHASES = 400;

async function workingSetOf(
  client: KubeClient,
  { namespace, pod, node }: { namespace: string; pod: string; node: string },
  signal: AbortSignal,
): Promise<number | null> {
  try {
    const text = await client.text(`/api/v1/nodes/${node}/proxy/stats/summary`, 'get nodes/proxy', signal);
    const reading = parseSummary(text, namespace, new Map([[pod, DNS_CONTAINER]])).get(pod);
    // A container that has just ended has 0.
    return reading?.memoryBytes || null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BenchError) return null;
    throw error;
  }
}

async function placeOf(
  { client, namespace, runId, unit }: StartRequest,
  signal: AbortSignal,
): Promise<{ namespace: string; pod: string; node: string } | null> {
  const { items } = await client.list('Pod', { namespace, labels: unitSelector(runId, unit) }, signal);
  const [pod] = items;
  const { name } = pod?.metadata ?? {};
  const node = pod?.spec?.nodeName;
  return name === undefined || node === undefined ? null : { namespace, pod: name, node };
}

export function containerEnd({ metadata, status }: V1Pod): ContainerEnd | null {
  const found = status?.containerStatuses?.find(({ name }) => name === DNS_CONTAINER);
  const ended = found?.state?.terminated;
  if (found === undefined || ended === undefined) return null;
  const { reason = 'Error', exitCode } = ended;
  return { pod: metadata?.name ?? '', reason, exitCode, restarts: found.restartCount };
}

/** Also where the program ended before it was done with them. */
async function removeServices({ client, namespace, runId, unit, signal }: StartRequest): Promise<void> {
  const { items } = await client.list('Service', { namespace, labels: unitSelector(runId, unit) }, signal);
  for (const { metadata } of items) await client.delete('Service', metadata?.name ?? '', namespace, signal);
}

/**
 * Resolves when all phases are over, or CoreDNS has ended before.
 * @throws BenchError if the pod cannot be started, or its program fails: not a finding about CoreDNS.
 */
export async function startDns(request: StartRequest): Promise<StartResult> {
  const { client, settings, namespace, runId, unit, phases, seconds, moreSeconds = 0, signal } = request;
  const labels = unitSelector(runId, unit);
  const workingSets: Promise<number | null>[] = [];
  const runSeconds = SECONDS_BESIDE_PHASES + seconds * phases.length + moreSeconds;
  const readWorkingSet = async () => {
    const place = await placeOf(request, signal);
    return place === null ? null : workingSetOf(client, place, signal);
  };
  const reader = readPhases(() => workingSets.push(readWorkingSet().catch(() => null)));
  let death: string | null = null;
  let isKilled = false;
  let container: ContainerEnd | null = null;
  try {
    await runJob({
      client,
      namespace,
      labels,
      what: 'the private CoreDNS',
      signal,
      job: dnsJob({
        ...request,
        deadlineSeconds: settings.readyTime + runSeconds,
        besideEnv: {
          ...request.besideEnv,
          CHANGES: String(request.changes),
          PREFIX: unit,
          LABELS: JSON.stringify({ ...SERVICE_LABELS, ...labels }),
        },
      }),
      scheduleSeconds: settings.scheduleTime,
      startSeconds: settings.readyTime,
      runSeconds,
      onLine: reader.onLine,
      onEnd: (pod) => {
        container = containerEnd(pod);
      },
    });
    if (reader.total === null) death = 'CoreDNS ended by itself';
  } catch (error) {
    if (!(error instanceof BenchError) || error.code !== 'E_SERVER_DIED') throw error;
    death = error.message;
    isKilled = true;
  } finally {
    if (request.changes) await removeServices(request);
  }
  if (death !== null && !isKilled) reader.demandSound();
  const read = await Promise.all(workingSets);
  return {
    phases: reader.figures.map((phase, index) => ({ ...phase, workingSetBytes: read[index] ?? null })),
    queries: reader.total,
    death: reader.total === null ? death : null,
    ...{ late: reader.late, streamed: reader.streamed, container },
  };
}
