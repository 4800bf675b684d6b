/**
 * Watches the cluster's own DNS while objects are created: it reads them as well, and must not run out of memory for
 * them. Read rights only.
 */
import { BenchError, orNull } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { type PodPlace, podSource } from '../../../observe/kubernetes/pod-source.ts';
import { sum } from '../../../stats/intervals.ts';
import { dnsContainer, memoryLimitsOf } from '../../../targets/kubernetes/dns-container.ts';
import { findClusterDns } from '../../../targets/kubernetes/existing-service.ts';
import { restartsOf } from '../../../targets/kubernetes/pod-state.ts';
import { type ClusterDnsState, dnsText } from './created.ts';

/** Of its limit: a list of everything, should it come now, takes about twice the steady memory of small clusters. */
const MAX_SHARE = 0.6;

/** The kubelet reads the figures every ten to fifteen seconds. */
const INTERVAL_SECONDS = 5;

export interface ClusterDnsGuard {
  readonly before: ClusterDnsState | null;
  /** Aborted, with the error to report, when it must not get more objects. */
  readonly signal: AbortSignal;
  /** Its state now; null if the cluster has none that bench knows. */
  now(): Promise<ClusterDnsState | null>;
  stop(): void;
  /** Stops, and reads its state for `closing`. Never rejects: what was created must go even if the figures cannot be had. */
  end(): Promise<void>;
  /** For the end of a run; nothing where its state is not known. */
  closing(): string[];
}

/** Working sets of these containers, which the kubelets read; null where they may not be asked. */
export async function memoryOf(
  client: KubeClient,
  namespace: string,
  pods: readonly PodPlace[],
  signal: AbortSignal,
): Promise<number[] | null> {
  try {
    const readings = await podSource(client, namespace, pods, signal).usage();
    return [...readings.values()].flatMap(({ memoryBytes }) => memoryBytes ?? []);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BenchError) return null;
    throw error;
  }
}

export async function clusterDnsState(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ClusterDnsState | null> {
  const dns = await orNull(['E_CONFIG', 'E_CLUSTER_FORBIDDEN'], findClusterDns(client, signal));
  if (dns === null) return null;
  const limits = memoryLimitsOf(dns.pods, dns.podPort);
  const places = dns.pods.map((pod) => ({
    ...{ name: pod.metadata?.name ?? '', node: pod.spec?.nodeName ?? '' },
    container: dnsContainer(pod, dns.podPort)?.name ?? null,
  }));
  const used = (await memoryOf(client, dns.namespace, places, signal)) ?? [];
  return {
    pods: dns.pods.length,
    restarts: sum(dns.pods.map(restartsOf)),
    memoryBytes: used.length === 0 ? null : Math.max(...used),
    memoryLimitBytes: limits.length === 0 ? null : Math.min(...limits),
  };
}

/** Why the cluster's DNS must not get more objects; null if it may. */
export function dangerOf(before: ClusterDnsState, now: ClusterDnsState): string | null {
  const { memoryBytes, memoryLimitBytes } = now;
  if (now.restarts > before.restarts) return 'a pod of it was restarted';
  if (now.pods < before.pods) return `it has ${now.pods} ready pods, ${before.pods} before`;
  if (memoryBytes === null || memoryLimitBytes === null || memoryBytes <= MAX_SHARE * memoryLimitBytes)
    return null;
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return `it uses ${mebibytes(memoryBytes)} of its limit of ${mebibytes(memoryLimitBytes)}`;
}

/** What is not watched while objects are created, as sentences: its restarts, or its memory. */
export function unwatched(before: ClusterDnsState | null): string[] {
  if (before === null)
    return ["The cluster's own DNS was not watched: it is not known, or its pods may not be read."];
  // Without a limit, there is nothing to get near to.
  const isUnknown = before.memoryBytes === null && before.memoryLimitBytes !== null;
  return isUnknown
    ? ["The memory of the cluster's own DNS was not watched: the kubelet's figures may not be read."]
    : [];
}

/** Looks every five seconds, until `stop`. */
export async function guardClusterDns(client: KubeClient, signal: AbortSignal): Promise<ClusterDnsGuard> {
  const before = await clusterDnsState(client, signal);
  const danger = new AbortController();
  let busy = false;
  const look = async () => {
    if (busy || before === null) return;
    busy = true;
    try {
      const now = await clusterDnsState(client, signal);
      const why = now === null ? 'it has no ready pods any more' : dangerOf(before, now);
      if (why === null) return;
      const message = `the cluster's own DNS is in danger: ${why}`;
      danger.abort(
        new BenchError('E_CLUSTER_REFUSED', message, {
          fix: 'Its objects are deleted again. Raise the memory limit of the cluster DNS first, or give fewer --objects.',
        }),
      );
    } finally {
      busy = false;
    }
  };
  const stop = client.clock.every(INTERVAL_SECONDS, () => {
    // What cannot be read now can be read in five seconds; the run has its own requests, which fail loudly.
    look().catch(() => undefined);
  });
  const now = () => clusterDnsState(client, signal);
  let after = before;
  return {
    before,
    signal: danger.signal,
    now,
    stop,
    end: async () => {
      stop();
      after = await now().catch(() => null);
    },
    closing: () =>
      before === null || after === null
        ? []
        : [`DNS of the cluster, before → after: ${dnsText({ before, after })}.`],
  };
}
