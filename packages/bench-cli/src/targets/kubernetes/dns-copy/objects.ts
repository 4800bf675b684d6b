/** The objects of a copy: its ConfigMaps, Deployment, Service, account, and the role that lets it read the cluster. Pure. */
import type {
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1PodTemplateSpec,
  V1ServiceAccount,
} from '@kubernetes/client-node';
import { runLabels, unitLabels, unitSelector } from '../objects/labels.ts';
import { type PodTemplate, podTemplate } from '../objects/pods.ts';
import { dnsObjects, type ObjectsRun, type ServerObjects } from '../objects/server.ts';
import { carriedRules, placementOf } from './carry-over.ts';
import type { CopyPlan } from './plan-copy.ts';

/** The account of the copies; it may read what CoreDNS reads. */
export const READER = 'dns-reader';

const copyName = (configMap: string) => `dns-${configMap}`.slice(0, 63);

export function accountObject({ namespace, runId }: ObjectsRun): V1ServiceAccount {
  return {
    metadata: { name: READER, namespace, labels: runLabels(runId) },
    automountServiceAccountToken: true,
  };
}

/** Belongs to the run's namespace: Kubernetes deletes it when that is gone, even if bench was killed. */
export function bindingObject(
  { namespace, runId }: ObjectsRun,
  role: string,
  namespaceUid: string,
): V1ClusterRoleBinding {
  return {
    metadata: {
      name: namespace,
      labels: runLabels(runId),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: namespace, uid: namespaceUid }],
    },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: READER, namespace }],
  };
}

export function configMapObjects({ namespace, runId }: ObjectsRun, { configMaps }: CopyPlan): V1ConfigMap[] {
  return [...configMaps].map(([name, { data, binaryData }]) => ({
    metadata: { name: copyName(name), namespace, labels: runLabels(runId) },
    ...(data === undefined ? {} : { data }),
    ...(binaryData === undefined ? {} : { binaryData }),
    immutable: true,
  }));
}

/** As in the cluster's own pods, where their nodes, names and probes are concerned. `labels` select those of the copy. */
function likeTheDns(
  template: PodTemplate,
  { spec, own: dns, container }: CopyPlan,
  labels: Readonly<Record<string, string>>,
): V1PodTemplateSpec {
  const own = template.spec;
  const [first] = own.containers;
  const { livenessProbe, readinessProbe, startupProbe } = container;
  return {
    ...template,
    spec: {
      ...own,
      ...(spec.dnsPolicy === undefined ? {} : { dnsPolicy: spec.dnsPolicy }),
      ...(spec.dnsConfig === undefined ? {} : { dnsConfig: spec.dnsConfig }),
      ...placementOf(own, spec),
      // On a chosen node, its pods would have no place beside each other.
      ...(own.nodeSelector === undefined ? carriedRules(spec, { dns, labels }) : {}),
      serviceAccountName: READER,
      automountServiceAccountToken: true,
      securityContext: {
        ...own.securityContext,
        // So that a user without privileges may bind port 53; Kubernetes counts it as safe.
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
      containers: [
        {
          ...first,
          ...(livenessProbe === undefined ? {} : { livenessProbe }),
          ...(readinessProbe === undefined ? {} : { readinessProbe }),
          ...(startupProbe === undefined ? {} : { startupProbe }),
        },
      ],
    },
  };
}

export type CopyObjects = Pick<ServerObjects, 'name' | 'labels' | 'deployment' | 'service'>;

/** One placement of one version. `unit` is unique within the run. */
export function copyObjects(run: ObjectsRun, plan: CopyPlan, image: string, unit: string): CopyObjects {
  const { namespace, runId, settings, pullSecrets } = run;
  const { container, workload, mounts, configMaps, env, replicas } = plan;
  const labels = unitLabels(runId, 'server', unit);
  const selector = unitSelector(runId, unit);
  const itemsOf = (configMap: string) =>
    Object.fromEntries(Object.keys(configMaps.get(configMap)?.data ?? {}).map((key) => [key, key]));
  const template = podTemplate({
    settings,
    labels,
    component: 'server',
    image,
    ...(container.command === undefined ? {} : { command: container.command }),
    args: container.args ?? [],
    env,
    ...(container.resources === undefined ? {} : { resources: container.resources }),
    mounts: Object.fromEntries(
      mounts.map(({ mountPath, configMap, items }) => [
        mountPath,
        { configMap: copyName(configMap), items: items ?? itemsOf(configMap) },
      ]),
    ),
    ports: (container.ports ?? []).map(({ hostPort: _, hostIP: __, ...port }) => port),
    pullSecrets,
    restartPolicy: 'Always',
    needsBindService: true,
  });
  const pods = { replicas, template: likeTheDns(template, plan, selector) };
  return dnsObjects({ name: unit, namespace, labels }, selector, pods, workload.podPort);
}
