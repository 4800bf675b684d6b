/** What `bench disrupt` varies besides the fault. */
import { type Factor, wholeNumbers, words } from '../../engine/factors.ts';

export const FACTORS = {
  /** Seconds that CoreDNS goes on after SIGTERM. */
  lameduck: { targets: ['kubernetes'], ...wholeNumbers(0, 300) },
  replicas: { targets: ['kubernetes'], ...wholeNumbers(1, 50) },
  /** `fresh`: as many sockets as queries, as of programs that open one for each. */
  sockets: { targets: ['local', 'kubernetes'], ...words('reused', 'fresh') },
} as const satisfies Record<string, Factor>;
