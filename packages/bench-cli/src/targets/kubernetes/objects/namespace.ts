/** The namespace that holds everything of a run. Pure. */
import type { V1Namespace } from '@kubernetes/client-node';
import { HOST_ANNOTATION, OWNER_ANNOTATION, runLabels } from './labels.ts';

export interface NamespaceRequest {
  readonly name: string;
  readonly runId: string;
  /** Machine and process of the CLI, from which `bench cleanup` tells whether the run still lives. */
  readonly host: string;
  readonly owner: string;
}

export function namespaceObject({ name, runId, host, owner }: NamespaceRequest): V1Namespace {
  return {
    metadata: {
      name,
      labels: {
        ...runLabels(runId),
        // The cluster itself checks that no pod of a run asks for more than `restricted` allows.
        'pod-security.kubernetes.io/enforce': 'restricted',
        'pod-security.kubernetes.io/enforce-version': 'latest',
        'pod-security.kubernetes.io/warn': 'restricted',
      },
      annotations: { [HOST_ANNOTATION]: host, [OWNER_ANNOTATION]: owner },
    },
  };
}
