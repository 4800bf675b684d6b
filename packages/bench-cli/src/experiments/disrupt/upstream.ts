/** The names of the programmed upstream, which forwarding servers are asked for. */
import { BenchError } from '../../errors.ts';
import { EXTERNAL } from '../../servers/coredns-cluster/cluster.ts';
import type { BenchWorkload } from '../../workload/workload.ts';

/** Asked before the load, and while the server warms up. The load asks for others, so that no cache has them. */
const CHECKED_NAMES = 100;

/** Name of the workload that the load of an upstream fault sends. */
export const LOAD_NAMES = 'new names';

function namesOf(name: string, first: number, count: number): BenchWorkload {
  return {
    name,
    description: `${count.toLocaleString('en')} names of the upstream, each asked once`,
    size: count,
    *queries() {
      for (let index = first; index < first + count; index += 1)
        yield { name: EXTERNAL.name(index), type: 'A' };
    },
    expectation: (query) => ({
      query,
      code: 'NOERROR',
      records: (EXTERNAL.addressesOf(query.name) ?? [])
        .filter((address) => !address.includes(':'))
        .map((data) => ({ type: 'A', data })),
    }),
  };
}

/**
 * Instead of the workload of this name: one that is checked, and one for a load of so many queries.
 * @throws BenchError `E_CONFIG` for more queries than there are names
 */
export function upstreamWorkloads(checked: string, queries: number): readonly BenchWorkload[] {
  const count = Math.ceil(queries);
  const most = EXTERNAL.spec.names - CHECKED_NAMES;
  if (count > most)
    throw new BenchError(
      'E_CONFIG',
      `${count.toLocaleString('en')} queries are more than the upstream has names`,
      {
        fix: `Lower --rate or --duration: each name is asked once, and there are ${most.toLocaleString('en')}.`,
      },
    );
  return [namesOf(checked, 0, CHECKED_NAMES), namesOf(LOAD_NAMES, CHECKED_NAMES, count)];
}
