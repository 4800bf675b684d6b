/** The settings of `bench capacity propagation --target kubernetes`: those of one machine, within what a cluster may be asked. */
import { z } from 'zod';
import type { Setting } from '../../../../config/setting.ts';
import { list, number } from '../../../../config/value-schemas.ts';
import { BenchError } from '../../../../errors.ts';
import { decideSettings } from '../../settings.ts';
import { PROPAGATION_SETTINGS, type PropagationSettings } from '../settings.ts';

/** Half of them create: 50 creations a second, as for all objects of bench on a cluster. */
const MAX_CHURN = 100;
const churnMessage = `must be a list of changes a second, each from 0 to ${MAX_CHURN} on a cluster`;

/** Timers are whole milliseconds. */
const MIN_POLL_MILLISECONDS = 1;
const pollMessage = `must be milliseconds from ${MIN_POLL_MILLISECONDS} to 1000 on a cluster`;

const SETTINGS = {
  ...PROPAGATION_SETTINGS,
  /** What the cluster has, and nothing else. */
  objects: { ...PROPAGATION_SETTINGS.objects, default: [0] },
  churn: {
    ...PROPAGATION_SETTINGS.churn,
    schema: list(
      number(z.number(churnMessage).min(0, churnMessage).max(MAX_CHURN, churnMessage)),
      churnMessage,
    ),
  },
  poll: {
    ...PROPAGATION_SETTINGS.poll,
    schema: number(z.number(pollMessage).min(MIN_POLL_MILLISECONDS, pollMessage).max(1000, pollMessage)),
    default: MIN_POLL_MILLISECONDS,
  },
} as const satisfies Record<string, Setting>;

/** @throws BenchError `E_CONFIG` with every problem; `E_USAGE` for `--servers`, which are programs of one machine */
export function clusterPropagationSettings(given: Readonly<Record<string, unknown>>): PropagationSettings {
  if (typeof given.servers === 'string') {
    throw new BenchError('E_USAGE', '--target kubernetes has no --servers', {
      fix: 'Choose the version with --coredns-version or --coredns-image.',
    });
  }
  const { servers, ...others } = given;
  const decided = decideSettings(SETTINGS, others, 'bench capacity propagation') as PropagationSettings;
  return Array.isArray(servers) ? { ...decided, servers: servers.map(String) } : decided;
}
