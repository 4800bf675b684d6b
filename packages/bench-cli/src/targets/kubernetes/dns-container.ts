/** Which container of a pod is the DNS server. The others are sidecars (metrics, caches of names, service meshes). Pure. */
import type { V1Container, V1Pod, V1PodTemplateSpec, V1Service } from '@kubernetes/client-node';
import { parseQuantity } from '../../quantity.ts';

/** Names under which distributions run it, where no container declares the port: kubeadm and clouds, OpenShift, kube-dns. */
const USUAL_NAMES = ['coredns', 'dns', 'kubedns'];

/** kubectl's own way to say which container is meant. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** Those that run as long as the pod: an init container that restarts always is a sidecar, too. */
export function lastingContainers(pod: V1Pod): V1Container[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  return [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
}

function listensOn(container: V1Container, port: number): boolean {
  return (container.ports ?? []).some(
    ({ containerPort, protocol }) => containerPort === port && protocol === 'UDP',
  );
}

/**
 * The container that declares `port` over UDP; otherwise the one with a usual name; otherwise the pod's default container, by its
 * annotation or as the first one. Undefined for a pod without containers.
 */
export function dnsContainer(pod: V1Pod, port: number): V1Container | undefined {
  const { containers = [] } = pod.spec ?? {};
  const annotated = pod.metadata?.annotations?.[DEFAULT_CONTAINER];
  return (
    containers.find((container) => listensOn(container, port)) ??
    containers.find(({ name }) => USUAL_NAMES.includes(name)) ??
    containers.find(({ name }) => name === annotated) ??
    containers[0]
  );
}

/** The port of its pods that this port of the Service maps to. */
export function podPortOf(
  service: V1Service,
  servicePort: number,
  pods: Pick<V1PodTemplateSpec, 'spec'> | undefined,
): number {
  const ports = service.spec?.ports?.filter(({ port }) => port === servicePort) ?? [];
  const target = (ports.find(({ protocol }) => protocol !== 'TCP') ?? ports[0])?.targetPort ?? servicePort;
  if (typeof target === 'number') return target;
  const named = (pods?.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return named.find(({ name }) => name === target)?.containerPort ?? servicePort;
}

/** The name of the DNS container where there are others beside it; null if it is alone, so that the pod's figures are its own. */
export function observedContainer(pod: V1Pod, port: number): string | null {
  return lastingContainers(pod).length > 1 ? (dnsContainer(pod, port)?.name ?? null) : null;
}

/** Memory limits of the DNS containers of these pods, of those that have one. Bytes. */
export function memoryLimitsOf(pods: readonly V1Pod[], port: number): number[] {
  return pods.flatMap((pod) => parseQuantity(dnsContainer(pod, port)?.resources?.limits?.memory) ?? []);
}
