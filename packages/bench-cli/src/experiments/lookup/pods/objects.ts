/** The objects of a lookup run on a cluster: sampler pods, the standing pods and Services, the stress Deployment. Pure. */
import type { V1Container, V1Deployment, V1Pod, V1Service, V1Volume } from '@kubernetes/client-node';
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import {
  type Component,
  LABELS,
  unitLabels,
  unitSelector,
} from '../../../targets/kubernetes/objects/labels.ts';
import { type ConfigMapMount, podTemplate } from '../../../targets/kubernetes/objects/pods.ts';
import type { ObjectsRun } from '../../../targets/kubernetes/objects/server.ts';
import { SHARED_DIRECTORY } from '../capture/pod-signals.ts';
import { CAPTURE_PROGRAM } from './programs.ts';
import { type AskedBefore, SAMPLER_SCRIPT } from './sampler-script.ts';

/** One image for all pods, with a shell, curl, tcpdump and Node.js: that of the loader. */
export interface LookupRun extends ObjectsRun {
  readonly images: Pick<ClusterRun['images'], 'loader'>;
}

/** What everything around the samples of a run shares. */
export interface LookupPods {
  readonly run: ClusterRun;
  readonly api: ClusterApi;
  /** The ConfigMap with the programs of the pods. */
  readonly programs: ConfigMapMount;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** The second container of a sampler pod. */
export const CAPTURE_CONTAINER = 'capture';

/** Where the programs are, within the package that they import: Node.js then finds it by its own name. */
const PROGRAM_DIRECTORY = '/app/packages/load/lookup';

/** Unprivileged, unlike 80. */
const WEB_PORT = 8080;

/** tiger-bench's: policies select the sampler pods by it. */
export const SAMPLER_LABELS = { app: 'dnsperf', dep: 'dnsperf' } as const;

export interface SamplerPodRequest {
  /** Unique within the run. */
  readonly name: string;
  /** Of the trial, `trial-3`: common to its pods, and unique within the run. */
  readonly unit: string;
  readonly node: string;
  readonly url: string;
  /** Must answer before the first sample; null for nothing. */
  readonly readyUrl: string | null;
  readonly before: AskedBefore;
  /** Whether the policies that select sampler pods are for it. */
  readonly hasPolicy: boolean;
  /** The loop, as a command. */
  readonly command: readonly string[];
  /** Port of the connections to be captured; null for no capture. */
  readonly capturePort: number | null;
  readonly programs: ConfigMapMount;
  /** After this the cluster ends the pod, even if bench is gone. */
  readonly deadlineSeconds: number;
}

const SHARED: V1Volume = { name: 'shared', emptyDir: {} };
const sharedMount = { name: SHARED.name, mountPath: SHARED_DIRECTORY };

/**
 * The capture needs root and NET_RAW, in the network namespace of its own pod: neither the host's network nor a look at its
 * interfaces. Both directions of a handshake and the queries of the search list are seen there. tcpdump of Debian sets its user,
 * even to the one that it has: hence the other two capabilities.
 */
function captureContainer(run: LookupRun, request: SamplerPodRequest, programs: string): V1Container {
  return {
    name: CAPTURE_CONTAINER,
    image: run.images.loader,
    imagePullPolicy: run.settings.pullPolicy,
    command: ['node', programPath(CAPTURE_PROGRAM)],
    env: [
      { name: 'PORT', value: String(request.capturePort) },
      { name: 'LIMIT_SECONDS', value: String(request.deadlineSeconds) },
    ],
    volumeMounts: [sharedMount, { name: programs, mountPath: PROGRAM_DIRECTORY, readOnly: true }],
    securityContext: {
      runAsUser: 0,
      runAsNonRoot: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_RAW', 'SETGID', 'SETUID'] },
    },
  };
}

/** The path of one of the programs in a sampler pod. */
export const programPath = (name: string) => `${PROGRAM_DIRECTORY}/${name}`;

export function samplerPod(run: LookupRun, request: SamplerPodRequest): V1Pod {
  const { name, unit, node, url, readyUrl, before, hasPolicy, command, capturePort, programs } = request;
  const selected = hasPolicy ? SAMPLER_LABELS : { app: SAMPLER_LABELS.app };
  const labels = { ...unitLabels(run.runId, 'sampler', unit), ...selected, pod: name };
  const { metadata, spec } = podTemplate({
    ...run,
    labels,
    component: 'sampler',
    image: run.images.loader,
    command: ['/bin/sh', '-c', SAMPLER_SCRIPT, 'sampler', readyUrl ?? '', url, before, ...command],
    args: [],
    env: { WAIT_FOR_CAPTURE: capturePort === null ? '' : '1' },
    mounts: { [PROGRAM_DIRECTORY]: programs },
    restartPolicy: 'Never',
  });
  const programVolume = spec.volumes?.[0]?.name ?? '';
  const [sampler] = spec.containers;
  const volumeMounts = [...(sampler.volumeMounts ?? []), sharedMount];
  const capture = capturePort === null ? [] : [captureContainer(run, request, programVolume)];
  return {
    metadata: { ...metadata, name, namespace: run.namespace },
    spec: {
      ...spec,
      nodeName: node,
      activeDeadlineSeconds: Math.ceil(request.deadlineSeconds),
      containers: [{ ...sampler, volumeMounts }, ...capture],
      volumes: [...(spec.volumes ?? []), SHARED],
    },
  };
}

interface DeploymentRequest {
  readonly name: string;
  readonly replicas: number;
  readonly component: Component;
  readonly command: readonly string[];
  readonly mounts?: Readonly<Record<string, ConfigMapMount>>;
  readonly isWeb: boolean;
}

const probe = (periodSeconds: number) => ({
  tcpSocket: { port: WEB_PORT },
  periodSeconds,
  // Ten programs that start at once may take a while.
  failureThreshold: 60,
});

function deploymentOf(run: LookupRun, request: DeploymentRequest): V1Deployment {
  const { name, replicas, component, command, mounts = {}, isWeb } = request;
  const labels = { ...unitLabels(run.runId, component, name), [LABELS.name]: name, app: name };
  const template = podTemplate({
    ...run,
    labels,
    component,
    image: run.images.loader,
    command,
    args: [],
    mounts,
    restartPolicy: 'Always',
  });
  const [container] = template.spec.containers;
  // Seldom: the probes of ten pods should not compete with what is measured.
  const probes = isWeb ? { startupProbe: probe(1), readinessProbe: probe(10) } : {};
  return {
    metadata: { name, namespace: run.namespace, labels },
    spec: {
      replicas,
      revisionHistoryLimit: 0,
      selector: { matchLabels: unitSelector(run.runId, name) },
      template: { ...template, spec: { ...template.spec, containers: [{ ...container, ...probes }] } },
    },
  };
}

/** As in tiger-bench. */
export const STANDING_SERVICE = 'standing-svc';
const STANDING_DEPLOYMENT = 'standing-deployment';
const IDLE = { standing: STANDING_DEPLOYMENT, stress: 'dnsscale' } as const;
/** Pods behind the Services. */
const WEB_PODS = 10;

/** Serves a page of a few bytes. */
export function webDeployment(run: LookupRun, programs: ConfigMapMount): V1Deployment {
  return deploymentOf(run, {
    name: STANDING_SERVICE,
    replicas: WEB_PODS,
    component: 'web',
    command: ['node', programPath('site-program.mjs'), String(WEB_PORT)],
    mounts: { [PROGRAM_DIRECTORY]: programs },
    isWeb: true,
  });
}

/** Pods that only exist: they need no CPU. */
const SLEEP = ['/bin/sh', '-c', 'trap exit TERM; while :; do sleep 3600 & wait $!; done'];

export const idleDeployment = (run: LookupRun, component: keyof typeof IDLE, replicas: number) =>
  deploymentOf(run, { name: IDLE[component], replicas, component, command: SLEEP, isWeb: false });

/**
 * A Service over the web pods: number 0 is the target itself, the others are the standing ones.
 * @param externalAddress Connections to this address from within the cluster reach it, too.
 */
export function webService(run: LookupRun, number: number, externalAddress?: string): V1Service {
  const name = number === 0 ? STANDING_SERVICE : `${STANDING_SERVICE}-${number}`;
  return {
    metadata: { name, namespace: run.namespace, labels: unitLabels(run.runId, 'standing', 'services') },
    spec: {
      selector: unitSelector(run.runId, STANDING_SERVICE),
      ports: [{ name: 'http', port: 80, targetPort: WEB_PORT, protocol: 'TCP' }],
      ...(externalAddress === undefined ? {} : { externalIPs: [externalAddress] }),
    },
  };
}

/** A policy of the cluster's own kind. An idle one selects no pod; the others let everything through. */
export function standingPolicy(run: LookupRun, number: number, isIdle: boolean): Record<string, unknown> {
  const selected = isIdle
    ? { 'dinodns-bench/selects': 'nothing' }
    : unitSelector(run.runId, STANDING_DEPLOYMENT);
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: `${isIdle ? 'idle' : 'standing'}-policy-${number}`,
      namespace: run.namespace,
      labels: unitLabels(run.runId, 'standing', 'policies'),
    },
    spec: {
      podSelector: { matchLabels: selected },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{}],
      egress: [{}],
    },
  };
}
