/** The namespace that holds everything of a run. Pure. */
import type { V1Namespace } from '@kubernetes/client-node';
import { HOST_ANNOTATION, OWNER_ANNOTATION, runLabels } from './labels.ts';

export interface NamespaceRequest {
  readonly name: string;
  readonly runId: string;
  /** Machine and process of the CLI, from which `bench cleanup` tells whether the run still lives. */
  readonly host: string;
  readonly owner: string;
  /** The Pod Security Standard that the cluster enforces. Default: `restricted`. */
  readonly podSecurity?: PodSecurity;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** `privileged` only for pods that capture packets (root and NET_RAW) or read the connection tracking of a node (root, in its network). */
export type PodSecurity = 'restricted' | 'privileged';

export function namespaceObject(request: NamespaceRequest): V1Namespace {
  const { name, runId, host, owner, podSecurity = 'restricted', annotations = {} } = request;
  return {
    metadata: {
      name,
      labels: {
        ...runLabels(runId),
        // The cluster itself checks that no pod of a run asks for more than that allows.
        'pod-security.kubernetes.io/enforce': podSecurity,
        'pod-security.kubernetes.io/enforce-version': 'latest',
        'pod-security.kubernetes.io/warn': podSecurity,
      },
      annotations: { ...annotations, [HOST_ANNOTATION]: host, [OWNER_ANNOTATION]: owner },
    },
  };
}
