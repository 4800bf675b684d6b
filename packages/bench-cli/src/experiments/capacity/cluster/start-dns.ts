/** A start of a private CoreDNS whose memory is measured. */
import type { V1Pod } from '@kubernetes/client-node';
import { endedAfter } from '../../../engine/close.ts';
import { BenchError, errorsOf } from '../../../errors.ts';
import { tidyingSignal } from '../../../kubernetes-api/client.ts';
import { unitSelector } from '../../../targets/kubernetes/objects/labels.ts';
import { type OnceRun, runOnce } from '../../../targets/kubernetes/run-job.ts';
import type { PhaseFigures, QueryCounts } from '../beside/phases.ts';
import { type Measuring, measuringEnvironment } from '../beside/program.ts';
import { type PhaseReader, readPhases } from '../beside/read-phases.ts';
import { memoryOf } from './cluster-dns-guard.ts';
import type { ContainerEnd } from './created.ts';
import { DNS_CONTAINER, type DnsPodRequest, dnsPod } from './dns-job.ts';
import { SERVICE_LABELS } from './synthetic-objects.ts';

export interface StartRequest
  extends Omit<DnsPodRequest, 'reads' | 'entry' | 'env'>,
    Omit<Measuring, 'corefile'> {
  /** `start-1` */
  readonly unit: string;
  /** More settings of the program. */
  readonly besideEnv?: Readonly<Record<string, string>>;
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
  { client, namespace, runId }: OnceRun,
  unit: string,
  signal: AbortSignal,
): Promise<number | null> {
  const { items } = await client.list('Pod', { namespace, labels: unitSelector(runId, unit) }, signal);
  const [pod] = items;
  const { name } = pod?.metadata ?? {};
  const node = pod?.spec?.nodeName;
  if (name === undefined || node === undefined) return null;
  const bytes = await memoryOf(client, namespace, [{ name, node, container: DNS_CONTAINER }], signal);
  // A container that has just ended has 0.
  return bytes?.[0] || null;
}

export function containerEnd({ metadata, status }: V1Pod): ContainerEnd | null {
  const found = status?.containerStatuses?.find(({ name }) => name === DNS_CONTAINER);
  const ended = found?.state?.terminated;
  if (found === undefined || ended === undefined) return null;
  const { reason = 'Error', exitCode } = ended;
  return { pod: metadata?.name ?? '', reason, exitCode, restarts: found.restartCount };
}

/** @throws BenchError for a pod that Kubernetes ended, as by an eviction: that says nothing of CoreDNS */
function demandOwnEnd(status: V1Pod['status'], late: StartResult['late']): void {
  const { reason, message = '' } = status ?? {};
  if (reason === undefined || late !== null) return;
  throw new BenchError(
    'E_SERVER_DIED',
    `Kubernetes ended the private CoreDNS (${reason}) ${message}`.trim(),
    {
      fix: 'See the events of the node: `kubectl describe node NAME`.',
    },
  );
}

/** Also where the program ended before it was done with them. */
export async function removeServices(
  { client, namespace, runId }: OnceRun,
  { unit, signal: asked }: Pick<StartRequest, 'unit' | 'signal'>,
): Promise<void> {
  const signal = tidyingSignal(asked);
  const { items } = await client.list('Service', { namespace, labels: unitSelector(runId, unit) }, signal);
  for (const { metadata } of items) await client.delete('Service', metadata?.name ?? '', namespace, signal);
}

/**
 * Resolves when all phases are over, or CoreDNS has ended before.
 * @throws BenchError if the pod cannot be started, or its program fails: not a finding about CoreDNS.
 */
export async function startDns(run: OnceRun, request: StartRequest): Promise<StartResult> {
  const { settings, namespace, runId } = run;
  const { unit, phases, seconds, moreSeconds = 0, changes, signal } = request;
  const workingSets: Promise<number | null>[] = [];
  const reader = readPhases(() => workingSets.push(workingSetOf(run, unit, signal).catch(() => null)));
  const seen: { container: ContainerEnd | null; status: V1Pod['status'] } = { container: null, status: {} };
  const perform = () =>
    runOnce(run, {
      ...dnsPod(settings, namespace, {
        ...request,
        reads: 'through the program',
        entry: 'main.mjs',
        env: {
          ...request.besideEnv,
          ...measuringEnvironment(request),
          CHANGES: String(changes),
          PREFIX: unit,
          LABELS: JSON.stringify({ ...SERVICE_LABELS, ...unitSelector(runId, unit) }),
        },
      }),
      ...{ name: unit, isUnique: true, signal, onLine: reader.onLine },
      runSeconds: SECONDS_BESIDE_PHASES + seconds * phases.length + moreSeconds,
      onEnd: (pod) => {
        Object.assign(seen, { container: containerEnd(pod), status: pod.status });
      },
    });
  const isKilled = () => seen.container?.reason === 'OOMKilled';
  const killed = await endedAfter(
    () =>
      perform().then(
        () => null,
        (error: unknown) => {
          if (error instanceof BenchError && error.code === 'E_SERVER_DIED' && isKilled())
            return error.message;
          throw error;
        },
      ),
    async () => (changes ? removeServices(run, request).then(() => [], errorsOf) : []),
  );
  const { late, total, streamed } = reader;
  if (killed === null && total === null) {
    reader.demandSound();
    demandOwnEnd(seen.status, late);
  }
  const ended = late === null ? 'CoreDNS ended by itself' : `it lived, but the phase ${late} took too long`;
  const read = await Promise.all(workingSets);
  return {
    phases: reader.figures.map((phase, index) => ({ ...phase, workingSetBytes: read[index] ?? null })),
    queries: total,
    death: total === null ? (killed ?? ended) : null,
    ...{ late, streamed, container: seen.container },
  };
}
