/** A capacity plan as Kubernetes objects. Pure. */
import { stringify } from 'yaml';
import { cpuQuantity } from '../../quantity.ts';
import { wholeMebibytes } from './figures.ts';
import { REPLICA_CPUS } from './plan.ts';
import type { CapacityPlan } from './plan-record.ts';

/** What cluster-proportional-autoscaler's own defaults are, where the cluster's size is not known. */
const DEFAULT_NODES_PER_REPLICA = 16;
const DEFAULT_CORES_PER_REPLICA = 256;

/** A patch of the DNS Deployment: `kubectl -n kube-system patch deployment coredns --patch-file FILE`. */
function deploymentPatch({ replicas, figures, memoryRequestMegabytes, memoryLimitMegabytes }: CapacityPlan) {
  const cpus = figures.find(({ name }) => name === REPLICA_CPUS)?.value;
  const resources = {
    requests: {
      ...(cpus === undefined ? {} : { cpu: cpuQuantity(cpus) }),
      memory: `${wholeMebibytes(memoryRequestMegabytes)}Mi`,
    },
    limits: { memory: `${wholeMebibytes(memoryLimitMegabytes)}Mi` },
  };
  return { spec: { replicas, template: { spec: { containers: [{ name: 'coredns', resources }] } } } };
}

/** Of the ConfigMap that the autoscaler of Kubernetes' own addons reads (`--configmap`). */
const AUTOSCALER = 'kube-dns-autoscaler';

/** What cluster-proportional-autoscaler reads, in `linear` mode. */
function autoscalerConfigMap({ replicas, demand: { nodes } }: CapacityPlan) {
  const linear = {
    // No more than are planned, by nodes alone: cores may be many on each. As few as that are made by `min`.
    ...(nodes === null
      ? { nodesPerReplica: DEFAULT_NODES_PER_REPLICA, coresPerReplica: DEFAULT_CORES_PER_REPLICA }
      : { nodesPerReplica: Math.ceil(nodes / replicas) }),
    min: replicas,
    preventSinglePointFailure: true,
    includeUnschedulableNodes: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: AUTOSCALER, namespace: 'kube-system' },
    data: { linear: JSON.stringify(linear) },
  };
}

/** Two documents: a patch with the resources and the replicas, and the autoscaler's ConfigMap. */
export function planYaml(plan: CapacityPlan): string {
  return [
    '# A patch: kubectl -n kube-system patch deployment coredns --patch-file FILE\n',
    stringify(deploymentPatch(plan)),
    '---\n# For cluster-proportional-autoscaler; the name must be that of its --configmap, such as dns-autoscaler elsewhere\n',
    stringify(autoscalerConfigMap(plan)),
  ].join('');
}
