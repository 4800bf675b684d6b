/** The objects of one deployed server: its files, its instances, and the Service over them. Pure. */

import type { V1ConfigMap, V1Deployment, V1DeploymentSpec, V1Service } from '@kubernetes/client-node';
import { type Certificates, certificateFilesIn } from '../../../certificates/certificates.ts';
import { BenchError } from '../../../errors.ts';
import { cpuQuantity } from '../../../quantity.ts';
import type { InstancePlan, Server } from '../../../servers/server.ts';
import type { DeployRequest } from '../../target.ts';
import type { ClusterRun } from '../cluster-run.ts';
import { configMapOf } from './config-map.ts';
import { certificateFiles, withoutCertificates } from './encryption.ts';
import { LABELS, labelValue, unitLabels, unitSelector } from './labels.ts';
import { type PodTemplate, podTemplate, SCRATCH_DIRECTORY } from './pods.ts';

/** In the pod, because a port below 1024 needs a capability. The Service uses port 53. */
export const POD_PORT = 5353;
const SERVICE_PORT = 53;

/** Where a loader sends on this path: only a Service with an address of its own has another port than the pods. */
export const portOn = (path: string) => (path === 'service' || path === 'local' ? SERVICE_PORT : POD_PORT);

/** Where a server's files are in its container. */
export const CONFIGURATION_DIRECTORY = '/etc/bench';

/** What all objects of a run are made from. */
export type ObjectsRun = Pick<ClusterRun, 'settings' | 'namespace' | 'runId' | 'pullSecrets'>;

export interface ServerRequest
  extends ObjectsRun,
    Pick<DeployRequest, 'server' | 'zoneSet' | 'mode' | 'transport' | 'allowances'> {
  /** Unique within the run: `003-coredns`. */
  readonly unit: string;
  readonly image: string;
  /** Of what the server needs beside it. */
  readonly companionImage: string;
  /** Null for a transport without encryption. */
  readonly certificates: Certificates | null;
  /** Cores of the node, for `--workers node`. */
  readonly coresOfNode: number | null;
}

export interface ServerObjects {
  readonly name: string;
  readonly plan: InstancePlan;
  readonly configMap: V1ConfigMap;
  readonly deployment: V1Deployment;
  readonly service: V1Service;
  /** Configuration files by name, for the record. */
  readonly files: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** Ports of the companions of a pod, in their order. */
const FIRST_COMPANION_PORT = 8101;
const LOOPBACK = '127.0.0.1';

function companionsOf({ server }: ServerRequest) {
  return (server.companions?.(LOOPBACK) ?? []).flatMap(({ name, inPod }, index) =>
    inPod === undefined ? [] : [{ name, inPod, port: FIRST_COMPANION_PORT + index }],
  );
}

function planOf(request: ServerRequest): InstancePlan {
  const { server, zoneSet, mode, transport, allowances, settings, coresOfNode } = request;
  const [cpus = 1] = allowances;
  const ports = companionsOf(request).map(({ name, port }) => [name, port] as const);
  return server.plan({
    ...(ports.length === 0 ? {} : { companionPorts: Object.fromEntries(ports) }),
    zoneSet,
    address: '0.0.0.0',
    port: POD_PORT,
    mode,
    transport,
    cpus,
    workerCpus: settings.workers === 'node' ? (coresOfNode ?? cpus) : cpus,
    directory: CONFIGURATION_DIRECTORY,
    stateDirectory: SCRATCH_DIRECTORY,
    ...(request.certificates === null ? {} : { certificate: certificateFilesIn(CONFIGURATION_DIRECTORY) }),
    // The entry point of the image.
    program: [],
  });
}

/** A DNS label: lower case, at most 63 characters, begins with a letter as Services require. */
export function objectName(unit: string): string {
  return `s-${unit.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')}`.slice(0, 50).replace(/-+$/, '');
}

/** The pod with the companions as sidecars (Kubernetes 1.29), which start before the server and have no part in its CPU limit. */
function withCompanions(template: PodTemplate, request: ServerRequest, plan: InstancePlan) {
  const companions = companionsOf(request);
  if (companions.length === 0) return template;
  const [main] = template.spec.containers;
  const { args: _args, ports: _ports, resources: _resources, env: _env, ...common } = main;
  const http = plan.readiness.kind === 'answer' ? plan.readiness.http : undefined;
  const server = {
    ...main,
    ...(http === undefined ? {} : { readinessProbe: { httpGet: { ...http }, periodSeconds: 1 } }),
  };
  return {
    ...template,
    spec: {
      ...template.spec,
      initContainers: companions.map(({ name, inPod, port }) => ({
        ...common,
        name,
        image: request.companionImage,
        command: [...inPod],
        args: ['--port', String(port)],
        restartPolicy: 'Always',
      })),
      containers: [server],
    },
  };
}

/** Pods that answer DNS, which `labels` select, and the Service over them. */
export function dnsObjects(
  metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> },
  labels: Record<string, string>,
  { replicas, template }: Required<Pick<V1DeploymentSpec, 'replicas' | 'template'>>,
  podPort: number,
  path?: string,
): Pick<ServerObjects, 'name' | 'labels' | 'deployment' | 'service'> {
  return {
    name: metadata.name,
    labels,
    deployment: {
      metadata,
      spec: {
        replicas,
        // All instances at once: a benchmark has no users to keep serving.
        strategy: { type: 'Recreate' },
        revisionHistoryLimit: 0,
        selector: { matchLabels: labels },
        template,
      },
    },
    service: {
      metadata,
      spec: {
        type: 'ClusterIP',
        ...(path === 'headless' ? { clusterIP: 'None' } : {}),
        ...(path === 'local' ? { internalTrafficPolicy: 'Local' } : {}),
        selector: labels,
        ports: (['UDP', 'TCP'] as const).map((protocol) => ({
          name: `dns-${protocol.toLowerCase()}`,
          port: SERVICE_PORT,
          targetPort: podPort,
          protocol,
        })),
      },
    },
  };
}

/** @throws BenchError `E_CONFIG` for a server that has no image, or files too large for a ConfigMap. */
export function serverObjects(request: ServerRequest): ServerObjects {
  const { settings, namespace, runId, unit, server, image, allowances, pullSecrets } = request;
  const name = objectName(unit);
  const labels = { ...unitLabels(runId, 'server', unit), [LABELS.name]: labelValue(server.name) };
  const metadata = { name, namespace, labels };
  const plan = planOf(request);
  const { certificates } = request;
  const path = server.path ?? settings.path;
  const { object, mount, text } = configMapOf(metadata, `the configuration of ${server.name}`, [
    ...plan.files,
    ...(certificates === null ? [] : certificateFiles(certificates)),
  ]);
  const [allowance = 1] = allowances;
  const limit = cpuQuantity(allowance);
  const memory = settings.memoryLimit === undefined ? {} : { memory: settings.memoryLimit };
  const template = podTemplate({
    settings,
    labels,
    component: 'server',
    image,
    args: plan.command,
    env: plan.env ?? {},
    resources: {
      requests: { cpu: settings.cpuRequest ?? limit, ...memory },
      limits: { cpu: limit, ...memory },
    },
    mounts: { [CONFIGURATION_DIRECTORY]: mount },
    ports: [
      { name: 'dns-udp', containerPort: POD_PORT, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: POD_PORT, protocol: 'TCP' },
    ],
    pullSecrets,
    restartPolicy: 'Always',
    needsBindService: server.image?.needsBindService === true,
  });
  const pods = { replicas: allowances.length, template: withCompanions(template, request, plan) };
  return {
    ...dnsObjects(metadata, unitSelector(runId, unit), pods, POD_PORT, path),
    plan,
    configMap: object,
    files: withoutCertificates(text),
  };
}

/** The error for a server kind without an image. */
export function noImage(server: Server): BenchError {
  return new BenchError(
    'E_CONFIG',
    `${server.name} has no container image, so it runs on --target local only`,
    {
      fix: 'Omit it from --servers.',
    },
  );
}
