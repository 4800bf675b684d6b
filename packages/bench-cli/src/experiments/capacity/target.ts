/** Where a measurement or a verification happens. Pure. */
import { BenchError } from '../../errors.ts';

export type CapacityTarget = 'local' | 'kubernetes';

/** @throws BenchError `E_USAGE` for anything else; `missing` where the flag was not given */
export function targetOf(flag: unknown, missing: CapacityTarget = 'local'): CapacityTarget {
  if (flag === undefined) return missing;
  if (flag === 'local' || flag === 'kubernetes') return flag;
  throw new BenchError('E_USAGE', `--target: "${flag}" must be local or kubernetes`, {
    fix: 'local: this machine; kubernetes: the cluster of the kubeconfig.',
  });
}
