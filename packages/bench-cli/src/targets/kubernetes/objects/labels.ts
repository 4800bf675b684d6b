/** The labels that identify everything that bench creates. Pure. */

export const MANAGER = 'dinodns-bench';

export const LABELS = {
  managedBy: 'app.kubernetes.io/managed-by',
  name: 'app.kubernetes.io/name',
  component: 'app.kubernetes.io/component',
  run: 'dinodns-bench/run',
  /** One deployment of a server, or one job: the objects that go together. */
  unit: 'dinodns-bench/unit',
} as const;

/** Annotation of a run's namespace: who made it, as `run owner` tells (see `targets/local/owner.ts`). */
export const OWNER_ANNOTATION = 'dinodns-bench/owner';
export const HOST_ANNOTATION = 'dinodns-bench/host';
/** On the namespace of a run that changes the cluster: the namespace of its journal. */
export const JOURNAL_ANNOTATION = 'dinodns-bench/journal';

export type Component =
  | 'server'
  | 'loader'
  | 'checker'
  | 'inspector'
  | 'guard'
  | 'canary'
  | 'sampler'
  | 'web'
  | 'standing'
  | 'stress';

/** A label's value: at most 63 letters, digits, dots, underscores, hyphens. */
export function labelValue(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 63)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}

/** The name of a run's namespace: a DNS label of at most 63 characters. */
export function namespaceOf(prefix: string, runId: string): string {
  const id = runId.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
  return `${prefix}-${id}`.slice(0, 63).replace(/-+$/, '');
}

export const managedLabels: Readonly<Record<string, string>> = { [LABELS.managedBy]: MANAGER };

export function runLabels(runId: string): Record<string, string> {
  return { ...managedLabels, [LABELS.run]: labelValue(runId) };
}

/** Selects every pod of a unit. */
export function unitSelector(runId: string, unit: string): Record<string, string> {
  return { [LABELS.run]: labelValue(runId), [LABELS.unit]: labelValue(unit) };
}

export function unitLabels(runId: string, component: Component, unit: string): Record<string, string> {
  return { ...runLabels(runId), [LABELS.component]: component, [LABELS.unit]: labelValue(unit) };
}
