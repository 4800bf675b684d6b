/** The settings of a cluster that `bench capacity` takes: those of every run that mean something here. */
import { KUBERNETES_SETTINGS } from '../../../config/kubernetes-settings.ts';
import { wholeNumber } from '../../../config/value-schemas.ts';
import { pick } from '../../../engine/settings.ts';
import { BenchError } from '../../../errors.ts';
import { formatCount } from '../../../report/numbers.ts';

/** On somebody's cluster; the smallest published size still fits. */
export const DEFAULT_MAX_OBJECTS = 20_000;

export const CLUSTER_SETTINGS = {
  target: {
    ...KUBERNETES_SETTINGS.target,
    description: 'local, or kubernetes: synthetic objects and a private CoreDNS',
  },
  context: KUBERNETES_SETTINGS.context,
  maxObjects: {
    flag: '--max-objects <n>',
    description: 'pods and services to create, at most',
    schema: wholeNumber(1, 1_000_000),
    default: DEFAULT_MAX_OBJECTS,
    targets: ['kubernetes'],
  },
  ...pick(['namespacePrefix', 'corednsImage', 'dinodnsImage', 'pullPolicy', 'pullSecrets']),
  ...pick(['serverNode', 'serverTolerations', 'runAsUser', 'scheduleTime', 'readyTime']),
} as const;

/** @throws BenchError `E_USAGE` for more pods and services than a cluster may be given */
export function demandBounded(objects: number, maxObjects: number): void {
  if (objects <= maxObjects) return;
  throw new BenchError(
    'E_USAGE',
    `${formatCount(objects)} objects are more than --max-objects allows on a cluster (${formatCount(maxObjects)})`,
    { fix: `Give --max-objects ${objects} if the cluster may have so many, or fewer objects.` },
  );
}
