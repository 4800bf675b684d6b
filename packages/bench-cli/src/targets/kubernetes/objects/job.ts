/** A Job that runs one pod once. Pure. */
import type { V1Job, V1PodSpec } from '@kubernetes/client-node';
import { type PodRequest, podTemplate } from './pods.ts';

export interface JobRequest extends Omit<PodRequest, 'restartPolicy'> {
  readonly name: string;
  readonly namespace: string;
  /** Kubernetes ends the pod after this, even if bench is gone. */
  readonly deadlineSeconds: number;
  /** What this pod has that others have not: more containers. Default: nothing. */
  change?(spec: V1PodSpec): V1PodSpec;
}

export function jobOf(request: JobRequest): V1Job {
  const { name, namespace, labels, deadlineSeconds, change = (same) => same } = request;
  const template = podTemplate({ ...request, restartPolicy: 'Never' });
  return {
    metadata: { name, namespace, labels: { ...labels } },
    spec: {
      // A failed measurement is never repeated silently.
      backoffLimit: 0,
      activeDeadlineSeconds: Math.ceil(deadlineSeconds),
      template: { ...template, spec: change(template.spec) },
    },
  };
}
