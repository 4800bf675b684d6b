/** Whether a workload runs what its specification says. Pure. Needs nothing: the guard runs this file, too. */
import { textAt, valueAt } from './json.ts';

function numberAt(object: unknown, pointer: string, otherwise = 0): number {
  const value = valueAt(object, pointer);
  return typeof value === 'number' ? value : otherwise;
}

/** Field names of the numbers of pods: all, of the current template, available, and the wanted number. */
interface Counts {
  readonly all: number;
  readonly updated: number;
  readonly available: number;
  readonly wanted: number;
}

function countsOf(object: unknown, kind: string): Counts | null {
  const status = (field: string) => numberAt(object, `/status/${field}`);
  if (kind === 'DaemonSet') {
    const wanted = status('desiredNumberScheduled');
    const updated = status('updatedNumberScheduled');
    return { all: status('currentNumberScheduled'), updated, available: status('numberAvailable'), wanted };
  }
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return null;
  return {
    all: status('replicas'),
    updated: status('updatedReplicas'),
    available: status('availableReplicas'),
    wanted: numberAt(object, '/spec/replicas', 1),
  };
}

/** Null when all wanted pods run the current template and are available, and for an object without pods; else why not. */
export function rolloutOf(object: unknown): string | null {
  const counts = countsOf(object, textAt(object, '/kind'));
  if (counts === null) return null;
  if (numberAt(object, '/status/observedGeneration') < numberAt(object, '/metadata/generation'))
    return 'its controller has not seen the change yet';
  const { all, updated, available, wanted } = counts;
  if (updated === wanted && available === wanted && all === wanted) return null;
  return `${updated} of ${wanted} pods are updated, ${available} available, ${all} exist`;
}
