/** One deployed server: its pods, how they are watched and observed, and how they are removed. */
import { join } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import type { DnsQuery } from '../../dns/client.ts';
import type { Endpoint } from '../../dns/endpoint.ts';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { type ContainerReference, lastLogLines } from '../../kubernetes-api/logs.ts';
import { observeMetrics } from '../../observe/kubernetes/observe-metrics.ts';
import { observePods } from '../../observe/kubernetes/observe-pods.ts';
import { type PodPlace, podSource } from '../../observe/kubernetes/pod-source.ts';
import type { ObservationWindow } from '../../observe/window.ts';
import { once } from '../../process.ts';
import type { InstanceRecord } from '../../results/record.ts';
import { parseReadyLine } from '../ready-line.ts';
import type { Deployment, DeployRequest, ObserveOptions } from '../target.ts';
import { openCheckedClient, waitUntilReached } from './checker.ts';
import type { ClusterRun } from './cluster-run.ts';
import { dnsContainer, observedContainer } from './dns-container.ts';
import { CONTAINER } from './objects/pods.ts';
import { assessAdoptedPod, assessPod, assessRunningPod, restartsOf } from './pod-state.ts';
import { watchForDeath } from './wait-for-pods.ts';

export interface DeployedPods {
  readonly run: ClusterRun;
  readonly request: DeployRequest;
  readonly namespace: string;
  readonly pods: readonly V1Pod[];
  readonly labels: Readonly<Record<string, string>>;
  readonly service: Endpoint;
  readonly podPort: number;
  /** For the record; without the image's entry point. */
  readonly command: readonly string[];
  readonly workers: number | null;
  readonly files: Readonly<Record<string, string>>;
  readonly readiness: DnsQuery;
  /** Deletes the objects; not called twice. */
  readonly remove: () => Promise<void>;
  /** False for pods that belong to somebody else: their logs are not kept. */
  readonly ownsPods: boolean;
}

const SHOWN_LINES = 15;
const KEPT_LINES = 1000;

export function podNames(pods: readonly V1Pod[]): string[] {
  return pods.map((pod) => pod.metadata?.name ?? '');
}

function instanceOf(deployed: DeployedPods, pod: V1Pod, index: number): InstanceRecord {
  const { request, podPort, command, workers } = deployed;
  const { name } = pod.metadata ?? {};
  const nodeName = pod.spec?.nodeName;
  const container = dnsContainer(pod, podPort)?.name;
  const statuses = pod.status?.containerStatuses ?? [];
  const status = statuses.find((item) => item.name === container) ?? statuses[0];
  const image = status?.imageID || status?.image;
  return {
    address: pod.status?.podIP ?? '',
    port: podPort,
    pid: null,
    workers,
    command: [...command],
    cpuAllowance: request.allowances[index] ?? request.allowances[0] ?? 1,
    ...(name === undefined ? {} : { pod: name }),
    ...(nodeName === undefined ? {} : { node: nodeName }),
    ...(image === undefined ? {} : { image }),
  };
}

/** A window over these pods, from the source of the run. */
export async function openPodWindow(
  { client, observation, clockOffsetSeconds }: ClusterRun,
  namespace: string,
  pods: readonly PodPlace[],
  { loadSeconds, inTurn = false }: ObserveOptions & { readonly loadSeconds: number },
  signal: AbortSignal,
): Promise<ObservationWindow> {
  const { clock } = client;
  const common = { clock, pods, signal, source: podSource(client, namespace, pods, signal) };
  if (observation === 'summary') return observePods({ ...common, loadSeconds, idleFirst: inTurn });
  // Means over windows that are longer than a turn are of no turn.
  if (observation === 'metrics' && !inTurn) return observeMetrics({ ...common, clockOffsetSeconds });
  return { end: async () => null };
}

/** The pods that a Service leads to. */
export async function readyPods(
  client: KubeClient,
  selection: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<V1Pod[]> {
  const { items } = await client.list('Pod', selection, signal);
  return items.filter((pod) => pod.spec?.nodeName !== undefined && assessPod(pod).kind === 'ready');
}

/**
 * Only the pods that were found are watched: one that joins the Service later takes a part of the load, and is in no figure.
 * @throws BenchError `E_CLUSTER_CHANGED`
 */
async function demandFoundPods(
  { run, request, pods, namespace, labels }: DeployedPods,
  signal: AbortSignal,
): Promise<void> {
  const now = await readyPods(run.client, { namespace, labels }, signal);
  const without = (all: readonly V1Pod[], others: readonly V1Pod[]) =>
    all.filter(({ metadata }) => !others.some((other) => other.metadata?.uid === metadata?.uid));
  const at = (pod: V1Pod) => `pod ${pod.metadata?.name} on node ${pod.spec?.nodeName}`;
  const evidence = [
    ...without(now, pods).map((pod) => `${at(pod)} joined`),
    ...without(pods, now).map((pod) => `${at(pod)} left`),
  ];
  if (evidence.length === 0) return;
  throw new BenchError(
    'E_CLUSTER_CHANGED',
    `${request.server.name}: the ready pods behind its Service changed while it was measured, so the figures are not those of all that answered`,
    {
      evidence,
      fix: 'Wait until all its pods are ready, keep autoscalers and rollouts away, and repeat the trial with --resume.',
    },
  );
}

async function observe(
  deployed: DeployedPods,
  options: ObserveOptions,
  signal: AbortSignal,
): Promise<ObservationWindow> {
  const { run, pods, namespace, podPort, ownsPods } = deployed;
  const places = pods.map((pod) => ({
    name: pod.metadata?.name ?? '',
    node: pod.spec?.nodeName ?? '',
    container: observedContainer(pod, podPort),
  }));
  const { loadSeconds } = run;
  const window = await openPodWindow(run, namespace, places, { ...options, loadSeconds }, signal);
  if (ownsPods) return window;
  const end = async () => {
    // The window ends now, and not after the list.
    const ended = window.end();
    ended.catch(() => undefined);
    await demandFoundPods(deployed, signal);
    return ended;
  };
  return { ...window, end: once(end) };
}

/**
 * Rejects when a pod dies or restarts. Stays pending once the deployment is over: a pod that is removed on
 * purpose is no failure.
 */
async function deathOf(deployed: DeployedPods, over: AbortSignal): Promise<never> {
  const { run, request, pods, namespace, labels } = deployed;
  const restartsBefore = new Map(pods.map((pod) => [pod.metadata?.name ?? '', restartsOf(pod)]));
  const signal = AbortSignal.any([request.signal, over]);
  try {
    return await watchForDeath(
      { client: run.client, namespace, labels, what: request.server.name, signal },
      new Set(podNames(pods)),
      deployed.ownsPods
        ? assessRunningPod
        : (pod) => assessAdoptedPod(pod, restartsBefore.get(pod.metadata?.name ?? '') ?? 0),
    );
  } catch (error) {
    if (signal.aborted) return new Promise<never>(() => undefined);
    throw error;
  }
}

function logReferences({ pods, namespace }: DeployedPods): ContainerReference[] {
  return podNames(pods).map((pod) => ({ namespace, pod, container: CONTAINER }));
}

/** Writes the logs of our own pods to the log directory. */
async function keepLogs(deployed: DeployedPods, limit: AbortSignal): Promise<void> {
  const { run, request } = deployed;
  if (!deployed.ownsPods) return;
  for (const [index, reference] of logReferences(deployed).entries()) {
    const lines = await lastLogLines(run.client, reference, KEPT_LINES, limit);
    const file = join(request.logDirectory, `${request.server.name}-${index + 1}.log`);
    await run.world.fs.appendFile(file, lines.map((line) => `${line}\n`).join(''));
  }
}

/** DinoDNS writes in its first line how many workers it started. Null for other servers and adopted pods. */
async function readWorkers(deployed: DeployedPods, signal: AbortSignal): Promise<number | null> {
  const [reference] = logReferences(deployed);
  if (!deployed.ownsPods || reference === undefined) return null;
  const lines = await lastLogLines(deployed.run.client, reference, KEPT_LINES, signal);
  return lines.map((line) => parseReadyLine(line)?.workers).find((workers) => workers != null) ?? null;
}

async function lastLines(deployed: DeployedPods): Promise<string[]> {
  const lines: string[] = [];
  for (const reference of logReferences(deployed)) {
    const limit = AbortSignal.timeout(10_000);
    lines.push(...(await lastLogLines(deployed.run.client, reference, SHOWN_LINES, limit)));
  }
  return lines;
}

/** The pods that are ready, as the measuring code knows a deployment. */
export function deploymentOf(deployed: DeployedPods): Deployment {
  const { run, request, pods } = deployed;
  for (const { spec } of pods) if (spec?.nodeName !== undefined) run.placement.servers.add(spec.nodeName);
  const over = new AbortController();
  const dead = new AbortController();
  // Nobody waits for answers or figures of pods that have died.
  const alive = AbortSignal.any([request.signal, over.signal, dead.signal]);
  let instances = pods.map((pod, index) => instanceOf(deployed, pod, index));

  const died = deathOf(deployed, over.signal);
  died.catch((error: unknown) => dead.abort(error));

  const checkOf = (service: Endpoint) => ({
    service,
    pods: instances.map(({ address, port }) => ({ address, port })),
    transport: request.transport,
    readiness: deployed.readiness,
    signal: alive,
  });
  const remove = once(async () => {
    over.abort(new Error('the deployment is removed'));
    // A failure to save the logs must not stop the removal.
    if (!request.signal.aborted) await keepLogs(deployed, AbortSignal.timeout(5000)).catch(() => undefined);
    await deployed.remove();
  });
  return {
    get instances() {
      return instances;
    },
    endpoints: [deployed.service],
    files: deployed.files,
    openClient: async (service, workload) => {
      const client = await openCheckedClient(run, { ...checkOf(service), workload });
      const workers = await readWorkers(deployed, alive);
      if (workers !== null) instances = instances.map((instance) => ({ ...instance, workers }));
      return client;
    },
    reached: (service) => waitUntilReached(run, checkOf(service)),
    observe: (options = {}) => observe(deployed, options, alive),
    died,
    lastLogLines: () => lastLines(deployed),
    remove,
  };
}
